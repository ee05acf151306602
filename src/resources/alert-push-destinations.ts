// Alert push destinations: webhooks that receive what alert rules select.
import { flag, isTree, kind, object, ref, text, type Advice, type Declaration } from '../model/index.js';

/** The service delivers to https on two ports only. The URL itself is not repeated: it may hold a password. */
function strangeUrl({ values }: Declaration): readonly Advice[] {
  const { endpoint } = values;
  const url = isTree(endpoint) ? endpoint['url'] : undefined;
  if (typeof url !== 'string') return [];
  const advise = (code: string, summary: string): readonly Advice[] => [{ code, summary, detail: 'Deliveries go to https on port 443 or 8443.', attribute: 'endpoint.url' }];
  if (!URL.canParse(url)) return advise('not-a-url', '`endpoint.url` is no URL');
  const { protocol, port } = new URL(url);
  if (protocol !== 'https:') return advise('url-not-https', `\`endpoint.url\` begins with ${protocol}// instead of https://`);
  return port === '' || port === '8443' ? [] : advise('url-odd-port', `\`endpoint.url\` names port ${port}`);
}

export const alertPushDestinations = kind({
  name: 'alert_push_destinations',
  singular: 'alert_push_destination',
  doc: 'A webhook that receives alerts. Recognised by its name.',
  id: 'destination_config_id',
  identity: ['name'],
  unlogged: true,
  attributes: {
    name: text('Display name.'),
    enabled: flag('Whether alerts are delivered.', { optional: true }),
    endpoint: object('Where alerts are delivered to.', { url: text('Address of the receiver: https, port 443 or 8443.', { format: 'url' }) }, { optional: true }),
    authentication: object(
      'How the receiver knows that a delivery is genuine.',
      { secret: text('Key of the HMAC-SHA256 that signs each delivery. Reads back masked.', { secret: true }) },
      { optional: true },
    ),
    destination_config_id: text('Identifier, a time-based UUID.', { computed: true }),
    account: ref('Account the destination belongs to.', 'accounts', { computed: true, wire: 'url' }),
    suspended: flag('Whether the service stopped delivering after repeated failures.', { computed: true }),
    last_error_at: text('Time of the last failed delivery.', { computed: true, wire: 'timestamp' }),
    last_error_text: text('Text of the last failed delivery.', { computed: true, unstored: true }),
    updated_at: text('Time of the last change.', { computed: true, wire: 'timestamp' }),
    resource_url: text('URL of the record.', { computed: true, format: 'url' }),
  },
  columns: ['destination_config_id', 'name', 'enabled', 'endpoint.url', 'suspended'],
  operations: {
    dialect: 'v2',
    collection: 'alert_push_destinations',
    paging: 'next',
    page: 500,
    by_id: 'destination_config_id',
    create: 'POST',
    update: 'PATCH',
    delete: 'DELETE',
  },
  lint: strangeUrl,
  example: {
    name: 'On-call pager',
    enabled: true,
    endpoint: { url: 'https://hooks.example.com/alerts' },
    authentication: { secret: '${secret.env.PAGER_SECRET}' },
  },
});
