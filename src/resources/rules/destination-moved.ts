// The rule against sending alerts to another company or unencrypted: the URL of a destination changes its domain.
import {
  changesOf,
  hostOf,
  Template,
  type Judge,
  type PolicyRule,
  type Value,
} from '../../model/index.js';
import { alertPushDestinations } from '../alert-push-destinations.js';

/** @param domainOf within which a URL may move freely, undefined for what is no URL */
const movedBeyond =
  (domainOf: (url: string) => string | undefined): Judge =>
  ({ changes }) =>
    changes.flatMap((change) => {
      if (change.kind !== alertPushDestinations.name) return [];
      return changesOf(change).flatMap(({ path, before, after }) => {
        if (path !== 'endpoint.url' || typeof before !== 'string' || after === null) return [];
        const known = knownUrl(after);
        const [from, to] = [before, known].map((url) =>
          url === undefined
            ? 'an address that is known only after apply'
            : (domainOf(url) ?? 'an address that is not a URL'),
        );
        const downgrade = known !== undefined && /^https:/i.test(before) && !/^https:/i.test(known);
        if (from === to && !downgrade) return [];
        return [
          {
            address: change.address,
            detail: `${change.address} moves from ${String(from)} to ${String(to)}${downgrade ? ', and from https to http' : ''}`,
          },
        ];
      });
    });

/** A URL as far as it says where it leads: all of it, or what stands before the first reference where that ends the host. */
function knownUrl(url: Value | undefined): string | undefined {
  const [start] = url instanceof Template ? url.parts : [url];
  return typeof start === 'string' && (start === url || /^\w+:\/\/[^/?#\\]+[/?#]/.test(start))
    ? start
    : undefined;
}

/** The host alone is stricter than the registrable domain, and costs nothing to load. */
export const destinationMoved: Omit<PolicyRule, 'name'> = {
  judge: movedBeyond(hostOf),
  alone: true,
  exact: async () => movedBeyond((await import('./registrable-domains.js')).registrableDomain),
};
