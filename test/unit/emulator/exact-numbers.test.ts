// Numbers that a double cannot hold: what was sent or seeded comes back digit by digit, after a restart, too.
import { expect, test } from 'vitest';
import { parseEstate } from '../../../src/emulator/index.js';
import { wireText } from '../../../src/model/index.js';
import { requestOf, rig } from './rig.js';

const digits = '12345678901234567890';

test('numbers keep their digits from the seed to the answer, and on the way into the store', async () => {
  const seed = `{"version": 1, "records": {"accounts": [{"id": "1", "name": "Root", "account": null}], "alert_rules": [{"alert_config_id": "r", "settings": {"big": ${digits}}}]}}`;
  const { emulator, ask } = rig({ estate: parseEstate(seed, 'seed.json') });
  expect((await ask('GET', '/api/v2/alert_rules/')).text).toContain(`"big":${digits}`);
  const { url, headers } = requestOf('POST', '/api/v2/alert_rules/', {});
  const answer = await emulator.fetch(
    new Request(url, { method: 'POST', headers, body: `{"settings": {"other": ${digits}1}}` }),
  );
  expect(await answer.text()).toContain(`"other":${digits}1`);
  expect(wireText(emulator.snapshot())).toContain(`"other":${digits}1`);
});
