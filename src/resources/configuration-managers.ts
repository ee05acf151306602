// Configuration managers: what a router is configured with, and whether it has it yet. The API lists them and changes
// them; one is there for each router, under an id that is not the router's. A PUT replaces the configuration.
import { document, flag, integer, kind, text } from '../model/index.js';
import { ref } from './ref.js';

export const configurationManagers = kind({
  name: 'configuration_managers',
  singular: 'configuration_manager',
  doc: 'The configuration of a router. Recognised by its router; it cannot be created or deleted through the API, only adopted, updated and forgotten.',
  id: 'id',
  identity: ['router'],
  version: 'version_number',
  attributes: {
    router: ref('The router. Its id is not the one of its configuration manager.', 'routers', {
      immutable: true,
      wire: 'url',
    }),
    suspended: flag(
      'Whether the router does not receive its configuration. Sent only if it is declared.',
      { optional: true, only_declared: true },
    ),
    configuration: document(
      'Members of the individual configuration (null takes one out), and the paths that are removed from the defaults. What is not declared stays as it is.',
      {
        optional: true,
        only_declared: true,
        wire: 'merge',
      },
    ),
    synched: flag('Whether the router has its configuration.', { computed: true }),
    pending: document('What the router has still to take over.', { computed: true, wire: 'merge' }),
    actual: document('What the router reported last.', { computed: true, wire: 'merge' }),
    target: document('What the router is to have.', { computed: true, wire: 'merge' }),
    version_number: integer('Grows with every change.', { computed: true }),
    account: ref('Account the router belongs to.', 'accounts', { computed: true, wire: 'url' }),
    id: text('Record id.', { computed: true }),
    resource_url: text('URL of the record.', { computed: true, format: 'url' }),
  },
  ghost: { id: '', account: 'None', target: null, version_number: 0 },
  columns: ['id', 'router', 'account', 'synched', 'suspended', 'version_number'],
  operations: {
    dialect: 'v2',
    collection: 'configuration_managers',
    paging: 'offset',
    page: 500,
    by_id: 'id',
    by_ids: 'id__in',
    filters: ['account', 'account__in', 'router', 'router__in', 'synched', 'suspended'],
    expand: ['account', 'router'],
    update: 'PUT',
  },
  example: {
    router: '12',
    suspended: false,
    configuration: [
      {
        system: {
          system_id: 'depot-12',
          users: { admin: { password: '${secret.env.ROUTER_PASSWORD}' } },
        },
      },
      [['lan', '00000000-0d93-319d-8220-4a1fb0372b51']],
    ],
  },
});
