// The functions of the Terraform provider: `provider::devicecloud::canonical_url(url)` and `alert_types()`.
import { set, text, urlFrom, type ProviderFunction } from '../model/index.js';
import { urlFault } from './alert-push-destinations.js';
import { alertTypes } from './alert-types.js';

const canonicalUrl: ProviderFunction = {
  name: 'canonical_url',
  doc: 'The URL of a push destination in the one spelling that every client reads it as (WHATWG).',
  detail:
    'Scheme and host in lower case, the host as the DNS has it, no default port, a path without dot segments, and everything escaped that has to be. URLs are compared as text, so two spellings of one address differ: this makes them one. An address that no destination may have is an error.',
  parameters: { url: text('Address of a receiver: https, port 443 or 8443.') },
  returns: text('The URL.'),
  example: 'provider::devicecloud::canonical_url("HTTPS://Hooks.example.com:443/a/../alerts")',
  call({ url }) {
    const fault = urlFault(String(url));
    return fault
      ? { argument: 'url', error: `\`url\` ${fault.what}. ${fault.detail}` }
      : { result: urlFrom(String(url))!.href };
  },
};

const alertTypeNames: ProviderFunction = {
  name: 'alert_types',
  doc: 'The known names of alert types.',
  detail:
    'The service has more, so an unknown name is a warning and no error in `filter_criteria.alert_type__in`.',
  parameters: {},
  returns: set('Names.', text('Name of an alert type.')),
  example:
    '[for type in provider::devicecloud::alert_types() : type if startswith(type, "modem_wan_")]',
  call: () => ({ result: [...alertTypes] }),
};

export const providerFunctions: readonly ProviderFunction[] = [canonicalUrl, alertTypeNames];
