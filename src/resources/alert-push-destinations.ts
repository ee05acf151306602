// Alert push destinations: webhooks that receive the alerts of rules.
import {
  flag,
  isLoopback,
  isTree,
  kind,
  object,
  text,
  urlFrom,
  type Advice,
  type Declaration,
  type Values,
} from '../model/index.js';
import { ref } from './ref.js';

const WHERE = 'endpoint.url';
const FORM = 'Write an address such as https://hooks.example.com/alerts.';

function urlOf({ endpoint }: Values): string | undefined {
  const url = isTree(endpoint) ? endpoint['url'] : undefined;
  return typeof url === 'string' ? url : undefined;
}

interface UrlFault {
  readonly what: string;
  readonly detail: string;
}

/** What is wrong with an address that two programs may read in two ways, or that would show an alert on its way. It is not repeated: it may hold a password. */
export function urlFault(url: string): UrlFault | undefined {
  const bad = (what: string, detail = FORM): UrlFault => ({ what, detail });
  if (/[\s\p{Cc}]/u.test(url))
    return bad(
      'holds a blank or a control character',
      'Remove it, or write an escape such as %20.',
    );
  if (url.includes('\\'))
    return bad('holds a backslash', 'Write a slash, or %5C where a backslash is meant.');
  const parsed = urlFrom(url);
  if (!parsed) return bad('is not a URL');
  if (/^[^/?#]*:\/*[^/?#]*@/.test(url))
    return bad(
      'holds a user name or a password',
      'Deliveries are signed with the secret of `authentication`. Write the address without the part before the @.',
    );
  const { protocol } = parsed;
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(parsed))) return undefined;
  return bad(
    `begins with ${protocol}// instead of https://`,
    protocol === 'http:' ? 'Plain http is allowed only for this machine. Write https://.' : FORM,
  );
}

function badUrl(values: Values): readonly Advice[] {
  const url = urlOf(values);
  const fault = url === undefined ? undefined : urlFault(url);
  return fault
    ? [
        {
          code: 'bad-url',
          summary: `\`${WHERE}\` ${fault.what}`,
          detail: fault.detail,
          attribute: WHERE,
        },
      ]
    : [];
}

/** The service delivers to two ports only. */
function oddPort({ values }: Declaration): readonly Advice[] {
  const url = urlOf(values);
  const port = urlFrom(url ?? '')?.port ?? '';
  if (port === '' || port === '8443' || badUrl(values).length > 0) return [];
  return [
    {
      code: 'url-odd-port',
      summary: `\`${WHERE}\` names port ${port}`,
      detail: 'Deliveries go to https on port 443 or 8443.',
      attribute: WHERE,
    },
  ];
}

export const alertPushDestinations = kind({
  name: 'alert_push_destinations',
  singular: 'alert_push_destination',
  doc: 'A webhook that receives alerts. Recognised by its name.',
  id: 'destination_config_id',
  identity: ['name'],
  likeness: { equal: [], folded: 'name' },
  unlogged: true,
  attributes: {
    name: text('Display name.'),
    enabled: flag('Whether alerts are delivered.', { optional: true }),
    endpoint: object(
      'Where alerts are delivered to.',
      { url: text('Address of the receiver: https, port 443 or 8443.', { format: 'url' }) },
      { optional: true },
    ),
    authentication: object(
      'How the receiver knows that a delivery is genuine.',
      {
        secret: text('Key of the HMAC-SHA256 that signs each delivery. Returned masked.', {
          secret: true,
        }),
      },
      { optional: true },
    ),
    suspended: flag(
      'Whether the service stopped delivering after repeated failures. Only `false` can be declared: it resumes delivery.',
      {
        optional: true,
        only_false: true,
        read_doc: 'Whether the service stopped delivering after repeated failures.',
      },
    ),
    destination_config_id: text('Identifier, a time-based UUID.', { computed: true }),
    account: ref('Account the destination belongs to.', 'accounts', {
      computed: true,
      wire: 'url',
    }),
    last_error_at: text('Time of the last failed delivery.', { computed: true, wire: 'timestamp' }),
    last_error_text: text('Text of the last failed delivery.', { computed: true, unstored: true }),
    updated_at: text('Time of the last change.', {
      computed: true,
      changed_by: 'any',
      wire: 'timestamp',
    }),
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
  faults: badUrl,
  lint: oddPort,
  example: {
    name: 'On-call pager',
    enabled: true,
    endpoint: { url: 'https://hooks.example.com/alerts' },
    authentication: { secret: '${secret.env.PAGER_SECRET}' },
  },
});
