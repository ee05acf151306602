// Looking at records: as the API gives them, but never a secret.
import { expect, it } from 'vitest';
import { connect } from '../../src/api/index.js';
import { kinds } from '../../src/resources/index.js';
import type { Found, Kind } from '../../src/model/index.js';
import { seededRandom, simulatedClock } from '../support/simulated.js';
import { page, v2Headers } from './fake-cloud.js';

it('masks a secret that a service lists in clear, and changes nothing else', async () => {
  const record = { destination_config_id: 'd-1', name: 'Pager', authentication: { secret: 'sesame', algorithm: 'sha256' }, stranger: [{ deep: 1 }] };
  const cloud = connect({
    v2: { url: 'http://127.0.0.1:9/api/v2', headers: v2Headers },
    transport: () => Promise.resolve(page([record])),
    clock: simulatedClock(),
    random: seededRandom(),
    emit: () => undefined,
    signal: new AbortController().signal,
  });
  const found: Found[] = [];
  for await (const some of cloud.records(kinds.get('alert_push_destinations') as Kind, { filters: {} })) found.push(...some);
  expect(found.map((one) => one.record)).toEqual([{ ...record, authentication: { secret: '*', algorithm: 'sha256' } }]);
  expect(JSON.stringify(found)).not.toContain('sesame');
});
