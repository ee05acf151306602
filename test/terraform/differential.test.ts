// Twenty generated estates: what terraform leaves in the cloud is what trueup leaves, at first and after a change.
import { describe, expect, it } from 'vitest';
import '../support/cli.js';
import { box } from '../support/box.js';
import { contentsOf, differences } from '../support/differential.js';
import { theirs } from '../support/estate.js';
import { terraformIsHere } from '../support/terraform.js';

const ESTATES = 20;

describe.runIf(terraformIsHere('terraform beside trueup', ESTATES))(
  'terraform apply and trueup apply',
  () => {
    it.each(Array.from({ length: ESTATES }, (_, index) => index + 1))(
      'leave the same of estate %d',
      { timeout: 120_000 },
      async (seed) => {
        expect((await differences(seed)).join('\n')).toBe('');
      },
    );
  },
);

describe('what is compared', () => {
  const given = async (first: string, then?: string): Promise<string> => {
    const cloud = await box(theirs);
    const {
      TRUEUP_V2_URL: url = '',
      TRUEUP_MGR_API_ID: manager = '',
      TRUEUP_MGR_API_KEY: managerKey = '',
      TRUEUP_VND_API_ID: vendor = '',
      TRUEUP_VND_API_KEY: vendorKey = '',
    } = cloud.env;
    const headers = {
      'content-type': 'application/json',
      'x-mgr-api-id': manager,
      'x-mgr-api-key': managerKey,
      'x-vnd-api-id': vendor,
      'x-vnd-api-key': vendorKey,
    };
    const send = (method: string, path: string, secret: string): Promise<Response> =>
      fetch(`${url}/alert_push_destinations/${path}`, {
        method,
        headers,
        body: JSON.stringify({
          name: 'P',
          enabled: true,
          endpoint: { url: 'https://p.example.com' },
          authentication: { secret },
        }),
      });
    const { destination_config_id: id } = (await (await send('POST', '', first)).json()) as {
      readonly destination_config_id: string;
    };
    if (then !== undefined) await send('PATCH', `${id}/`, then);
    const contents = contentsOf(cloud).find((one) => one.includes('p.example.com')) ?? '';
    await cloud.close();
    return contents;
  };

  it('are the secrets, too, and none of them is shown', async () => {
    const [one, other] = [await given('hunter2'), await given('hunter3')];
    expect(one).toContain('https://p.example.com');
    expect(one).not.toBe(other);
    expect(await given('hunter3', 'hunter2')).toBe(one);
    expect(one + other).not.toContain('hunter');
  });
});
