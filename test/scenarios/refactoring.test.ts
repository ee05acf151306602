// `moved`, `removed` and `import` blocks through the built command, in YAML and in a stack: what the plan shows, that
// nothing is sent, and when the blocks can be deleted.
import { describe, expect, it } from 'vitest';
import { folder } from '../support/cli.js';

const SETTINGS = 'settings: { target: emulator }\n';

/** Names of accounts, by key where they are of a `for_each`. */
type Accounts = Readonly<Record<string, string | Readonly<Record<string, string>>>>;
type Blocks = Readonly<Record<string, readonly object[]>>;

interface Form {
  readonly file: string;
  readonly text: (accounts: Accounts, blocks?: Blocks) => string;
  /** An address as the form writes it. */
  readonly at: (name: string) => string;
  /** The place of a block in a message. */
  readonly place: string;
}

const bodyOf = (one: Accounts[string]): object =>
  typeof one === 'string'
    ? { name: one, account: '1' }
    : { name: '${each.value}', account: '1', for_each: one };

const bodiesOf = (accounts: Accounts): object =>
  Object.fromEntries(Object.entries(accounts).map(([name, one]) => [name, bodyOf(one)]));

const forms: Readonly<Record<string, Form>> = {
  YAML: {
    file: 'trueup.yaml',
    text: (accounts, blocks = {}) =>
      `${SETTINGS}accounts: ${JSON.stringify(bodiesOf(accounts))}\n${Object.entries(blocks)
        .map(([section, list]) => `${section}: ${JSON.stringify(list)}\n`)
        .join('')}`,
    at: (name) => `accounts.${name}`,
    place: 'trueup.yaml:3:9',
  },
  'a stack': {
    file: 'cdk.tf.json',
    text: (accounts, blocks = {}) =>
      JSON.stringify({
        '//': { metadata: { stackName: 'base', version: '0.21.0' } },
        resource: { devicecloud_account: bodiesOf(accounts) },
        ...blocks,
      }),
    at: (name) => `devicecloud_account.${name}`,
    place: 'base · [finished-block]',
  },
};

describe.each(Object.entries(forms))('%s', (_, { file, text, at, place }) => {
  const projectOf = (accounts: Accounts, blocks?: Blocks) => {
    const home = folder({ 'trueup.yaml': SETTINGS, [file]: text(accounts, blocks) });
    const paths = file === 'trueup.yaml' ? [] : ['trueup.yaml', file];
    return {
      write: (after: Accounts, more?: Blocks) => home.write(file, text(after, more)),
      cloud: () => home.read('.trueup/emulator.json'),
      run: async (code: number, ...words: readonly string[]) => {
        const { stdout, stderr } = await home.expect(code, [...words, ...paths]);
        return stdout + stderr;
      },
      /** The id of each address. */
      state: (): Readonly<Record<string, string>> => {
        const { resources } = JSON.parse(home.read('.trueup/state.json')) as {
          readonly resources: Readonly<Record<string, { readonly id: string }>>;
        };
        return Object.fromEntries(
          Object.entries(resources).map(([address, one]) => [address, one.id]),
        );
      },
    };
  };

  it('a rename: the plan shows it, nothing is sent, and the plan tells when the block is done', async () => {
    const before = { old: 'One', store: { n: 'North', s: 'South' }, site: { x: 'Site' } };
    const after = { one: 'One', shop: { n: 'North', s: 'South' }, site: { y: 'Site' } };
    const moved = [
      { from: at('old'), to: at('mid') },
      { from: at('mid'), to: at('one') },
      { from: at('store'), to: at('shop') },
      { from: at('site["x"]'), to: at('site["y"]') },
    ];
    const home = projectOf(before);
    await home.run(0, 'apply', '--auto-approve');
    const cloud = home.cloud();
    home.write(after, { moved });
    const plan = await home.run(0, 'plan', '--detailed-exitcode');
    for (const [from, to] of [
      ['old', 'one'],
      ['store, each with its key', 'shop["n", "s"]'],
      ['site["x"]', 'site["y"]'],
    ])
      expect(plan).toContain(`> rename accounts.${to}\n  renamed from accounts.${from}`);
    expect(plan).toContain('No changes in the cloud, 4 renamed.');
    expect(plan).not.toContain('finished-block');
    await home.run(0, 'apply', '--auto-approve');
    expect(home.cloud()).toBe(cloud);
    const done = await home.run(0, 'plan', '--verbose');
    expect(done.match(/\[finished-block\]/g)).toHaveLength(moved.length);
    expect(done).toContain(place);
    expect(done).toContain('The move from accounts.old to accounts.mid is finished');
    expect(done).toContain('No changes. 4 objects are as declared.');
    home.write(after);
    const empty = await home.run(0, 'plan', '--detailed-exitcode');
    expect(empty).toContain('No changes. 4 objects are as declared.');
    expect(empty).not.toContain('finished-block');
    expect(home.cloud()).toBe(cloud);
  });

  it('a move from a misspelt address is no finished one', async () => {
    const home = projectOf({ depot: 'Depot' });
    await home.run(0, 'apply', '--auto-approve');
    home.write({ warehouse: 'Warehouse' }, { moved: [{ from: at('depo'), to: at('warehouse') }] });
    const plan = await home.run(0, 'plan');
    expect(plan).toContain(
      'The move from accounts.depo to accounts.warehouse moves nothing: the state holds nothing at either address. Did you mean `accounts.depot`?',
    );
    expect(plan).not.toContain('finished');
  });

  it('an object is forgotten, and imported again under another name', async () => {
    const home = projectOf({ a: 'A', b: 'B' });
    await home.run(0, 'apply', '--auto-approve');
    const cloud = home.cloud();
    const { 'accounts.a': other, 'accounts.b': id } = home.state();
    const removed = [{ from: at('b'), lifecycle: { destroy: false } }];
    home.write({ a: 'A' }, { removed });
    expect(await home.run(2, 'plan', '--detailed-exitcode')).toContain('forget accounts.b');
    await home.run(0, 'apply', '--auto-approve');
    expect(home.state()).toEqual({ 'accounts.a': other });
    expect(await home.run(0, 'plan', '--detailed-exitcode')).toContain(
      'The removal of accounts.b is finished',
    );
    const taken = { a: 'A', c: 'B' };
    home.write(taken, { import: [{ to: at('c'), id }] });
    expect(await home.run(0, 'plan')).toContain('an import block names it');
    await home.run(0, 'apply', '--auto-approve');
    expect(home.state()).toEqual({ 'accounts.a': other, 'accounts.c': id });
    expect(await home.run(0, 'plan')).toContain('The import to accounts.c is finished');
    home.write(taken);
    expect(await home.run(0, 'plan', '--detailed-exitcode')).toContain('2 objects are as declared');
    expect(home.cloud()).toBe(cloud);
  });

  it('errors are told by validate, too', async () => {
    const home = projectOf({ a: 'A' }, { moved: [{ from: at('a'), to: at('z') }] });
    const told = await home.run(1, 'validate');
    expect(told).toContain('accounts.a is moved to accounts.z, but accounts.a is still declared');
    expect(told).toContain(
      'accounts.a is moved to accounts.z, which nothing that was read declares',
    );
    expect(await home.run(1, 'plan')).toContain('[moved-declared]');
  });
});
