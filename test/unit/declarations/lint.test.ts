// Advice without a network: each warning appears where it should, points at its line, and nowhere else.
import { describe, expect, it } from 'vitest';
import { lint } from '../../../src/declarations/index.js';
import { kinds } from '../../../src/resources/index.js';
import { project } from './project.js';

const advice = async (text: string): Promise<readonly string[]> =>
  lint(await project(text), kinds).map(
    ({ severity, code, address, attribute, origin, summary }) =>
      `${severity} ${code} ${address} ${attribute ?? '-'} ${origin?.line}:${origin?.column} ${summary}`,
  );

const CLEAN = `
accounts:
  a: { name: a }
alert_push_destinations:
  on: { name: first, enabled: true, endpoint: { url: https://a.example/x } }
  off: { name: second, enabled: false, endpoint: { url: "https://a.example:8443/x" } }
alert_rules:
  r:
    schedule: daily
    associated_accounts: ["\${accounts.a.id}"]
    filter_criteria: { alert_type__in: [login_success] }
    http_destinations: ["\${alert_push_destinations.on.destination_config_id}", "\${alert_push_destinations.off.destination_config_id}"]
account_authorizations:
  d: { user: "1", account: "\${accounts.a.id}", role: administrator }
`;

describe('lint', () => {
  it.each([
    ['schedule: weekly', 'Known: daily. This list'],
    [
      'filter_criteria: { alert_type__in: [lost] }',
      /^Known: (?:\w+, ){9}\w+ and \d+ more; all of them: `trueup schema alert_rules`\. This list/,
    ],
  ])('says which values are known: %s', async (text, said) => {
    const given = await project(`alert_rules:\n  r: { associated_groups: [1], ${text} }\n`);
    const found = lint(given, kinds).find(({ code }) => code === 'unknown-value');
    expect(found?.detail).toMatch(said);
  });

  it('has nothing to say of a sound project', async () => {
    expect(await advice(CLEAN)).toEqual([]);
  });

  const rule = (text: string): string => `alert_rules:\n  r: { ${text} }\n`;
  it.each([
    [rule('schedule: daily'), /^warning rule-without-scope alert_rules.r - 2:3/],
    [rule('associated_accounts: [], associated_groups: []'), /rule-without-scope/],
    [
      rule('associated_groups: [1], schedule: dayly'),
      /^warning unknown-value alert_rules.r schedule 2:32 .*Did you mean `daily`/,
    ],
    [
      rule(
        'associated_groups: [1], filter_criteria: { alert_type__in: [login_success, login_sucess] }',
      ),
      /unknown-value .* filter_criteria.alert_type__in 2:51 .*`login_sucess`.*Did you mean `login_success`/,
    ],
    [
      'account_authorizations:\n  d: { user: "1", account: "2", role: administrater }\n',
      /unknown-value account_authorizations.d role 2:33 .*Did you mean `administrator`/,
    ],
    [
      'alert_push_destinations:\n  d: { name: x, endpoint: { url: "https://a.example:9443/?key=hunter2" } }\n',
      /url-odd-port alert_push_destinations.d endpoint.url 2:29 .*9443/,
    ],
    [
      'alert_push_destinations:\n  off: { name: x, enabled: false }\nalert_rules:\n  r: { associated_groups: [1], http_destinations: ["${alert_push_destinations.off.destination_config_id}"] }\n',
      /rule-without-destination alert_rules.r http_destinations 4:32/,
    ],
    [
      rule('associated_groups: [1], settings: { t: { api-key: k, n: 1 } }'),
      /^warning literal-secret alert_rules.r settings.t.api-key 2:\d+ `settings.t.api-key` is named like a secret, and its value is in the file$/,
    ],
    [
      'configuration_managers:\n  m: { router: "1", configuration: [{ a: [{ wpa_psk: 12345678 }] }] }\n',
      /^warning literal-secret configuration_managers.m configuration.0.a.0.wpa_psk 2:\d+ /,
    ],
    [
      'configuration_managers:\n  m: { router: "1", configuration: { sharedKey: "x ${accounts.a.name}" } }\naccounts: { a: { name: a } }\n',
      /^warning literal-secret configuration_managers.m configuration.sharedKey/,
    ],
    [
      'configuration_managers:\n  m: { router: "1", configuration: [{ a: { p: "***" } }] }\n',
      /^error masked-value configuration_managers.m configuration.0.a.p 2:44 .*`a.p` is a mask/,
    ],
    [
      'configuration_managers:\n  m: { router: "1", configuration: { a: { l: ["*"] } } }\n',
      /^error masked-value configuration_managers.m configuration.a.l.0 2:/,
    ],
    [
      'configuration_managers:\n  m: { router: "1", configuration: [{}, []] }\n',
      /^error clear configuration_managers.m configuration 2:.*would take everything out of the configuration/,
    ],
    [
      'configuration_managers:\n  m: { router: "1", configuration: [{ a: 1 }, []], lifecycle: { clear: true } }\n',
      /^error clear configuration_managers.m lifecycle.clear 2:.*needs `configuration: \[\{\}, \[\]\]`/,
    ],
    [
      'configuration_managers:\n  m: { router: "1", lifecycle: { clear: true } }\n',
      /^error clear configuration_managers.m lifecycle.clear 2:/,
    ],
    [
      'configuration_managers:\n  m: { router: "1", configuration: [{}, [["a", "${secret.env.NAME}"]]] }\n',
      /^error misplaced-secret configuration_managers.m configuration.1.0.1 2:\d+ .*`configuration.1.0.1` is a secret/,
    ],
    [
      'configuration_managers:\n  m: { router: "1" }\n  n: { router: 1, suspended: true }\n',
      /^error identical-declarations configuration_managers.n - 3:3 .*equal in `router`/,
    ],
    [
      'accounts:\n  a: { name: x, account: "1" }\n  b: { name: x, account: 1 }\n',
      /^error identical-declarations accounts.b - 3:3 .*accounts.a are equal in `account` and `name`/,
    ],
    [
      'alert_rules:\n  a: { associated_groups: [1, 2] }\n  b: { associated_groups: [2, 1], schedule: null, settings: {} }\n',
      /^error identical-declarations alert_rules.b - 3:3 .*identical/,
    ],
    [
      'alert_rules:\n  a: { associated_groups: [1], lifecycle: { allow_duplicate: true } }\n  b: { associated_groups: [1] }\n',
      /^error identical-declarations/,
    ],
    [
      'alert_rules:\n  a: { associated_groups: [1], lifecycle: { adopt: 7 } }\n  b: { associated_groups: [1] }\n',
      /^error identical-declarations/,
    ],
    [
      'alert_rules:\n  a: { associated_groups: [1], settings: { x: 1, y: 2 } }\n  b: { associated_groups: [1], settings: { y: 2, x: 1 } }\n',
      /^error identical-declarations/,
    ],
  ])('%j', async (text, expected) => {
    const found = await advice(text);
    expect(found.join('\n')).toMatch(expected);
    expect(found).toHaveLength(1);
    expect(found.join()).not.toContain('hunter2');
  });

  it.each([
    [
      'alert_rules:\n  a: { associated_groups: [1], lifecycle: { allow_duplicate: true } }\n  b: { associated_groups: [1], lifecycle: { allow_duplicate: true } }\n',
    ],
    [
      'alert_rules:\n  a: { associated_groups: [1], lifecycle: { adopt: 7 } }\n  b: { associated_groups: [1], lifecycle: { adopt: 8 } }\n',
    ],
    [
      'alert_rules:\n  a: { associated_groups: [1], settings: { x: 1 } }\n  b: { associated_groups: [1], settings: { x: 2 } }\n',
    ],
    ['accounts:\n  a: { name: x, account: "1" }\n  b: { name: x, account: "2" }\n'],
    ['alert_rules:\n  r: { associated_groups: [1], http_destinations: [] }\n'],
    ['alert_rules:\n  r: { associated_groups: [1], http_destinations: ["123"] }\n'],
    [
      'configuration_managers:\n  m: { router: "1", configuration: [{ psk: "${secret.env.P}", token: true, password: null, secret: "", a: { api_key: { n: x } } }] }\n',
    ],
    ['alert_rules:\n  r: { associated_accounts: "${alert_rules.x.associated_accounts}" }\n'],
  ])('is silent about %j', async (text) => {
    expect(await advice(text)).toEqual([]);
  });
});
