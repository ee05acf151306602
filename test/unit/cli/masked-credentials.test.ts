// Which variables of the environment hold a value that nothing shows: keys, tokens and passwords, and no user names or ids.
import { expect, it } from 'vitest';
import { ownCredentials } from '../../../src/cli/masked-credentials.js';

it('reads keys, tokens and passwords under any prefix, and neither user names nor ids', () => {
  const names = [
    'TRUEUP_MGR_API_ID',
    'TRUEUP_MGR_API_KEY',
    'TRUEUP_IOT_USERNAME',
    'ACME_TRUEUP_IOT_PASSWORD',
    'TRUEUP_VND_API_ID_FILE',
    'TRUEUP_V2_URL',
    'TRUEUP_VAR_TOKEN',
    'TRUEUP_NOTIFY_URL',
    'TRUEUP_IDENTITY',
    'V3_TOKEN',
  ];
  const found = ownCredentials(Object.fromEntries(names.map((name) => [name, `of ${name}`])));
  expect(found.map(({ source }) => source)).toEqual([
    'TRUEUP_MGR_API_KEY',
    'ACME_TRUEUP_IOT_PASSWORD',
    'TRUEUP_NOTIFY_URL',
    'TRUEUP_IDENTITY',
  ]);
});

it.each([
  ['postgres://host/database', undefined],
  ['postgres://user@host/database?schema=q', undefined],
  ['postgres://user:hunter2@host/database', 'postgres://user:hunter2@host/database'],
  ['postgres://host/database?password=hunter2', 'postgres://host/database?password=hunter2'],
  ['hunter2', 'hunter2'],
])(
  'takes the address %s of a queue for a secret only if it can hold a password',
  (text, hidden) => {
    expect(ownCredentials({ TRUEUP_QUEUE: text }).map((one) => one.reveal())).toEqual([hidden]);
  },
);
