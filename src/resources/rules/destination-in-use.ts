// The warning about deleting a push destination to which alert rules still refer. Whether the service refuses that is not
// known.
import { firstNamed } from '../../model/index.js';
import { alertPushDestinations } from '../alert-push-destinations.js';
import { alertRules } from '../alert-rules.js';
import { inUseWarning, type ReferringObject } from './in-use.js';

/** Managed rules that a message names, and others. */
const MANY = 10;
const FEW = 3;
/** The alerts of a rule without a destination reach nobody. */
const NONE = '`http_destinations: []` may need --allow rule-without-destination.';

function advice(holders: readonly ReferringObject[]): string {
  const managed = holders.flatMap(({ address }) => address ?? []);
  const others = holders.flatMap(({ address, words, id }) =>
    address === undefined
      ? [
          `Declare ${words} with another destination and \`lifecycle: { adopt: ${JSON.stringify(id)} }\`, or change it in the service.`,
        ]
      : [],
  );
  return [
    ...(managed.length > 0
      ? [
          `Declare another destination in ${firstNamed(managed, MANY)}, unless one is declared already, and apply that as well. ${NONE}`,
        ]
      : []),
    ...(others.length > 0 ? [firstNamed(others, FEW, '\nand ', '\n')] : []),
  ].join('\n');
}

export const destinationInUse = inUseWarning({
  kind: alertPushDestinations,
  needs: [alertRules.name],
  holders: [[alertRules.name, 'http_destinations']],
  advice,
});
