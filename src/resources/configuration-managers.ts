// Configuration managers: the configuration of a router, and whether the router has applied it. The API can list and
// change them; each router has one, whose id is not the router's. A PUT replaces the configuration.
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
    router: ref("The router's id, which differs from its configuration manager's id.", 'routers', {
      immutable: true,
      wire: 'url',
    }),
    suspended: flag(
      'True if the service has stopped sending the configuration to the router. Sent only if it is declared.',
      {
        optional: true,
        only_declared: true,
        read_doc: 'True if the service has stopped sending the configuration to the router.',
      },
    ),
    configuration: document(
      "Members of the router's own configuration (null removes one), and the paths to remove from the defaults. What is not declared stays as it is.",
      {
        optional: true,
        only_declared: true,
        wire: 'merge',
        read_doc:
          "The router's own configuration, and the paths that it removes from the defaults.",
      },
    ),
    synched: flag('Whether the router has its configuration.', {
      computed: true,
      changed_by: ['configuration', 'suspended'],
    }),
    pending: document('Settings the router has not applied yet.', {
      computed: true,
      changed_by: ['configuration', 'suspended'],
      wire: 'merge',
    }),
    actual: document('Configuration last reported by the router.', {
      computed: true,
      changed_by: ['configuration', 'suspended'],
      wire: 'merge',
    }),
    target: document('Configuration that the router should have.', {
      computed: true,
      changed_by: ['configuration'],
      wire: 'merge',
    }),
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
