// The table of planning: declared | prior | live → action.
import { describe, expect, it } from 'vitest';
import {
  defined,
  Reference,
  Secret,
  Template,
  type Declaration,
  type Entry,
  type JsonObject,
  type PlanRequest,
  type Lifecycle,
  type Live,
  type Project,
  type Value,
  type Values,
} from '../../../src/model/index.js';
import {
  blocked,
  codes,
  declare,
  entry,
  live,
  planScene,
  project,
  project as projectOf,
  steps,
  type Scene,
} from '../../support/planning.js';
import { howChanged } from '../../../src/reconciler/plan/change-reasons.js';
import type { Proposal } from '../../../src/reconciler/plan/plan.js';

const root = live('accounts', '1', { name: 'Root', account: null });
const hq = live('accounts', '2', {
  name: 'HQ',
  account: 'https://shard-7.example.com/api/v2/accounts/1/',
});
const rule = {
  associated_accounts: ['2'],
  filter_criteria: { alert_type__in: ['b', 'a'] },
  http_destinations: ['d-1'],
};
const liveRule = (id: string, more: object = {}): Live =>
  live('alert_rules', id, {
    associated_accounts: [2],
    filter_criteria: { alert_type__in: ['a', 'b'] },
    http_destinations: ['d-1'],
    schedule: null,
    settings: null,
    associated_groups: [],
    ...more,
  });
const pager = live('alert_push_destinations', 'd-1', {
  name: 'Pager',
  enabled: true,
  suspended: false,
  endpoint: { url: 'https://a.example.com' },
  authentication: { secret: '*' },
});

/** A declared role of a user. */
const role = (name: string, user: string): Declaration =>
  declare(`account_authorizations.${name}`, { user, account: '2', role: 'full_access' });

interface Row extends Scene {
  readonly title: string;
  readonly steps: readonly string[];
  readonly exit: number;
  readonly codes?: readonly string[];
}

const table: readonly Row[] = [
  { title: 'nothing declared, nothing recorded', steps: [], exit: 0 },
  {
    title: 'declared, not there',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    live: { accounts: [root] },
    steps: ['create accounts.hq'],
    exit: 2,
  },
  {
    title: 'declared, one unmanaged match by identity, parent undeclared',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    live: { accounts: [root, hq] },
    steps: ['adopt accounts.hq'],
    exit: 0,
  },
  {
    title: 'same name below another parent is another account',
    declared: [declare('accounts.hq', { name: 'HQ', account: '2' })],
    live: { accounts: [root, hq] },
    steps: ['create accounts.hq'],
    exit: 2,
  },
  {
    title: 'declared, two unmanaged matches',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    live: { accounts: [root, hq, live('accounts', '3', { name: 'HQ', account: '1' })] },
    steps: [],
    exit: 5,
    codes: ['ambiguous'],
  },
  {
    title: 'recorded and as declared',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.hq'],
    exit: 0,
  },
  {
    title: 'declaration changed',
    declared: [declare('accounts.hq', { name: 'Head' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['update accounts.hq'],
    exit: 2,
  },
  {
    title: 'changed outside',
    declared: [declare('accounts.hq', { name: 'Old' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'Old' }) },
    live: { accounts: [root, hq] },
    steps: ['update accounts.hq'],
    exit: 2,
  },
  {
    title: 'changed outside into what is declared',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'Old' }) },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.hq'],
    exit: 0,
  },
  {
    title: 'deleted outside',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root] },
    steps: ['create accounts.hq'],
    exit: 2,
  },
  {
    title: 'deleted outside and made again by hand',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    state: { 'accounts.hq': entry('accounts', '9', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['adopt accounts.hq'],
    exit: 2,
  },
  {
    title: 'declared no more',
    declared: [declare('accounts.other', { name: 'HQ' })],
    state: {
      'accounts.hq': entry('accounts', '5', { name: 'X' }),
      'accounts.other': entry('accounts', '2', { name: 'HQ' }),
    },
    live: { accounts: [root, hq, live('accounts', '5', { name: 'X', account: '1' })] },
    steps: ['keep accounts.other', 'delete accounts.hq'],
    exit: 2,
  },
  {
    title: 'declared no more and gone',
    declared: [declare('accounts.other', { name: 'HQ' })],
    state: {
      'accounts.hq': entry('accounts', '5', { name: 'X' }),
      'accounts.other': entry('accounts', '2', { name: 'HQ' }),
    },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.other', 'forget accounts.hq'],
    exit: 2,
  },
  {
    title: 'declared no more, on_removal forget',
    declared: [declare('accounts.other', { name: 'HQ' })],
    state: {
      'accounts.hq': entry('accounts', '5', { name: 'X' }, { on_removal: 'forget' }),
      'accounts.other': entry('accounts', '2', { name: 'HQ' }),
    },
    live: { accounts: [root, hq, live('accounts', '5', { name: 'X', account: '1' })] },
    steps: ['keep accounts.other', 'forget accounts.hq'],
    exit: 2,
  },
  {
    title: 'declared in a file outside the PATHs',
    declared: [declare('accounts.other', { name: 'HQ' })],
    state: {
      'accounts.hq': entry('accounts', '5', { name: 'X' }, { file: '../elsewhere.yaml' }),
      'accounts.other': entry('accounts', '2', { name: 'HQ' }),
    },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.other'],
    exit: 0,
  },
  {
    title: 'renamed',
    declared: [declare('accounts.new', { name: 'HQ' }, { renamed_from: 'hq' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.new'],
    exit: 0,
  },
  {
    title: 'with a count since',
    declared: [{ ...declare('accounts.hq["0"]', { name: 'HQ' }), recounted: 'accounts.hq' }],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.hq["0"]'],
    exit: 0,
  },
  {
    title: 'with a count since, although the first is recorded too',
    declared: [{ ...declare('accounts.hq["0"]', { name: 'Root' }), recounted: 'accounts.hq' }],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'accounts.hq["0"]': entry('accounts', '1', { name: 'Root' }),
    },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.hq["0"]', 'delete accounts.hq'],
    exit: 2,
  },
  {
    title: 'with a count since, although another was renamed from there',
    declared: [
      { ...declare('accounts.hq["0"]', { name: 'New' }), recounted: 'accounts.hq' },
      declare('accounts.other', { name: 'HQ' }, { renamed_from: 'hq' }),
    ],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['create accounts.hq["0"]', 'keep accounts.other'],
    exit: 2,
  },
  {
    title: 'with a count since, of what was declared outside the PATHs',
    declared: [{ ...declare('accounts.hq["0"]', { name: 'New' }), recounted: 'accounts.hq' }],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }, { file: '../elsewhere.yaml' }) },
    live: { accounts: [root, hq] },
    steps: [],
    exit: 1,
    codes: ['renamed-elsewhere'],
  },
  {
    title: 'without its count since',
    declared: [{ ...declare('accounts.hq', { name: 'HQ' }), recounted: 'accounts.hq["0"]' }],
    state: {
      'accounts.hq["0"]': entry('accounts', '2', { name: 'HQ' }),
      'accounts.hq["1"]': entry('accounts', '1', { name: 'Root' }),
    },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.hq', 'delete accounts.hq["1"]'],
    exit: 3,
  },
  {
    title: 'without its for_each since',
    declared: [{ ...declare('accounts.hq', { name: 'Root' }), recounted: 'accounts.hq["0"]' }],
    state: {
      'accounts.hq["0"]': entry('accounts', '2', { name: 'HQ' }),
      'accounts.hq["x"]': entry('accounts', '3', { name: 'Third' }),
    },
    live: { accounts: [root, hq] },
    steps: ['create accounts.hq', 'forget accounts.hq["x"]', 'delete accounts.hq["0"]'],
    exit: 2,
  },
  {
    title: 'renamed from what is still declared',
    declared: [
      declare('accounts.new', { name: 'HQ' }, { renamed_from: 'hq' }),
      declare('accounts.hq', { name: 'X' }),
    ],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: [],
    exit: 1,
    codes: ['renamed-declared'],
  },
  {
    title: 'renamed in a chain',
    declared: [
      declare('accounts.hq', { name: 'X' }, { renamed_from: 'old' }),
      declare('accounts.new', { name: 'HQ' }, { renamed_from: 'hq' }),
    ],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'accounts.old': entry('accounts', '1', { name: 'X' }),
    },
    live: { accounts: [root, hq] },
    steps: ['delete accounts.old'],
    exit: 3,
    codes: ['renamed-bound', 'renamed-declared'],
  },
  {
    title: 'renamed although the new name is recorded too',
    declared: [declare('accounts.new', { name: 'HQ' }, { renamed_from: 'hq' })],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'accounts.new': entry('accounts', '1', { name: 'Root' }),
    },
    live: { accounts: [root, hq] },
    steps: ['delete accounts.hq'],
    exit: 1,
    codes: ['renamed-bound'],
  },
  {
    title: 'renamed long ago',
    declared: [declare('accounts.new', { name: 'HQ' }, { renamed_from: 'hq' })],
    state: { 'accounts.new': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.new'],
    exit: 0,
  },
  ...(['hq', 'new'] as const).map((name) => ({
    title: `cut off in a rename, then declared as ${name} alone`,
    declared: [declare(`accounts.${name}`, { name: 'HQ' })],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'accounts.new': entry('accounts', '2', { name: 'HQ' }),
    },
    live: { accounts: [root, hq] },
    steps: [`keep accounts.${name}`, `forget accounts.${name === 'hq' ? 'new' : 'hq'}`],
    exit: 2,
  })),
  {
    title: 'cut off in a rename, then declared no more',
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'accounts.new': entry('accounts', '2', { name: 'HQ' }),
    },
    live: { accounts: [root, hq] },
    steps: ['delete accounts.new', 'forget accounts.hq'],
    exit: 3,
  },
  {
    title: 'renamed from what was declared outside the PATHs',
    declared: [declare('accounts.new', { name: 'HQ' }, { renamed_from: 'hq' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }, { file: '../elsewhere.yaml' }) },
    live: { accounts: [root, hq] },
    steps: [],
    exit: 1,
    codes: ['renamed-elsewhere'],
  },
  {
    title: 'explicit adoption that differs',
    declared: [declare('accounts.x', { name: 'Head' }, { adopt: '2' })],
    live: { accounts: [root, hq] },
    steps: ['adopt accounts.x'],
    exit: 2,
  },
  {
    title: 'explicit adoption of nothing',
    declared: [declare('accounts.x', { name: 'Head' }, { adopt: '7' })],
    live: { accounts: [root, hq] },
    steps: [],
    exit: 1,
    codes: ['adopt-missing'],
  },
  {
    title: 'explicit adoption of what another address has',
    declared: [
      declare('accounts.x', { name: 'Head' }, { adopt: '2' }),
      declare('accounts.hq', { name: 'HQ' }),
    ],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.hq'],
    exit: 1,
    codes: ['adopt-taken'],
  },
  {
    title: 'a rule by exact content, whatever the order',
    declared: [declare('alert_rules.r', rule)],
    live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
    steps: ['adopt alert_rules.r'],
    exit: 0,
  },
  {
    title: 'a rule of another schedule is another rule',
    declared: [declare('alert_rules.r', { ...rule, schedule: null })],
    live: {
      alert_rules: [liveRule('r-1', { schedule: 'daily' })],
      alert_push_destinations: [pager],
    },
    steps: ['create alert_rules.r'],
    exit: 2,
  },
  {
    title: 'two equal unmanaged rules',
    declared: [declare('alert_rules.r', rule)],
    live: { alert_rules: [liveRule('r-1'), liveRule('r-2')] },
    steps: [],
    exit: 5,
    codes: ['ambiguous'],
  },
  {
    title: 'declared twins',
    declared: [declare('alert_rules.r', rule), declare('alert_rules.s', rule)],
    steps: ['create alert_rules.r', 'create alert_rules.s'],
    exit: 1,
    codes: ['identical-declarations'],
  },
  {
    title: 'twins of which one names the root of the tree',
    declared: [
      declare('accounts.a', { name: 'A' }),
      declare('accounts.b', { name: 'A', account: '1' }),
    ],
    live: { accounts: [root] },
    steps: ['create accounts.a', 'create accounts.b'],
    exit: 1,
    codes: ['identical-declarations'],
  },
  {
    title: 'a twin, by the root of the tree, of what is recorded',
    declared: [
      declare('accounts.hq', { name: 'HQ' }),
      declare('accounts.b', { name: 'HQ', account: '1' }),
    ],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['create accounts.b', 'keep accounts.hq'],
    exit: 1,
    codes: ['identical-declarations'],
  },
  {
    title: 'a new address for what goes, whose parent nobody declared',
    declared: [declare('accounts.new', { name: 'HQ' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['create accounts.new', 'delete accounts.hq'],
    exit: 2,
    codes: ['looks-renamed'],
  },
  ...[['accounts.a'], ['accounts.b']].map((targets) => ({
    title: `a twin of what a target leaves out: ${targets[0]}`,
    declared: [
      declare('accounts.a', { name: 'A' }),
      declare('accounts.b', { name: 'A', account: '1' }),
    ],
    live: { accounts: [root] },
    request: { targets },
    steps: [`create ${targets[0]}`],
    exit: 1,
    codes: ['identical-declarations'],
  })),
  {
    title: 'twins that a target leaves out',
    declared: [
      declare('accounts.a', { name: 'A' }),
      declare('accounts.b', { name: 'A', account: '1' }),
      declare('accounts.c', { name: 'C' }),
    ],
    live: { accounts: [root] },
    request: { targets: ['accounts.c'] },
    steps: ['create accounts.c'],
    exit: 2,
  },
  {
    title: 'twins that both exist',
    declared: [
      declare('accounts.a', { name: 'HQ' }),
      declare('accounts.b', { name: 'HQ', account: '1' }),
    ],
    state: {
      'accounts.a': entry('accounts', '2', { name: 'HQ' }),
      'accounts.b': entry('accounts', '3', { name: 'HQ', account: '1' }),
    },
    live: { accounts: [root, hq, live('accounts', '3', { name: 'HQ', account: '1' })] },
    steps: ['keep accounts.a', 'keep accounts.b'],
    exit: 1,
    codes: ['identical-declarations'],
  },
  {
    title: 'alike as declared, and told apart by the live parent that one does not declare',
    declared: [
      declare('accounts.a', { name: 'HQ' }),
      declare('accounts.b', { name: 'HQ', account: '1' }),
    ],
    state: {
      'accounts.a': entry('accounts', '3', { name: 'HQ' }),
      'accounts.b': entry('accounts', '2', { name: 'HQ', account: '1' }),
    },
    live: { accounts: [root, hq, live('accounts', '3', { name: 'HQ', account: '2' })] },
    steps: ['keep accounts.a', 'keep accounts.b'],
    exit: 0,
  },
  {
    title: 'what a declaration adopts that a target leaves out is not adopted by another',
    declared: [
      declare('accounts.a', { name: 'New' }, { adopt: '2' }),
      declare('accounts.b', { name: 'HQ' }),
    ],
    live: { accounts: [root, hq] },
    request: { targets: ['accounts.b'] },
    steps: ['create accounts.b'],
    exit: 2,
  },
  ...[
    {
      title: 'what an address holds that a target leaves out is not made again',
      request: { targets: ['accounts.new'] },
    },
    {
      title: 'what an address holds that was declared outside the PATHs is not made again',
      file: 'elsewhere.yaml',
      more: {
        project: { ...projectOf([declare('accounts.new', { name: 'HQ' })]), paths: ['a.yaml'] },
      },
    },
    {
      title: 'what an address holds that keeps its name is not made again',
      declared: [declare('accounts.hq', { name: 'N' }, { ignore_changes: ['name'] })],
    },
    {
      title: 'what is let go in the same plan is not made again',
      on_removal: 'forget',
    },
  ].map(({ title, declared = [], file = 'a.yaml', on_removal, ...scene }) => ({
    title,
    declared: [...declared, declare('accounts.new', { name: 'HQ' })],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }, { file, ...defined({ on_removal }) }),
    },
    live: { accounts: [root, hq] },
    steps: [
      ...(declared.length > 0 ? ['keep accounts.hq'] : []),
      'create accounts.new',
      ...(on_removal === undefined ? [] : ['forget accounts.hq']),
    ],
    exit: 1,
    codes: ['exists-already'],
    ...scene,
  })),
  {
    title: 'a name that another address gives up in the same plan is free',
    declared: [declare('accounts.hq', { name: 'Old' }), declare('accounts.new', { name: 'HQ' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['update accounts.hq', 'create accounts.new'],
    exit: 2,
  },
  {
    title: 'an allowed twin of what an address holds that a target leaves out',
    declared: [declare('accounts.new', { name: 'HQ' }, { allow_duplicate: true })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    request: { targets: ['accounts.new'] },
    steps: ['create accounts.new'],
    exit: 2,
  },
  ...[
    { title: 'gone', others: [], steps: ['create accounts.hq'] },
    {
      title: 'in whose place another one is',
      others: [live('accounts', '3', { name: 'HQ', account: '1' })],
      steps: ['adopt accounts.hq'],
    },
  ].map(({ title, others, ...expected }) => ({
    title: `an adopted object that is ${title}`,
    declared: [declare('accounts.hq', { name: 'HQ' }, { adopt: '2' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, ...others] },
    exit: 2,
    ...expected,
  })),
  {
    title: 'an adopted object in whose place another one is recorded',
    declared: [declare('accounts.hq', { name: 'HQ' }, { adopt: '7' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    steps: ['keep accounts.hq'],
    exit: 0,
  },
  ...[{}, { account: '1' }].map((parent) => ({
    title: `a move below a new account under a root that is not listed: ${JSON.stringify(parent)}`,
    declared: [
      declare('accounts.new', { name: 'New', ...parent }),
      declare('accounts.moved', {
        name: 'Moved',
        account: new Reference('declared', 'accounts.new', 'id'),
      }),
    ],
    state: { 'accounts.moved': entry('accounts', '30', { name: 'Moved', account: '10' }) },
    live: {
      accounts: [
        live('accounts', '10', { name: 'Ten', account: '1' }),
        live('accounts', '20', { name: 'Twenty', account: '1' }),
        live('accounts', '30', { name: 'Moved', account: '10' }),
      ],
      account_authorizations: [
        live('account_authorizations', '9', { user: '77', account: '10', role: 'administrator' }),
      ],
    },
    steps: ['create accounts.new', 'update accounts.moved'],
    exit: 3,
  })),
  {
    title: 'allowed twins',
    declared: [
      declare('alert_rules.r', rule, { allow_duplicate: true }),
      declare('alert_rules.s', rule, { allow_duplicate: true }),
    ],
    live: { alert_rules: [liveRule('r-1'), liveRule('r-2')], alert_push_destinations: [pager] },
    steps: ['adopt alert_rules.r', 'adopt alert_rules.s'],
    exit: 0,
  },
  {
    title: 'twins that each adopt an object of their own, beside a create',
    declared: [
      declare('alert_rules.r', rule, { adopt: 'r-1' }),
      declare('alert_rules.s', rule, { adopt: 'r-2' }),
      declare('alert_rules.t', { associated_groups: ['7'] }),
    ],
    live: { alert_rules: [liveRule('r-1'), liveRule('r-2')], alert_push_destinations: [pager] },
    steps: ['adopt alert_rules.r', 'adopt alert_rules.s', 'create alert_rules.t'],
    exit: 2,
  },
  {
    title: 'twins of which one adopts nothing',
    declared: [declare('alert_rules.r', rule, { adopt: 'r-1' }), declare('alert_rules.s', rule)],
    live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
    steps: ['adopt alert_rules.r', 'create alert_rules.s'],
    exit: 1,
    codes: ['identical-declarations'],
  },
  ...[
    [{}, {}],
    [{ allow_duplicate: true }, {}],
    [{}, { allow_duplicate: true }],
  ].map(([one, other]) => ({
    title: `twins that mean one unmanaged object: ${JSON.stringify([one, other])}`,
    declared: [
      declare('accounts.a', { name: 'HQ' }, one),
      declare('accounts.b', { name: 'HQ', account: '1' }, other),
    ],
    live: { accounts: [root, hq] },
    steps: ['adopt accounts.a', 'create accounts.b'],
    exit: 1,
    codes: ['identical-declarations'],
  })),
  ...[['accounts.a'], ['accounts.b']].map((targets) => ({
    title: `twins that mean one unmanaged object, of which a target leaves one out: ${targets[0]}`,
    declared: [
      declare('accounts.a', { name: 'HQ' }),
      declare('accounts.b', { name: 'HQ', account: '1' }),
    ],
    live: { accounts: [root, hq] },
    request: { targets },
    steps: [`adopt ${targets[0]}`],
    exit: 1,
    codes: ['identical-declarations'],
  })),
  {
    title: 'three that mean one unmanaged object',
    declared: ['a', 'b', 'c'].map((name) => declare(`alert_rules.${name}`, rule)),
    live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
    steps: ['adopt alert_rules.a', 'create alert_rules.b', 'create alert_rules.c'],
    exit: 1,
    codes: ['identical-declarations', 'identical-declarations'],
  },
  {
    title: 'allowed twins that mean one unmanaged object',
    declared: [
      declare('alert_rules.r', rule, { allow_duplicate: true }),
      declare('alert_rules.s', rule, { allow_duplicate: true }),
    ],
    live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
    steps: ['adopt alert_rules.r', 'create alert_rules.s'],
    exit: 2,
  },
  ...[
    ['r-1', undefined],
    [undefined, 'r-1'],
  ].map((adopts) => ({
    title: `twins of which one names the one unmanaged object: ${JSON.stringify(adopts)}`,
    declared: ['r', 's'].map((name, index) =>
      declare(`alert_rules.${name}`, rule, defined({ adopt: adopts[index] })),
    ),
    live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
    steps: ['r', 's'].map(
      (name, index) => `${adopts[index] ? 'adopt' : 'create'} alert_rules.${name}`,
    ),
    exit: 1,
    codes: ['identical-declarations'],
  })),
  {
    title: 'twins that name the same unmanaged object',
    declared: ['r', 's'].map((name) => declare(`alert_rules.${name}`, rule, { adopt: 'r-1' })),
    live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
    steps: ['adopt alert_rules.r'],
    exit: 1,
    codes: ['adopt-taken'],
  },
  {
    title: 'twins that each adopted an object of their own, of which one is gone',
    declared: [
      declare('alert_rules.r', rule, { adopt: 'r-1' }),
      declare('alert_rules.s', rule, { adopt: 'r-2' }),
    ],
    state: {
      'alert_rules.r': entry('alert_rules', 'r-1', rule),
      'alert_rules.s': entry('alert_rules', 'r-2', rule),
    },
    live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
    steps: ['keep alert_rules.r', 'create alert_rules.s'],
    exit: 2,
  },
  {
    title: 'an allowed twin does not take what the other one has',
    declared: [
      declare('alert_rules.r', rule, { allow_duplicate: true }),
      declare('alert_rules.s', rule, { allow_duplicate: true }),
    ],
    state: { 'alert_rules.r': entry('alert_rules', 'r-1', rule) },
    live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
    steps: ['keep alert_rules.r', 'create alert_rules.s'],
    exit: 2,
  },
  {
    title: 'an unknown authorization cannot be made',
    declared: [
      declare('account_authorizations.d', { user: '7', account: '2', role: 'administrator' }),
    ],
    steps: [],
    exit: 1,
    codes: ['cannot-create'],
  },
  {
    title: 'HTML-escaped texts inside a document',
    declared: [
      declare('alert_rules.r', { settings: { custom_alert: { label: "A & B's", list: ['<'] } } }),
    ],
    live: {
      alert_rules: [
        live('alert_rules', 'r-1', {
          settings: { custom_alert: { label: 'A &amp; B&#39;s', list: ['&lt;'] } },
        }),
      ],
    },
    steps: ['adopt alert_rules.r'],
    exit: 0,
  },
  {
    title: 'an HTML-escaped name',
    declared: [declare('accounts.o', { name: "O'Brien & Sons" })],
    live: {
      accounts: [root, live('accounts', '4', { name: 'O&#39;Brien &amp; Sons', account: '1' })],
    },
    steps: ['adopt accounts.o'],
    exit: 0,
  },
  {
    title: 'null against absent',
    declared: [
      declare('alert_rules.r', { ...rule, settings: null, schedule: null, associated_groups: [] }),
    ],
    state: { 'alert_rules.r': entry('alert_rules', 'r-1', rule) },
    live: {
      alert_rules: [
        live('alert_rules', 'r-1', {
          associated_accounts: [2],
          filter_criteria: { alert_type__in: ['a', 'b'] },
          http_destinations: ['d-1'],
        }),
      ],
      alert_push_destinations: [pager],
    },
    steps: ['keep alert_rules.r'],
    exit: 0,
  },
  {
    title: 'what is ignored does not differ',
    declared: [
      declare('alert_rules.r', { ...rule, schedule: 'daily' }, { ignore_changes: ['schedule'] }),
    ],
    state: { 'alert_rules.r': entry('alert_rules', 'r-1', rule) },
    live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
    steps: ['keep alert_rules.r'],
    exit: 0,
  },
  {
    title: 'an immutable attribute',
    declared: [
      declare('account_authorizations.d', { user: '8', account: '2', role: 'administrator' }),
    ],
    state: {
      'account_authorizations.d': entry('account_authorizations', 'z', { user: '7', account: '2' }),
    },
    live: {
      account_authorizations: [
        live('account_authorizations', 'z', { user: '7', account: '2', role: 'administrator' }),
      ],
    },
    steps: [],
    exit: 1,
    codes: ['immutable'],
  },
  {
    title: 'a removed authorization is let go',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'account_authorizations.d': entry('account_authorizations', 'z', {
        user: '7',
        account: '2',
        role: 'read_only_user',
      }),
    },
    live: {
      accounts: [root, hq],
      account_authorizations: [
        live('account_authorizations', 'z', { user: '7', account: '2', role: 'read_only_user' }),
      ],
    },
    request: { allow: ['all-removed'] },
    steps: ['keep accounts.hq', 'forget account_authorizations.d'],
    exit: 2,
  },
  {
    title: 'a removed authorization with on_removal no_access',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'account_authorizations.d': entry(
        'account_authorizations',
        'z',
        { user: '7', account: '2', role: 'read_only_user' },
        { on_removal: 'no_access' },
      ),
    },
    live: {
      accounts: [root, hq],
      account_authorizations: [
        live('account_authorizations', 'z', { user: '7', account: '2', role: 'read_only_user' }),
      ],
    },
    request: { allow: ['all-removed'] },
    steps: ['keep accounts.hq', 'update account_authorizations.d'],
    exit: 2,
  },
  {
    title: 'destroy',
    declared: [declare('accounts.hq', { name: 'HQ' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, hq] },
    request: { destroy: true },
    steps: ['delete accounts.hq'],
    exit: 2,
  },
  {
    title: 'target takes what it refers to, and leaves the rest',
    declared: [
      declare('accounts.hq', { name: 'N' }),
      declare('accounts.sub', {
        name: 'S',
        account: new Reference('declared', 'accounts.hq', 'id'),
      }),
      declare('accounts.other', { name: 'T' }),
    ],
    live: { accounts: [root] },
    request: { targets: ['accounts.sub'] },
    steps: ['create accounts.hq', 'create accounts.sub'],
    exit: 2,
    codes: ['targeted-too'],
  },
  {
    title: 'exclude leaves out what refers to it',
    declared: [
      declare('accounts.hq', { name: 'N' }),
      declare('accounts.sub', {
        name: 'S',
        account: new Reference('declared', 'accounts.hq', 'id'),
      }),
      declare('accounts.other', { name: 'T' }),
    ],
    live: { accounts: [root] },
    request: { excludes: ['accounts.hq'] },
    steps: ['create accounts.other'],
    exit: 2,
    codes: ['excluded-too'],
  },
  ...(
    [
      ['and is no longer declared', declare('accounts.hq', { name: 'HQ' })],
      ['under its earlier name', declare('accounts.main', { name: 'HQ' }, { renamed_from: 'hq' })],
    ] as const
  ).map(([title, declaration]): Row => ({
    title: `exclude leaves out what referred to it ${title}`,
    declared: [declaration],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'accounts.sub': {
        ...entry('accounts', '3', { name: 'S', account: '2' }),
        depends_on: ['accounts.hq'],
      },
      'accounts.old': entry('accounts', '4', { name: 'Old' }),
    },
    live: {
      accounts: [
        root,
        live('accounts', '2', { name: 'HQ', account: '1' }),
        live('accounts', '3', { name: 'S', account: '2' }),
        live('accounts', '4', { name: 'Old', account: '1' }),
      ],
    },
    request: { excludes: [declaration.address] },
    steps: ['delete accounts.old'],
    exit: 2,
    codes: ['excluded-removal'],
  })),
  {
    title: 'exclude leaves out what referred to what another file declares',
    declared: [declare('accounts.other', { name: 'T' })],
    state: {
      'accounts.hq': { ...entry('accounts', '2', { name: 'HQ' }), file: 'elsewhere/b.yaml' },
      'accounts.sub': {
        ...entry('accounts', '3', { name: 'S', account: '2' }),
        depends_on: ['accounts.hq'],
      },
    },
    live: {
      accounts: [
        root,
        live('accounts', '2', { name: 'HQ', account: '1' }),
        live('accounts', '3', { name: 'S', account: '2' }),
      ],
    },
    more: {
      project: { ...project([declare('accounts.other', { name: 'T' })]), paths: ['a.yaml'] },
    },
    request: { excludes: ['accounts.hq'] },
    steps: ['create accounts.other'],
    exit: 2,
  },
  {
    title: 'a target nobody knows',
    declared: [declare('accounts.hq', { name: 'N' })],
    live: { accounts: [root] },
    request: { targets: ['accounts.hg'] },
    steps: [],
    exit: 1,
    codes: ['unknown-address'],
  },
  {
    title: 'a circle',
    declared: [
      declare('accounts.a', { name: 'A', account: new Reference('declared', 'accounts.b', 'id') }),
      declare('accounts.b', { name: 'B', account: new Reference('declared', 'accounts.a', 'id') }),
    ],
    steps: [],
    exit: 1,
    codes: ['cycle'],
  },
];

it('a target whose quotes the shell took is written for the shell', () => {
  const { plan } = planScene({
    declared: [declare('accounts.hq["k"]', { name: 'N' })],
    live: { accounts: [root] },
    request: { targets: ['accounts.hq[k]'] },
  });
  expect(plan.diagnostics.map(({ detail }) => detail)).toContain(
    `Did you mean 'accounts.hq["k"]'?`,
  );
});

it.each([
  [{ protect: true }, {}, true],
  [{ on_removal: 'no_access' }, {}, true],
  [{}, { protect: true as const }, true],
  [{ protect: true }, { protect: true as const }, false],
  [{ protect: false }, {}, false],
])('a lifecycle that the state does not hold is told: %j over %j', (lifecycle, more, isTold) => {
  const values = { user: '72', account: '2', role: 'no_access' };
  const { plan, exit } = planScene({
    declared: [declare('account_authorizations.x', values, lifecycle)],
    state: { 'account_authorizations.x': entry('account_authorizations', 'z', values, more) },
    live: {
      accounts: [root, hq],
      account_authorizations: [live('account_authorizations', 'z', values)],
    },
  });
  const told = plan.diagnostics.filter(({ code }) => code === 'lifecycle-not-recorded');
  expect([exit, told.length]).toEqual([0, isTold ? 1 : 0]);
});

describe('the table of planning', () => {
  it.each(table)('$title', (row) => {
    const proposal = planScene(row);
    expect(steps(proposal)).toEqual(row.steps);
    for (const code of row.codes ?? []) expect(codes(proposal)).toContain(code);
    expect(proposal.exit).toBe(row.exit);
  });
});

describe('a declaration of a stack', () => {
  const made = (address: string): Declaration => {
    const origin = { file: 'cdk.tf.json', line: 0, column: 0, path: `net/${address}` };
    return { ...declare(address, { name: 'HQ' }), origin };
  };
  const told = (row: Parameters<typeof planScene>[0], wanted: string) =>
    planScene(row).plan.diagnostics.find(({ code }) => code === wanted)?.detail;

  it('is told of another one by its path, in words of programs', () => {
    const live = { accounts: [root] };
    const yaml = declare('accounts.b', { name: 'HQ' });
    expect([
      told({ declared: [made('accounts.a'), made('accounts.b')], live }, 'identical-declarations'),
      told({ declared: [made('accounts.a'), yaml], live }, 'identical-declarations'),
    ]).toEqual([
      'The other one is at net/accounts.a. Remove one, or write `lifecycle: { allowDuplicate: true }` in constructs of trueup on both.',
      'The other one is at net/accounts.a. Remove one, or write `lifecycle: { allow_duplicate: true }`, or `lifecycle: { allowDuplicate: true }` in constructs of trueup, on both.',
    ]);
  });

  it('is given its object by a command alone', () => {
    const twins = ['2', '3'].map((id) => live('accounts', id, { name: 'HQ', account: '1' }));
    const row = { declared: [made('accounts.a')], live: { accounts: [root, ...twins] } };
    expect(told(row, 'ambiguous')).toBe('Choose one: trueup import accounts.a 2');
  });
});

it('what refers to an object that was renamed without a block says so', () => {
  const { plan } = planScene({
    declared: [
      declare('accounts.new', { name: 'HQ' }),
      declare('account_authorizations.d', {
        user: '7',
        account: new Reference('declared', 'accounts.new', 'id'),
        role: 'administrator',
      }),
    ],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'account_authorizations.d': entry('account_authorizations', 'z', { user: '7', account: '2' }),
    },
    live: {
      accounts: [root, hq],
      account_authorizations: [
        live('account_authorizations', 'z', { user: '7', account: '2', role: 'administrator' }),
      ],
    },
  });
  const [fixed] = plan.diagnostics.filter(({ code }) => code === 'immutable');
  expect(fixed?.summary).toContain('would be created with the identity of accounts.hq');
  expect(fixed?.detail).toContain('renamed_from: "hq"');
  expect(fixed?.detail).not.toContain('state rm');
});

it.each([
  ['that is declared', { destroy: true }, 'remove lifecycle.protect and apply that first'],
  ['that is declared no more', {}, 'declare it again without lifecycle.protect'],
])('the block of a protected object %s says what to do', (_, request, words) => {
  const { plan } = planScene({
    declared:
      'destroy' in request ? [declare('accounts.hq', { name: 'HQ' }, { protect: true })] : [],
    state: { 'accounts.hq': { ...entry('accounts', '2', { name: 'HQ' }), protect: true } },
    live: { accounts: [root, hq] },
    request,
  });
  expect(plan.verdicts.find(({ rule }) => rule === 'protected')?.detail).toContain(words);
});

it('the adoption of an object says that a secret is added where its document has none', () => {
  const { plan } = planScene({
    declared: [
      declare('configuration_managers.c', {
        router: '7',
        configuration: [{ system: { pin: new Secret('env.PIN', () => '1234') } }, []],
      }),
    ],
    live: {
      configuration_managers: [
        live('configuration_managers', '9', {
          router: '7',
          configuration: [{ system: { name: 'North' } }, []],
        }),
      ],
    },
  });
  expect(plan.changes[0]?.reason).toContain('; configuration.0.system.pin will be updated');
});

it('of two declarations of a role, neither a duplicate nor --exclude is advised', () => {
  const role = { user: '70', account: '1', role: 'administrator' };
  const { plan } = planScene({
    declared: [
      declare('account_authorizations.bob', role),
      declare('account_authorizations.carl', role),
      declare('accounts.more', { name: 'More' }),
    ],
    state: { 'account_authorizations.bob': entry('account_authorizations', 'z', role) },
    live: { accounts: [root], account_authorizations: [live('account_authorizations', 'z', role)] },
  });
  const advice = plan.diagnostics.flatMap(({ detail }) => detail ?? []).join('\n');
  expect(plan.diagnostics.map(({ code }) => code)).toContain('identical-declarations');
  expect(advice).toMatch(/Remove one\.$/m);
  expect(advice).not.toMatch(/allow_duplicate|--exclude/);
});

it('an immutable reference to an object that looks renamed is no error of its own', () => {
  const router = { mac: '00:30:44:00:00:01' };
  const { plan } = planScene({
    declared: [
      declare('routers.new', router),
      declare('configuration_managers.c', {
        router: new Reference('declared', 'routers.new', 'id'),
        configuration: [{}, []],
      }),
    ],
    state: {
      'routers.old': entry('routers', '7', router),
      'configuration_managers.c': {
        ...entry('configuration_managers', '9', { router: '7' }),
        depends_on: ['routers.old'],
      },
    },
    live: {
      routers: [live('routers', '7', router)],
      configuration_managers: [live('configuration_managers', '9', { router: '7' })],
    },
  });
  const errors = plan.diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ summary }) => summary)).toEqual([
    'routers.new has the identity of routers.old, which is in the state and no longer declared.',
  ]);
});

it('what refers to an object that looks renamed looks renamed as well', () => {
  const router = { mac: '00:30:44:00:00:01' };
  const { plan } = planScene({
    declared: [
      declare('routers.new', router),
      declare('configuration_managers.new', {
        router: new Reference('declared', 'routers.new', 'id'),
        configuration: [{ system: { name: 'North' } }, []],
      }),
      declare('accounts.more', { name: 'More' }),
    ],
    state: {
      'routers.old': entry('routers', '7', router),
      'configuration_managers.old': {
        ...entry('configuration_managers', '9', { router: '7' }),
        depends_on: ['routers.old'],
      },
    },
    live: {
      accounts: [root],
      routers: [live('routers', '7', router)],
      configuration_managers: [live('configuration_managers', '9', { router: '7' })],
    },
  });
  const errors = plan.diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ summary }) => summary)).toEqual([
    'routers.new, configuration_managers.new have the identities of routers.old, configuration_managers.old, which are in the state and no longer declared.',
  ]);
});

it('a secret of a document that was a literal before is not recorded as sent', () => {
  const configuration = (system: Values): Values => ({
    router: '7',
    configuration: [{ system }, []],
  });
  const pin = new Secret('env.PIN', () => '1234');
  const { plan } = planScene({
    declared: [declare('configuration_managers.c', configuration({ name: 'North', pin }))],
    state: {
      'configuration_managers.c': entry('configuration_managers', '9', {
        router: '7',
        configuration: [{ system: { name: 'North' } }, []],
      }),
    },
    live: {
      configuration_managers: [
        live('configuration_managers', '9', {
          router: '7',
          configuration: [{ system: { name: 'North', pin: '*' } }, []],
        }),
      ],
    },
    more: {
      secrets: new Map([['configuration_managers.c configuration.0.system.pin', 'unknown']]),
    },
  });
  expect(plan.changes[0]?.reason).toBe('configuration.0.system.pin is not recorded as sent');
});

it.each<[what: string, declared: Values, effect: string]>([
  [
    'alone',
    {},
    'the live value of authentication.secret cannot be read, so the declared one is sent',
  ],
  [
    'beside what differs',
    { enabled: false },
    'enabled will be updated; the live value of authentication.secret cannot be read, so the declared one is sent',
  ],
])('the adoption of an object does not say that its secret differs: %s', (_, more, effect) => {
  const authentication = { secret: new Secret('env.HOOK', () => 'x') };
  const { plan } = planScene({
    declared: [declare('alert_push_destinations.p', { name: 'Pager', ...more, authentication })],
    more: { secrets: new Map([['alert_push_destinations.p authentication.secret', 'unknown']]) },
    live: { alert_push_destinations: [pager] },
  });
  expect(plan.changes[0]?.reason).toBe(`it is the only unmanaged object that matches; ${effect}`);
});

it('the update of a secret says that its value is another one', () => {
  const path = 'endpoint.secret';
  const secret = new Secret('env.HOOK', () => 'x');
  const one = { path, before: undefined, after: secret, drifted: false };
  expect(howChanged([one])).toBe('endpoint.secret is not the value that trueup sent last');
  expect(howChanged([one, { ...one, path: 'b' }, { ...one, path: 'name', after: 'x' }])).toBe(
    'name changed in the declaration; endpoint.secret, b are not the values that trueup sent last',
  );
  const list = [{ name: 'u', password: secret }];
  const masked = [{ name: 'u', password: '*' }];
  const inList = { path: 'configuration.0.users', before: masked, after: list, drifted: false };
  expect(howChanged([inList])).toBe('configuration.0.users is not the value that trueup sent last');
  expect(howChanged([{ ...inList, after: [{ name: 'w', password: secret }] }])).toBe(
    'configuration.0.users changed in the declaration',
  );
});

it.each<[Record<string, string | boolean>, string]>([
  [{ name: 'HQ', is_disabled: false }, 'name, is_disabled changed in the declaration'],
  [
    { name: 'Head', is_disabled: false },
    'name changed outside of trueup; is_disabled changed in the declaration',
  ],
  [
    { name: 'Old', is_disabled: false },
    'name changed in the declaration, and outside of trueup; is_disabled changed in the declaration',
  ],
  [
    { name: 'Head' },
    'name changed outside of trueup; is_disabled was not declared at the last apply',
  ],
  [
    { name: 'HQ' },
    'name changed in the declaration; is_disabled was not declared at the last apply',
  ],
  [{}, 'name, is_disabled are not as declared'],
])('an update says who changed what, as far as what was applied tells: %j', (applied, reason) => {
  const { plan } = planScene({
    declared: [declare('accounts.hq', { name: 'Head', is_disabled: true })],
    state: { 'accounts.hq': entry('accounts', '2', applied) },
    live: { accounts: [root, hq] },
  });
  expect(plan.changes[0]?.reason).toBe(reason);
});

it('an update of values that may come from variables does not blame the declaration alone', () => {
  const { plan } = planScene({
    declared: [declare('accounts.hq', { name: 'Head' })],
    more: {
      project: { ...project([declare('accounts.hq', { name: 'Head' })]), uses_variables: true },
    },
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
    live: { accounts: [root, live('accounts', '2', { name: 'HQ' })] },
  });
  expect(plan.changes[0]?.reason).toBe('name changed in the declaration or in a variable');
});

it('members that are named as what every object has end no plan', () => {
  const document = (toString: string) => [{ list: [{ toString }] }, []];
  const { plan } = planScene({
    declared: [declare('configuration_managers.c', { router: '7', configuration: document('x') })],
    state: {
      'configuration_managers.c': entry('configuration_managers', '9', {
        router: '7',
        configuration: document('y'),
      }),
    },
    live: {
      configuration_managers: [
        live('configuration_managers', '9', { router: '7', configuration: document('y') }),
      ],
    },
  });
  expect(plan.changes[0]?.reason).toBe('configuration.0.list changed in the declaration');
});

it('what refers to an account that looks renamed is not to be left out', () => {
  const role = { user: '70', role: 'administrator' };
  const recorded = { ...role, account: '2' };
  const { plan } = planScene({
    declared: [
      declare('accounts.new', { name: 'Q', account: '1' }),
      declare('account_authorizations.new', {
        ...role,
        account: new Reference('declared', 'accounts.new', 'id'),
      }),
    ],
    state: {
      'accounts.old': entry('accounts', '2', { name: 'Q', account: '1' }),
      'account_authorizations.old': {
        ...entry('account_authorizations', 'z', recorded),
        depends_on: ['accounts.old'],
      },
    },
    live: {
      accounts: [root, live('accounts', '2', { name: 'Q', account: '1' })],
      account_authorizations: [live('account_authorizations', 'z', recorded)],
    },
  });
  const [error] = plan.diagnostics.filter(({ code }) => code === 'cannot-create');
  expect(error?.detail).toContain(
    'It refers to accounts.new, which looks renamed: see [looks-renamed].',
  );
  expect(error?.detail).not.toContain('--exclude');
});

it.each([
  [
    'that would be the same',
    {},
    [
      'If they were renamed, write this into a new declaration file, and nothing is sent:',
      'moved:',
      "  - { from: 'accounts.hq', to: 'accounts.new' }",
      "  - { from: 'alert_rules.r', to: 'alert_rules.new' }",
    ],
  ],
  [
    'that would be another one',
    { schedule: 'daily' },
    [
      'If it was renamed, write `lifecycle: { renamed_from: "hq" }`, and nothing is sent for it.',
      'The same without a review: trueup state mv accounts.hq accounts.new',
      'These depend on it and would still be created, unless they are renamed, too: alert_rules.new',
    ],
  ],
])('the one note on a renamed object says of what depends on it, %s', (_, more, said) => {
  const account = (address: string) => [new Reference('declared', address, 'id')];
  const { plan } = planScene({
    declared: [
      declare('accounts.new', { name: 'HQ' }),
      declare('alert_rules.new', {
        ...rule,
        ...more,
        associated_accounts: account('accounts.new'),
      }),
    ],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'alert_rules.r': entry('alert_rules', 'r-1', { ...rule, associated_accounts: ['2'] }),
    },
    live: {
      accounts: [root, hq],
      alert_rules: [liveRule('r-1', { associated_accounts: ['2'] })],
      alert_push_destinations: [],
    },
  });
  const notes = plan.diagnostics.filter(({ code }) => code === 'looks-renamed');
  expect(notes.map(({ detail }) => detail?.split('\n'))).toEqual([said]);
});

const member = (name: string, key: string) => `accounts.${name}["${key}"]`;

it.each([
  ['as a whole', ['all', 'all'], ["{ from: 'accounts.alpha', to: 'accounts.all' }"]],
  [
    'into two',
    ['one', 'two'],
    [
      `{ from: '${member('alpha', 'a')}', to: '${member('one', 'a')}' }`,
      `{ from: '${member('alpha', 'b')}', to: '${member('two', 'b')}' }`,
    ],
  ],
  [
    'into one that another one becomes, too',
    ['all', 'all', 'all'],
    [
      `{ from: '${member('alpha', 'a')}', to: '${member('all', 'a')}' }`,
      `{ from: '${member('alpha', 'b')}', to: '${member('all', 'b')}' }`,
      `{ from: '${member('beta', 'c')}', to: '${member('all', 'c')}' }`,
    ],
  ],
])('the moves of a for_each that was renamed %s', (_, names, moves) => {
  const old = [member('alpha', 'a'), member('alpha', 'b'), member('beta', 'c')].slice(
    0,
    names.length,
  );
  const { plan } = planScene({
    declared: names.map((name, index) =>
      declare(member(name, 'abc'[index]!), { name: `N${index}` }),
    ),
    state: Object.fromEntries(
      old.map((address, index) => [
        address,
        entry('accounts', `${index + 2}`, { name: `N${index}` }),
      ]),
    ),
    live: {
      accounts: [
        root,
        ...old.map((_address, index) =>
          live('accounts', `${index + 2}`, { name: `N${index}`, account: '1' }),
        ),
      ],
    },
  });
  const [note] = plan.diagnostics.filter(({ code }) => code === 'looks-renamed');
  const lines = note?.detail?.split('\n') ?? [];
  expect(lines.slice(lines.indexOf('moved:') + 1)).toEqual(moves.map((move) => `  - ${move}`));
});

it('a for_each of which a member stays outside of the plan moves by its members', () => {
  const names = ['a', 'b', 'c'];
  const { plan } = planScene({
    declared: [
      declare(member('alpha', 'a'), { name: 'a' }),
      declare(member('beta', 'b'), { name: 'b' }),
      declare(member('beta', 'c'), { name: 'c' }),
    ],
    state: Object.fromEntries(
      names.map((name) => [member('alpha', name), entry('accounts', `id-${name}`, { name })]),
    ),
    live: {
      accounts: [
        root,
        ...names.map((name) => live('accounts', `id-${name}`, { name, account: '1' })),
      ],
    },
    request: { targets: [member('alpha', 'b'), member('alpha', 'c'), 'accounts.beta'] },
  });
  const [note] = plan.diagnostics.filter(({ code }) => code === 'looks-renamed');
  expect(note?.detail?.split('\n').slice(2)).toEqual(
    ['b', 'c'].map(
      (key) => `  - { from: '${member('alpha', key)}', to: '${member('beta', key)}' }`,
    ),
  );
});

it.each([
  [{}, 3],
  [{ allow: ['first-run'] }, 0],
  [{ audit: true }, 0],
] as const)('a first run says how the first objects are imported: %j', (request, shown) => {
  const names = ['a', 'b', 'c', 'd'];
  const { plan } = planScene({
    declared: names.map((name) => declare(`accounts.${name}`, { name, is_disabled: true })),
    live: {
      accounts: [
        root,
        ...names.map((name) => live('accounts', `id-${name}`, { name, account: '1' })),
      ],
    },
    request,
  });
  const notes = plan.diagnostics.filter(({ code }) => code === 'first-run');
  expect(notes.flatMap(({ detail }) => detail?.split('\n'))).toEqual(
    shown === 0
      ? []
      : [
          ...names
            .slice(0, shown)
            .map((name) => `Import the live object: trueup import accounts.${name} id-${name}`),
          'and 1 more',
        ],
  );
});

it.each<[string, JsonObject, Values, Partial<Entry>, string[]]>([
  ['nothing that is declared', { name: 'P', enabled: true }, { name: 'P', enabled: true }, {}, []],
  ['an attribute', { name: 'P', enabled: true }, { name: 'P' }, {}, ['enabled']],
  ['what had no value', { name: 'P', enabled: null }, { name: 'P' }, {}, []],
  [
    'an inner attribute',
    { name: 'P', endpoint: { url: 'https://a.test' } },
    { name: 'P', endpoint: {} },
    {},
    ['endpoint.url'],
  ],
  [
    'a secret',
    { name: 'P' },
    { name: 'P' },
    { secrets: { 'authentication.secret': { of: 'x', hash: 'y' } } },
    ['authentication.secret'],
  ],
  [
    'a secret once, with what it was in',
    { name: 'P', authentication: { header: 'h' } },
    { name: 'P' },
    { secrets: { 'authentication.secret': { of: 'x', hash: 'y' } } },
    ['authentication'],
  ],
])('what was applied and is no longer declared: %s', (_, before, declared, more, paths) => {
  const { plan } = planScene({
    declared: [declare('alert_push_destinations.p', declared)],
    state: {
      'alert_push_destinations.p': {
        ...entry('alert_push_destinations', 'd-1', before),
        ...more,
      },
    },
    live: { alert_push_destinations: [live('alert_push_destinations', 'd-1', before)] },
  });
  const notes = plan.diagnostics.filter(({ code }) => code === 'no-longer-declared');
  const [only] = paths;
  expect(notes.map(({ summary, detail }) => `${summary} ${detail}`)).toEqual(
    only === undefined
      ? []
      : [
          `${only} of alert_push_destinations.p is no longer declared. The live value stays, and trueup no longer manages it.`,
        ],
  );
});

it.each<[string, string, JsonObject, JsonObject, string]>([
  [
    'each',
    'alert_rules',
    rule,
    { schedule: 'daily', settings: { a: 1 } },
    ' To clear them, declare null.',
  ],
  [
    'one of two',
    'alert_rules',
    rule,
    { schedule: 'daily', associated_groups: ['7'] },
    ' To clear schedule, declare null.',
  ],
  [
    'one of two, the other fixed',
    'routers',
    { name: 'R' },
    { mac: '003044000001', description: 'd' },
    ' To clear description, declare null.',
  ],
  ['none, one fixed', 'routers', { name: 'R' }, { mac: '003044000001' }, ''],
])('of values that can be cleared, a note says how: %s', (_, kind, declared, more, advice) => {
  const before = { ...declared, ...more };
  const { plan } = planScene({
    declared: [declare(`${kind}.x`, declared)],
    state: { [`${kind}.x`]: entry(kind, 'x-1', before) },
    live: { [kind]: [live(kind, 'x-1', before)] },
  });
  const [stays, it] =
    Object.keys(more).length === 1 ? ['value stays', 'it'] : ['values stay', 'them'];
  expect(plan.diagnostics.map(({ detail }) => detail)).toEqual([
    `The live ${stays}, and trueup no longer manages ${it}.${advice}`,
  ]);
});

it('what a PUT leaves out stays if the service keeps it', () => {
  const { plan } = planScene({
    declared: [declare('accounts.hq', { name: 'New' })],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ', is_disabled: true }) },
    live: {
      accounts: [root, live('accounts', '2', { name: 'HQ', account: '1', is_disabled: true })],
    },
  });
  expect(plan.diagnostics).toMatchObject([
    {
      summary: 'is_disabled of accounts.hq is no longer declared.',
      detail:
        'The live value stays if the service keeps what a PUT leaves out, and trueup no longer manages it.',
    },
  ]);
});

it('what a PUT sends back stays in any case', () => {
  const user = { email: 'sam@example.com', is_active: false };
  const { plan } = planScene({
    declared: [declare('users.sam', { email: 'sam@example.com', first_name: 'Sam' })],
    state: { 'users.sam': entry('users', '2', user) },
    live: { users: [live('users', '2', user)] },
  });
  const detail = 'The live value stays, and trueup no longer manages it.';
  expect(plan.diagnostics).toMatchObject([
    { summary: 'is_active of users.sam is no longer declared.', detail },
  ]);
});

it('of many members that are no longer declared, twenty are named', () => {
  const lan = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k${index}`, index]));
  const group = (members: JsonObject) => ({
    name: 'G',
    account: '1',
    configuration: [{ lan: members }, []],
  });
  const { plan } = planScene({
    declared: [declare('groups.g', group({ kept: 1 }))],
    state: { 'groups.g': entry('groups', '7', group({ kept: 1, ...lan })) },
    live: { groups: [live('groups', '7', group({ kept: 1, ...lan }))] },
  });
  expect(plan.diagnostics.map(({ summary }) => summary)).toEqual([
    expect.stringMatching(/^configuration\.0\.lan\.k0, .*k19 and 2980 more of groups\.g are no/),
  ]);
});

it.each([
  [['a'], 'lifecycle: { renamed_from: "alpha" }'],
  [['a', 'b'], `moved: [{ from: '${member('alpha', 'a')}', to: '${member('beta', 'a')}' }]`],
])('of a for_each with the members %j, one that is renamed is all of it or not', (keys, said) => {
  const [first, ...others] = keys;
  const { plan } = planScene({
    declared: [
      declare(member('beta', first!), { name: first! }),
      ...others.map((key) => declare(member('alpha', key), { name: key })),
    ],
    state: Object.fromEntries(
      keys.map((key) => [member('alpha', key), entry('accounts', `id-${key}`, { name: key })]),
    ),
    live: {
      accounts: [
        root,
        ...keys.map((key) => live('accounts', `id-${key}`, { name: key, account: '1' })),
      ],
    },
  });
  const [note] = plan.diagnostics.filter(({ code }) => code === 'looks-renamed');
  expect(note?.detail).toContain(said);
  expect(note?.detail?.includes('renamed_from')).toBe(keys.length === 1);
});

it('what the plan takes out of the live object does not stay: no note says so', () => {
  const before = {
    name: 'G',
    account: '1',
    configuration: [{ lan: { mtu: 1500 }, wifi: 'x' }, []],
  };
  const scene = (declared: Values, lifecycle: Lifecycle) =>
    planScene({
      declared: [declare('groups.g', { name: 'G', account: '1', ...declared }, lifecycle)],
      state: { 'groups.g': entry('groups', '7', before) },
      live: { groups: [live('groups', '7', before)] },
    }).plan.diagnostics.filter(({ code }) => code === 'no-longer-declared');
  expect(scene({ configuration: [{}, []] }, { clear: true })).toEqual([]);
  expect(scene({ configuration: [{ lan: { mtu: 1500 } }, []] }, {})).toMatchObject([
    { summary: 'configuration.0.wifi of groups.g is no longer declared.' },
  ]);
  expect(scene({}, { ignore_changes: ['configuration'] })).toEqual([]);
});

it('a member of a document that refers to what is gone was not edited', () => {
  const two = new Reference('declared', 'accounts.two', 'id');
  const at = <T>(owner: T) => ({
    name: 'G',
    account: '1',
    configuration: [{ lan: { owner } }, []],
  });
  const { plan } = planScene({
    declared: [declare('accounts.two', { name: 'Two' }), declare('groups.g', at(two))],
    state: {
      'accounts.two': entry('accounts', '2', { name: 'Two' }),
      'groups.g': entry('groups', '7', at('2')),
    },
    live: { accounts: [root], groups: [live('groups', '7', at('99'))] },
  });
  expect(plan.changes.find(({ address }) => address === 'groups.g')?.reason).toBe(
    'configuration.0.lan.owner changed outside of trueup',
  );
});

it('a secret whose attribute is ignored is not said to be no longer declared', () => {
  const secrets = { 'authentication.secret': { of: 'x', hash: 'y' } };
  const { plan } = planScene({
    declared: [
      declare('alert_push_destinations.p', { name: 'P' }, { ignore_changes: ['authentication'] }),
    ],
    state: {
      'alert_push_destinations.p': {
        ...entry('alert_push_destinations', 'd-1', { name: 'P' }),
        secrets,
      },
    },
    live: { alert_push_destinations: [live('alert_push_destinations', 'd-1', { name: 'P' })] },
  });
  expect(plan.diagnostics).toEqual([]);
});

it('a list that refers to a renamed object that is gone was not edited', () => {
  const to = new Reference('declared', 'alert_push_destinations.new', 'destination_config_id');
  const { plan } = planScene({
    declared: [
      declare('alert_push_destinations.new', { name: 'P' }, { renamed_from: 'old' }),
      declare('alert_rules.r', { ...rule, http_destinations: [to] }),
    ],
    state: {
      'alert_push_destinations.old': entry('alert_push_destinations', 'd-1', { name: 'P' }),
      'alert_rules.r': entry('alert_rules', 'r-1', { ...rule, http_destinations: ['d-1'] }),
    },
    live: {
      alert_rules: [liveRule('r-1', { http_destinations: [] })],
      alert_push_destinations: [],
    },
  });
  expect(plan.changes.find(({ address }) => address === 'alert_rules.r')?.reason).toBe(
    'http_destinations changed outside of trueup',
  );
});

it('what a rename would fix is one error, however many refer to what was renamed', () => {
  const users = ['71', '72', '73'];
  const role = (user: string) => ({ user, role: 'full_access' });
  const account = new Reference('declared', 'accounts.new', 'id');
  const { plan } = planScene({
    declared: [
      declare('accounts.new', { name: 'HQ' }),
      ...users.map((user) =>
        declare(`account_authorizations.u${user}`, { ...role(user), account }),
      ),
    ],
    state: {
      'accounts.old': entry('accounts', '2', { name: 'HQ' }),
      ...Object.fromEntries(
        users.map((user) => [
          `account_authorizations.u${user}`,
          entry('account_authorizations', `z${user}`, { ...role(user), account: '2' }),
        ]),
      ),
    },
    live: {
      accounts: [root, hq],
      account_authorizations: users.map((user) =>
        live('account_authorizations', `z${user}`, { ...role(user), account: '2' }),
      ),
    },
  });
  expect(plan.diagnostics.map(({ code, summary }) => `${code}: ${summary}`)).toEqual([
    'immutable: account_authorizations.u71, account_authorizations.u72, account_authorizations.u73: account is immutable, and it refers to what looks renamed.',
    'looks-renamed: accounts.new would be created with the identity of accounts.old, which would be deleted.',
  ]);
});

it.each([
  [
    ['dana'],
    'account_authorizations.new["dana"] has the identity of account_authorizations.old["dana"], which is in the state and no longer declared.',
    'If the whole for_each was renamed, write `lifecycle: { renamed_from: "old" }` beside it, and nothing is sent.',
  ],
  [
    ['dana', 'emil'],
    'account_authorizations.new["dana"], account_authorizations.new["emil"] have the identities of account_authorizations.old["dana"], account_authorizations.old["emil"], which are in the state and no longer declared.',
    "  - { from: 'account_authorizations.old', to: 'account_authorizations.new' }",
  ],
])('what cannot be created and was renamed is told so: %j', (users, summary, detail) => {
  const at = (name: string, user: string) => `account_authorizations.${name}["${user}"]`;
  const role = (user: string) => ({ user, account: '2', role: 'full_access' });
  const { plan, exit } = planScene({
    declared: users.map((user) => declare(at('new', user), role(user))),
    state: Object.fromEntries(
      users.map((user) => [at('old', user), entry('account_authorizations', user, role(user))]),
    ),
    live: {
      accounts: [root, hq],
      account_authorizations: users.map((user) => live('account_authorizations', user, role(user))),
    },
  });
  const errors = plan.diagnostics.filter(({ severity }) => severity === 'error');
  expect([exit, errors]).toMatchObject([1, [{ code: 'looks-renamed', summary }]]);
  expect(errors[0]?.detail?.split('\n')).toContain(detail);
});

it.each<[string, string, Partial<Entry>, boolean, string]>([
  [
    'its kind has no delete',
    'full_access',
    {},
    false,
    'the API cannot delete it, so the role stays as long as its user and its account (to take it away, declare it with lifecycle: { on_removal: no_access }, apply, and remove it then)',
  ],
  [
    'a removed block',
    'full_access',
    { on_removal: 'no_access' },
    true,
    'the removed block in b.yaml:3 forgets it, so the role stays as long as its user and its account (to take it away, declare it with lifecycle: { on_removal: no_access }, apply, and remove it then)',
  ],
  [
    'its kind has no delete, and no role is left',
    'no_access',
    {},
    false,
    'the API cannot delete it, so it stays as it is',
  ],
  [
    'its lifecycle, and the object is so already',
    'no_access',
    { on_removal: 'no_access' },
    false,
    'on_removal: no_access needs no request',
  ],
])('what is only forgotten says why, and what stays: %s', (_, held, more, isRemoved, why) => {
  const values = { user: '72', account: '2', role: held };
  const address = 'account_authorizations.x';
  const { plan } = planScene({
    state: { [address]: entry('account_authorizations', 'z', values, more) },
    live: {
      accounts: [root, hq],
      account_authorizations: [live('account_authorizations', 'z', values)],
    },
    more: {
      project: {
        ...projectOf([]),
        refactorings: isRemoved
          ? [
              {
                block: 'removed',
                from: { kind: 'account_authorizations', name: 'x', members: true },
                forgets: true,
                origin: { file: 'b.yaml', line: 3, column: 5 },
              },
            ]
          : [],
      },
    },
  });
  expect(plan.changes.map(({ action, reason }) => `${action}: ${reason}`)).toEqual([
    `forget: it is no longer declared in a.yaml; ${why}`,
  ]);
});

it('what is forgotten as its lifecycle says stays as it is', () => {
  const { plan } = planScene({
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }, { on_removal: 'forget' }) },
    live: { accounts: [root, hq] },
  });
  expect(plan.changes.map(({ reason }) => reason)).toEqual([
    'it is no longer declared in a.yaml; on_removal: forget, so it stays as it is',
  ]);
});

it.each<[string, Scene, string | undefined, string]>([
  ['nothing declares the address', {}, undefined, 'looks-renamed'],
  [
    'nothing declares it, and --target leaves it out',
    { request: { targets: ['account_authorizations.y'] } },
    undefined,
    'looks-renamed',
  ],
  [
    'nothing declares it, and --exclude leaves it out',
    { request: { excludes: ['account_authorizations.x'] } },
    undefined,
    'looks-renamed',
  ],
  ['another file declares it', {}, '../elsewhere.yaml', 'cannot-create'],
  ['it is declared as another object', { declared: [role('x', '71')] }, undefined, 'cannot-create'],
])('an object that another address holds is renamed or not: %s', (_, scene, file, code) => {
  const values = { user: '72', account: '2', role: 'full_access' };
  const { plan } = planScene({
    ...scene,
    declared: [role('y', '72'), ...(scene.declared ?? [])],
    state: {
      'account_authorizations.x': entry('account_authorizations', 'z', values, defined({ file })),
    },
    live: {
      accounts: [root, hq],
      account_authorizations: [live('account_authorizations', 'z', values)],
    },
  });
  const error = plan.diagnostics.find(({ address }) => address === 'account_authorizations.y');
  expect([error?.code, error?.detail?.split('\n').slice(0, 3)]).toEqual([
    code,
    code === 'looks-renamed'
      ? [
          'If it was renamed, write `lifecycle: { renamed_from: "x" }`, and nothing is sent.',
          'The same without a review: trueup state mv account_authorizations.x account_authorizations.y',
        ]
      : [
          'account_authorizations.x manages the object of this identity.',
          'If account_authorizations.y is the object now: trueup state mv account_authorizations.x account_authorizations.y',
          'Otherwise keep one of the two declarations.',
        ],
  ]);
});

it.each<[JsonObject, Partial<PlanRequest>, string[]]>([
  [{ n: 1 }, {}, []],
  [{}, {}, ['reference-gone']],
  [{}, { audit: true }, []],
])(
  'a document whose reference leads to what is gone: beside it %j, %j',
  (beside, request, codes) => {
    const configuration = (owner: string) => [{ lan: { owner } }, []];
    const owner = new Reference('declared', 'accounts.hq', 'id');
    const held = 'n' in beside ? '2' : '1';
    const group = { name: 'G', account: '1', configuration: configuration(held) };
    const { plan } = planScene({
      declared: [
        declare('groups.g', { ...group, configuration: [{ lan: { owner, ...beside } }, []] }),
      ],
      state: {
        'accounts.hq': entry('accounts', '2', { name: 'HQ' }, { file: '../elsewhere.yaml' }),
        'groups.g': entry('groups', '7', group),
      },
      live: { accounts: [root], groups: [live('groups', '7', group)] },
      request,
    });
    const errors = plan.diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ code }) => code)).toEqual(codes);
  },
);

it.each([
  ['a create', {}, ['reference-gone']],
  [
    'an update of another attribute',
    {
      'alert_rules.r': entry('alert_rules', 'r-1', {
        ...rule,
        schedule: 'weekly',
        associated_accounts: ['2'],
      }),
    },
    [],
  ],
])('outside of the plan, the object of a reference is gone: %s', (_, state, codes) => {
  const { plan } = planScene({
    declared: [
      declare('alert_rules.r', {
        ...rule,
        schedule: 'daily',
        associated_accounts: [new Reference('declared', 'accounts.hq', 'id')],
      }),
    ],
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }, { file: '../elsewhere.yaml' }),
      ...state,
    },
    live: {
      accounts: [root],
      alert_rules: Object.keys(state).map(() =>
        liveRule('r-1', { schedule: 'weekly', associated_accounts: ['2'] }),
      ),
      alert_push_destinations: [],
    },
  });
  expect(plan.diagnostics.map(({ code }) => code)).toEqual(codes);
});

it('a renamed object that is gone is forgotten under the address that the state holds', () => {
  const { plan } = planScene({
    declared: [declare('accounts.new', { name: 'D' }, { renamed_from: 'old' })],
    state: { 'accounts.old': entry('accounts', '2', { name: 'D' }) },
    live: {
      accounts: [
        root,
        ...['3', '4'].map((id) => live('accounts', id, { name: 'D', account: '1' })),
      ],
    },
  });
  expect(plan.diagnostics.map(({ detail }) => detail)).toEqual([
    expect.stringMatching(/^Forget the object that is gone: trueup state rm accounts\.old\n/),
  ]);
});

it('what refers to an undecided object is not planned, and its old id is not sent', () => {
  const destinations = ['d-2', 'd-3'].map((id) =>
    live('alert_push_destinations', id, { name: 'P', endpoint: { url: 'https://a.test' } }),
  );
  const destination = new Reference(
    'declared',
    'alert_push_destinations.p',
    'destination_config_id',
  );
  const { plan, exit } = planScene({
    declared: [
      declare('alert_push_destinations.p', { name: 'P', endpoint: { url: 'https://a.test' } }),
      declare('alert_rules.r', { ...rule, http_destinations: [destination] }),
      declare('alert_rules.new', { ...rule, schedule: 'daily', http_destinations: [destination] }),
    ],
    state: {
      'alert_push_destinations.p': entry('alert_push_destinations', 'd-1', { name: 'P' }),
      'alert_rules.r': entry('alert_rules', 'r-1', { ...rule, http_destinations: ['d-1'] }),
    },
    live: {
      alert_rules: [liveRule('r-1', { http_destinations: [] })],
      alert_push_destinations: destinations,
    },
  });
  expect([
    exit,
    plan.changes.map(({ address, action, reason }) => [address, action, reason]),
  ]).toEqual([5, [['alert_rules.r', 'update', 'http_destinations changed outside of trueup']]]);
  expect(JSON.stringify(plan.changes)).not.toContain('"after":["d-1"]');
  const told = new Map(plan.diagnostics.map((one) => [one.code, one]));
  expect(told.get('not-planned')?.summary).toBe(
    'alert_rules.new was not planned: it refers to alert_push_destinations.p, whose live object is not decided.',
  );
  expect(told.get('ambiguous')?.detail).toContain(
    'Forget the object that is gone: trueup state rm alert_push_destinations.p\nThen choose one: trueup import alert_push_destinations.p d-2',
  );
});

it.each([
  [
    'stays where the record leads to what is live',
    '3',
    [
      ['account_authorizations.ben', 'keep', 'it is as declared'],
      ['alert_rules.r', 'keep', 'it is as declared'],
    ],
    ['adopt-bound'],
  ],
  [
    'is not planned where it would be replaced',
    '5',
    [['alert_rules.r', 'update', 'associated_accounts changed in the declaration']],
    ['adopt-bound', 'not-planned'],
  ],
])('what refers to an undecided object %s', (_, recorded, changes, codes) => {
  const depot = new Reference('declared', 'accounts.depot', 'id');
  const role = { user: '72', role: 'full_access' };
  const { plan } = planScene({
    declared: [
      declare('accounts.depot', { name: 'Depot' }, { adopt: '4' }),
      declare('alert_rules.r', { ...rule, associated_accounts: [depot] }),
      declare('account_authorizations.ben', { ...role, account: depot }),
    ],
    state: {
      'accounts.depot': entry('accounts', recorded, { name: 'Depot' }),
      'alert_rules.r': entry('alert_rules', 'r-1', { ...rule, associated_accounts: ['3'] }),
      'account_authorizations.ben': entry('account_authorizations', 'z', { ...role, account: '3' }),
    },
    live: {
      accounts: [root, ...['3', '4', '5'].map((id) => live('accounts', id, { name: id }))],
      alert_rules: [liveRule('r-1', { associated_accounts: ['3'] })],
      alert_push_destinations: [],
      account_authorizations: [live('account_authorizations', 'z', { ...role, account: '3' })],
    },
  });
  const planned = plan.changes.map(({ address, action, reason }) => [address, action, reason]);
  expect(new Set(planned)).toEqual(new Set(changes));
  expect(plan.diagnostics.map(({ code }) => code)).toEqual(codes);
});

describe('an object that is not live and cannot be created', () => {
  const role = (name: string, account: Value = '2') =>
    declare(`account_authorizations.${name}`, { user: '7', account, role: 'administrator' });
  const recorded = (name: string) => ({
    [`account_authorizations.${name}`]: entry('account_authorizations', `9-${name}`, {
      user: '7',
      account: '2',
      role: 'administrator',
    }),
  });
  const north = declare('accounts.north', { name: 'North', account: '1' });
  const linesOf = (
    declared: readonly Declaration[],
    state: Readonly<Record<string, Entry>> = {},
  ): readonly (readonly string[])[] =>
    planScene({ declared: [...declared], state })
      .plan.diagnostics.filter(({ code }) => code === 'cannot-create')
      .map(({ detail = '' }) => detail.split('\n'));

  it('is an error that says how to go on without it', () => {
    const [[advice, ...others] = []] = linesOf([role('a'), north]);
    expect(advice).toContain('Invite or authorise the user');
    expect(others).toEqual([
      'To go on without it first: trueup plan --exclude account_authorizations.a',
    ]);
    expect(linesOf([role('a')])).toEqual([[advice]]);
  });

  it('says what to do if it was live and is to stay gone, and once how to go on', () => {
    const rest =
      'To go on without them first: trueup plan --exclude account_authorizations.a --exclude account_authorizations.b';
    const all = linesOf([role('a'), role('b', '3'), north], recorded('a'));
    expect(all.map(([, ...lines]) => lines)).toEqual([
      ['If it is to stay gone, remove its declaration.', rest],
      [],
    ]);
  });

  it('says nothing of the rest beside another error', () => {
    const gone = declare('accounts.gone', { name: 'G', account: '1' }, { adopt: '404' });
    expect(
      linesOf([role('a'), north, gone])
        .flat()
        .join(),
    ).not.toContain('To go on without');
  });

  it('first needs what it refers to', () => {
    const [[waits, rest, advice, ...others] = []] = linesOf([
      north,
      role('a', new Reference('declared', 'accounts.north', 'id')),
    ]);
    expect(waits).toBe('It refers to accounts.north, which has to be created before.');
    expect(rest).toBe('To go on without it first: trueup plan --exclude account_authorizations.a');
    expect(advice).toContain('Invite or authorise the user');
    expect(others).toEqual([]);
  });

  it('names a hundred of many in the command', () => {
    const roles = Array.from({ length: 102 }, (_, index) => role(`r${index}`, `${index}`));
    const all = linesOf([...roles, north]);
    expect(all).toHaveLength(102);
    const rest = all[0]!.at(-1)!;
    expect(rest).toMatch(
      /^To go on without them first \(add `--exclude` for the 2 others of \[cannot-create\]\): trueup plan /,
    );
    expect(rest.match(/--exclude account/g)).toHaveLength(100);
  });
});

it('says what a forgotten object ends with', () => {
  const { plan } = planScene({
    declared: [declare('accounts.main', { name: 'M', account: '1' })],
    state: {
      'accounts.main': entry('accounts', '3', { name: 'M', account: '1' }),
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'account_authorizations.d': {
        ...entry('account_authorizations', 'z', { user: '7', account: '2', role: 'no_access' }),
        depends_on: ['accounts.hq', 'accounts.main'],
      },
    },
    live: {
      accounts: [root, hq, live('accounts', '3', { name: 'M', account: '1' })],
      account_authorizations: [
        live('account_authorizations', 'z', { user: '7', account: '2', role: 'administrator' }),
      ],
    },
  });
  expect(plan.changes.find(({ action }) => action === 'forget')?.reason).toMatch(
    /the role stays as long as .*; its account is to be deleted$/,
  );
});

it.each([
  ['8', 'Declare the other object under a new name; or remove'],
  ['9', 'No such object is live: correct the declaration; or remove'],
])('what is immutable is corrected by what is live, for user %s', (user, advice) => {
  const role = (id: string, whose: string) =>
    live('account_authorizations', id, { user: whose, account: '2', role: 'administrator' });
  const { plan } = planScene({
    declared: [declare('account_authorizations.d', { user, account: '2', role: 'administrator' })],
    state: {
      'account_authorizations.d': entry('account_authorizations', 'z', { user: '7', account: '2' }),
    },
    live: { account_authorizations: [role('z', '7'), role('y', '8')] },
  });
  expect(plan.diagnostics.find(({ code }) => code === 'immutable')?.detail).toContain(advice);
});

it('of a document, the members that refer to an undecided object stay beside one that changed', () => {
  const depot = new Reference('declared', 'accounts.depot', 'id');
  const { plan } = planScene({
    declared: [
      declare('accounts.depot', { name: 'Depot' }, { adopt: '4' }),
      declare('groups.g', {
        name: 'G',
        account: '1',
        configuration: [
          { lan: { owner: depot, label: new Template(['x-', depot]), list: [depot], mtu: 1 } },
          [],
        ],
      }),
    ],
    state: {
      'accounts.depot': entry('accounts', '3', { name: 'Depot' }),
      'groups.g': entry('groups', '7', {
        name: 'G',
        account: '1',
        configuration: [{ lan: { owner: '3', label: 'x-3', list: ['3'], mtu: 1 } }, []],
      }),
    },
    live: {
      accounts: [root, ...['3', '4'].map((id) => live('accounts', id, { name: id }))],
      groups: [
        live('groups', '7', {
          name: 'G',
          account: '1',
          configuration: [{ lan: { owner: '99', label: 'x-3', list: ['99'], mtu: 2 } }, []],
        }),
      ],
    },
  });
  const changed = plan.changes.flatMap((one) => ('changes' in one ? one.changes : []));
  expect(changed.map(({ path }) => path)).toEqual([
    'configuration.0.lan.owner',
    'configuration.0.lan.list',
    'configuration.0.lan.mtu',
  ]);
});

it('a reference to a value that an update gives says so', () => {
  const stamp = new Reference('declared', 'alert_push_destinations.p', 'updated_at');
  const { plan } = planScene({
    declared: [
      declare('alert_push_destinations.p', { name: 'P2', endpoint: { url: 'https://a.test' } }),
      declare('accounts.hq', { name: new Template(['HQ ', stamp]) }),
    ],
    state: {
      'alert_push_destinations.p': entry(
        'alert_push_destinations',
        'd-1',
        { name: 'P' },
        { observed: { name: 'P', updated_at: 'then' } },
      ),
      'accounts.hq': entry('accounts', '2', { name: 'HQ then' }),
    },
    live: {
      accounts: [root, live('accounts', '2', { name: 'HQ then', account: '1' })],
      alert_push_destinations: [
        live('alert_push_destinations', 'd-1', {
          name: 'P',
          endpoint: { url: 'https://a.test' },
          updated_at: 'then',
        }),
      ],
    },
  });
  expect(plan.changes.at(-1)?.reason).toBe(
    'name refers to alert_push_destinations.p, which is updated',
  );
});

it.each([
  [['7'], ['account_authorizations.u7 is the last administrator of account HQ (2)']],
  [
    ['7', '8'],
    ['7', '8'].map(
      (user) =>
        `account_authorizations.u${user} is one of the last 2 administrators of account HQ (2), and no other would be left`,
    ),
  ],
])('the last administrators are counted, with the name of their account: %j', (users, said) => {
  const { plan } = planScene({
    declared: users.map((user) =>
      declare(`account_authorizations.u${user}`, { user, account: '2', role: 'read_only_user' }),
    ),
    live: {
      accounts: [root, hq],
      account_authorizations: users.map((user) =>
        live('account_authorizations', `z${user}`, { user, account: '2', role: 'administrator' }),
      ),
    },
  });
  const found = plan.verdicts.filter(({ rule }) => rule === 'last-administrator');
  expect(found.map(({ detail }) => detail)).toEqual(said);
});

it.each(['7', 'u-7'])(
  'a user who is deactivated and demoted at once is one administrator: %s',
  (named) => {
    const user = { email: 'dana@example.com', user_id: 'u-7' };
    const { plan } = planScene({
      declared: [
        declare('users.dana', { email: user.email, is_active: false }),
        declare('account_authorizations.dana', {
          user: named,
          account: '2',
          role: 'read_only_user',
        }),
      ],
      live: {
        accounts: [root, hq],
        users: [live('users', '7', { ...user, is_active: true })],
        account_authorizations: [
          live('account_authorizations', 'z7', {
            user: named,
            account: '2',
            role: 'administrator',
          }),
        ],
      },
    });
    const found = plan.verdicts.filter(({ rule }) => rule === 'last-administrator');
    expect(found.map(({ detail }) => detail)).toEqual([
      'account_authorizations.dana is the last administrator of account HQ (2)',
      'users.dana is the last administrator of account HQ (2)',
    ]);
  },
);

it('an account that moves is no administrator', () => {
  const lab = live('accounts', '3', { name: 'Lab', account: '1' });
  const { plan } = planScene({
    declared: [
      declare('accounts.hq', { name: 'HQ', account: '3' }),
      declare('account_authorizations.dana', { user: '7', account: '2', role: 'read_only_user' }),
    ],
    state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ', account: '1' }) },
    live: {
      accounts: [root, hq, lab],
      account_authorizations: [
        live('account_authorizations', 'z7', { user: '7', account: '2', role: 'administrator' }),
      ],
    },
  });
  const found = plan.verdicts.filter(({ rule }) => rule === 'last-administrator');
  expect(found.map(({ detail }) => detail).toSorted()).toEqual([
    'account_authorizations.dana is the last administrator of account HQ (2)',
    'accounts.hq moves account HQ (2) away from its last administrator',
  ]);
});

it('destroy of a part is no reason that speaks of everything', () => {
  const { plan } = planScene({
    state: {
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
      'accounts.root': entry('accounts', '1', { name: 'Root' }),
    },
    live: { accounts: [root, hq] },
    request: { destroy: true, targets: ['accounts.hq'] },
  });
  expect(plan.changes.map(({ address, reason }) => [address, reason])).toEqual([
    ['accounts.hq', 'destroy covers it'],
  ]);
});

it.each([
  [
    'again',
    { 'alert_push_destinations.p': entry('alert_push_destinations', 'd-1', { name: 'P' }) },
    'http_destinations refers to alert_push_destinations.p, which is created',
  ],
  ['for the first time', {}, 'http_destinations changed in the declaration'],
  [
    'again, after its entry was removed',
    {},
    'http_destinations refers to alert_push_destinations.p, which is created',
    ['alert_push_destinations.p'],
  ],
  [
    'after its entry was removed and another member was declared',
    {},
    'http_destinations changed in the declaration',
    ['alert_push_destinations.p'],
    ['d-9'],
  ],
])(
  'an update that refers to what is created %s',
  (_, before, reason, depends_on = [], more = []) => {
    const destination = new Reference(
      'declared',
      'alert_push_destinations.p',
      'destination_config_id',
    );
    const { plan } = planScene({
      declared: [
        declare('alert_push_destinations.p', { name: 'P', endpoint: { url: 'https://a.test' } }),
        declare('alert_rules.r', { ...rule, http_destinations: [destination, ...more] }),
      ],
      state: {
        ...before,
        'alert_rules.r': {
          ...entry('alert_rules', 'r-1', { ...rule, http_destinations: ['d-1'] }),
          depends_on,
        },
      },
      live: {
        alert_rules: [liveRule('r-1', { http_destinations: ['d-1'] })],
        alert_push_destinations: [],
      },
    });
    expect(plan.changes.find(({ address }) => address === 'alert_rules.r')?.reason).toBe(reason);
  },
);

it.each([
  [
    ['d-1'],
    'http_destinations refers to alert_push_destinations.p.destination_config_id, which changed',
  ],
  [[], 'http_destinations changed outside of trueup'],
])(
  'an update that refers to what was replaced outside, with %j live',
  (http_destinations, reason) => {
    const destination = new Reference(
      'declared',
      'alert_push_destinations.p',
      'destination_config_id',
    );
    const { plan } = planScene({
      declared: [
        declare('alert_push_destinations.p', { name: 'Pager' }),
        declare('alert_rules.r', { ...rule, http_destinations: [destination] }),
      ],
      state: {
        'alert_push_destinations.p': entry('alert_push_destinations', 'd-1', { name: 'Pager' }),
        'alert_rules.r': entry('alert_rules', 'r-1', { ...rule, http_destinations: ['d-1'] }),
      },
      live: {
        alert_rules: [liveRule('r-1', { http_destinations })],
        alert_push_destinations: [live('alert_push_destinations', 'd-2', { name: 'Pager' })],
      },
    });
    expect(plan.changes.find(({ address }) => address === 'alert_rules.r')).toMatchObject({
      action: 'update',
      reason,
    });
  },
);

it.each<[string, readonly string[], RegExp]>([
  ['an id', [], /add `lookups: { NAME: { users: { email: "a@b.test" } } }`, and write/],
  ['e-mail address', ['a@b.test'], /is of account 1, only of 2\./],
])(
  'says how to name the user of a role whose user is an e-mail address where users go by %s',
  (_, users, advice) => {
    const of = (user: string, account: string) => ({ user, account, role: 'no_access' });
    const { plan } = planScene({
      declared: [declare('account_authorizations.a', of('a@b.test', '1'))],
      live: {
        account_authorizations: users.map((user) =>
          live('account_authorizations', 'x', of(user, '2')),
        ),
      },
    });
    expect(plan.diagnostics.flatMap(({ detail }) => detail ?? [])[0]).toMatch(advice);
  },
);

describe('an update of what refers to', () => {
  const pager = new Reference('declared', 'alert_push_destinations.p', 'destination_config_id');
  const found = new Reference('lookup', 'pager', 'destination_config_id');
  const changed = 'refers to alert_push_destinations.p.destination_config_id, which changed';
  /** Recorded after what refers to it. */
  const LATER = { applied_at: '2026-01-02T00:00:00.000Z' };

  it.each<[string, readonly Value[], readonly string[], string, (readonly string[])?, string?]>([
    ['an object that was created again', [pager], ['d-1'], `http_destinations ${changed}`],
    [
      'it, and to another one from now on',
      [pager, 'd-3'],
      ['d-1'],
      `http_destinations changed in the declaration; http_destinations ${changed}`,
    ],
    [
      'it, and was changed by others',
      [pager],
      ['d-9'],
      `http_destinations changed outside of trueup; http_destinations ${changed}`,
    ],
    ['it from now on', [pager], ['d-1'], 'http_destinations changed in the declaration', []],
    [
      'it as before, and to another one from now on',
      [pager, 'd-3'],
      ['d-2'],
      'http_destinations changed in the declaration',
      [pager.target],
      'd-2',
    ],
    [
      'what a lookup finds',
      [found],
      ['d-1'],
      'http_destinations changed in the declaration, or in lookups.pager.destination_config_id',
      [],
    ],
  ])(
    '%s says so',
    (_, http_destinations, now, reason, depends_on = [pager.target], was = 'd-1') => {
      const declared = [
        declare('alert_push_destinations.p', { name: 'Pager' }),
        declare('alert_rules.r', { ...rule, http_destinations }),
      ];
      const origin = { file: 'a.yaml', line: 1, column: 1 };
      const kind = 'alert_push_destinations';
      const { plan } = planScene({
        more: {
          project: {
            ...project(declared),
            lookups: [{ name: 'pager', kind, where: { name: 'Pager' }, origin }],
          },
        },
        state: {
          'alert_push_destinations.p': entry(kind, 'd-2', { name: 'Pager' }, LATER),
          'alert_rules.r': {
            ...entry('alert_rules', 'r-1', { ...rule, http_destinations: [was] }),
            depends_on,
          },
        },
        live: {
          alert_rules: [liveRule('r-1', { http_destinations: now })],
          alert_push_destinations: [live('alert_push_destinations', 'd-2', { name: 'Pager' })],
        },
      });
      expect(plan.changes.find(({ address }) => address === 'alert_rules.r')?.reason).toBe(reason);
    },
  );

  it.each<[string, string, object, string, string?]>([
    ['account', 'id', {}, 'account changed in the declaration'],
    ['account', 'id', LATER, 'account changed in the declaration, or in accounts.elm.id'],
    ['account', 'id', LATER, 'account changed in the declaration, or in accounts.elm.id', 'live'],
    ['account', 'id', LATER, 'account changed in the declaration, or in accounts.elm.id', 'known'],
    ['name', 'name', {}, 'name changed in the declaration'],
    ['name', 'name', LATER, 'name changed in the declaration, or in accounts.elm.name'],
  ])(
    'it as before, and with another attribute from now on, does not say so for sure: %s',
    (path, name, more, reason, other = 'live and known') => {
      const isKnown = other.includes('known');
      const before = { name: 'Sub of Fir', account: '2' };
      const to = new Reference('declared', 'accounts.elm', name);
      const { plan } = planScene({
        declared: [
          declare('accounts.elm', { name: 'Elm' }),
          ...(isKnown ? [declare('accounts.fir', { name: 'Fir' })] : []),
          declare('accounts.oak', { ...before, [path]: to }),
        ],
        state: {
          'accounts.elm': entry('accounts', '3', { name: 'Elm' }, more),
          ...(isKnown && { 'accounts.fir': entry('accounts', '2', { name: 'Fir' }) }),
          'accounts.oak': { ...entry('accounts', '4', before), depends_on: ['accounts.elm'] },
        },
        live: {
          accounts: [
            live('accounts', '1', { name: 'Root', account: null }),
            ...(other.includes('live')
              ? [live('accounts', '2', { name: 'Fir', account: '1' })]
              : []),
            live('accounts', '3', { name: 'Elm', account: '1' }),
            live('accounts', '4', before),
          ],
        },
      });
      expect(plan.changes.find(({ address }) => address === 'accounts.oak')?.reason).toBe(reason);
    },
  );

  it.each([
    ['Elm', 'Elm 2', 'Sub of Elm', 'name refers to accounts.elm.name, which changed'],
    [
      'Elm',
      'Elm 2',
      'Theirs',
      'name changed outside of trueup; name refers to accounts.elm.name, which changed',
    ],
    ['Elm 2', 'Elm', 'Sub of Elm 2', 'name refers to accounts.elm.name, which changed'],
  ])(
    'an attribute says so where it changes from %j to %j and %j is live',
    (was, is, now, reason) => {
      const name = new Template(['Sub of ', new Reference('declared', 'accounts.elm', 'name')]);
      const { plan } = planScene({
        declared: [declare('accounts.elm', { name: is }), declare('accounts.oak', { name })],
        state: {
          'accounts.elm': entry('accounts', '2', { name: was }),
          'accounts.oak': {
            ...entry('accounts', '3', { name: `Sub of ${was}` }),
            depends_on: ['accounts.elm'],
          },
        },
        live: {
          accounts: [live('accounts', '2', { name: was }), live('accounts', '3', { name: now })],
        },
      });
      expect(plan.changes.find(({ address }) => address === 'accounts.oak')?.reason).toBe(reason);
    },
  );
});

describe('requests', () => {
  const request = (proposal: ReturnType<typeof planScene>, index = 0): unknown =>
    (proposal.plan.changes[index] as { request?: unknown }).request;

  it('patches only what changes, and keeps what other hands put inside an object', () => {
    const proposal = planScene({
      declared: [declare('alert_rules.r', { ...rule, filter_criteria: { alert_type__in: ['c'] } })],
      state: { 'alert_rules.r': entry('alert_rules', 'r-1', rule) },
      live: {
        alert_rules: [liveRule('r-1', { filter_criteria: { alert_type__in: ['a'], theirs: 1 } })],
        alert_push_destinations: [pager],
      },
    });
    expect(request(proposal)).toEqual({
      method: 'PATCH',
      path: '/alert_rules/r-1/',
      body: { filter_criteria: { alert_type__in: ['c'], theirs: 1 } },
    });
  });

  it('puts every writable attribute, and a flag only where it is declared', () => {
    const scene = (values: object): unknown =>
      request(
        planScene({
          declared: [declare('accounts.hq', { name: 'Head', ...values })],
          state: { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) },
          live: {
            accounts: [
              root,
              live('accounts', '2', { name: 'HQ', account: '1', is_disabled: false }),
            ],
          },
        }),
      );
    expect(scene({})).toEqual({
      method: 'PUT',
      path: '/accounts/2/',
      body: { name: 'Head', account: '1' },
    });
    expect(scene({ is_disabled: true })).toEqual({
      method: 'PUT',
      path: '/accounts/2/',
      body: { name: 'Head', account: '1', is_disabled: true },
    });
  });

  it('never sends a masked secret back when the destination changes', () => {
    const secret = new Secret('env.S', () => 'canary');
    const proposal = planScene({
      declared: [declare('alert_push_destinations.p', { name: 'New', authentication: { secret } })],
      state: {
        'alert_push_destinations.p': entry('alert_push_destinations', 'd-1', { name: 'Pager' }),
      },
      live: { alert_push_destinations: [pager] },
      more: { secrets: new Map([['alert_push_destinations.p authentication.secret', 'same']]) },
    });
    expect(request(proposal)).toEqual({
      method: 'PATCH',
      path: '/alert_push_destinations/d-1/',
      body: { name: 'New' },
    });
  });

  it('sends a changed secret, and nothing else, as exactly one request', () => {
    const secret = new Secret('env.S', () => 'canary');
    const scene = (verdict: 'same' | 'changed' | 'unavailable') =>
      planScene({
        declared: [
          declare('alert_push_destinations.p', { name: 'Pager', authentication: { secret } }),
        ],
        state: {
          'alert_push_destinations.p': entry('alert_push_destinations', 'd-1', { name: 'Pager' }),
        },
        live: { alert_push_destinations: [pager] },
        more: { secrets: new Map([['alert_push_destinations.p authentication.secret', verdict]]) },
      });
    expect(request(scene('changed'))).toEqual({
      method: 'PATCH',
      path: '/alert_push_destinations/d-1/',
      body: { authentication: { secret } },
    });
    expect(scene('changed').plan.changes[0]?.reason).toBe(
      'authentication.secret is not recorded as sent',
    );
    expect(steps(scene('same'))).toEqual(['keep alert_push_destinations.p']);
    expect(steps(scene('unavailable'))).toEqual(['keep alert_push_destinations.p']);
    expect(codes(scene('unavailable'))).toContain('secret-unseen');
  });

  it.each<[string, Readonly<Record<string, string>> | undefined, string, string]>([
    [
      'compare',
      { 'authentication.secret': 'fingerprint' },
      'so the plan does not compare it.',
      '\nThen the plan shows whether it has to be sent.',
    ],
    ['send', {}, 'and it is not recorded as sent.', '\nThen the plan sends it.'],
    ['create', undefined, 'and apply needs it.', ''],
  ])('says which secret it lacks to %s', (_, secrets, effect, then) => {
    const secret = new Secret('env.S', () => undefined, { advice: 'Set S in the environment.' });
    const { plan } = planScene({
      declared: [
        declare('alert_push_destinations.p', { name: 'Pager', authentication: { secret } }),
      ],
      state: secrets
        ? {
            'alert_push_destinations.p': Object.assign(
              entry('alert_push_destinations', 'd-1', { name: 'Pager' }),
              { secrets },
            ),
          }
        : {},
      live: { alert_push_destinations: secrets ? [pager] : [] },
      more: {
        secrets: new Map([['alert_push_destinations.p authentication.secret', 'unavailable']]),
      },
    });
    const notes = plan.diagnostics.filter(({ code }) => code === 'secret-unseen');
    expect(notes.map(({ summary, detail }) => [summary, detail])).toEqual([
      [
        `The secret of alert_push_destinations.p is not available here, ${effect}`,
        `Set S in the environment.${then}`,
      ],
    ]);
  });

  it('says that apply needs a secret that a PUT repeats', () => {
    const secret = new Secret('env.S', () => undefined, { advice: 'Set S in the environment.' });
    const group = (mtu: number, psk: Value) => ({
      name: 'G',
      account: '1',
      configuration: [{ lan: { mtu }, wifi: { psk } }, []],
    });
    const before = {
      ...group(1, '*'),
      configuration: [{ lan: { mtu: 1 }, wifi: { psk: '*' } }, []],
    };
    const path = 'configuration.0.wifi.psk';
    const { plan } = planScene({
      declared: [declare('groups.g', group(2, secret))],
      state: {
        'groups.g': Object.assign(entry('groups', '7', before), {
          secrets: { [path]: 'fingerprint' },
        }),
      },
      live: { groups: [live('groups', '7', before)] },
      more: { secrets: new Map([[`groups.g ${path}`, 'unavailable']]) },
    });
    expect(plan.diagnostics).toMatchObject([
      {
        code: 'secret-unseen',
        summary: 'The secret of groups.g is not available here, and apply needs it.',
      },
    ]);
  });

  it('leaves what is not known yet as a reference, and fills in what is', () => {
    const target = new Reference('declared', 'alert_push_destinations.p', 'destination_config_id');
    const values = {
      ...rule,
      http_destinations: [target],
      schedule: new Template([
        'at ',
        new Reference('declared', 'alert_push_destinations.p', 'name'),
      ]),
    };
    const made = planScene({
      declared: [
        declare('alert_push_destinations.p', { name: 'New' }),
        declare('alert_rules.r', values),
      ],
    });
    expect((request(made, 1) as { body: unknown }).body).toMatchObject({
      http_destinations: [target],
      schedule: 'at New',
    });
    const known = planScene({
      declared: [
        declare('alert_push_destinations.p', { name: 'Pager' }),
        declare('alert_rules.r', values),
      ],
      live: { alert_push_destinations: [pager] },
    });
    expect((request(known, 1) as { body: unknown }).body).toMatchObject({
      http_destinations: ['d-1'],
      schedule: 'at Pager',
    });
  });

  it('says that a list was changed outside if what it refers to is created again', () => {
    const target = new Reference('declared', 'alert_push_destinations.p', 'destination_config_id');
    const { plan } = planScene({
      declared: [
        declare('alert_push_destinations.p', { name: 'Pager' }),
        declare('alert_rules.r', { ...rule, http_destinations: [target] }),
      ],
      state: {
        'alert_push_destinations.p': entry('alert_push_destinations', 'd-1', { name: 'Pager' }),
        'alert_rules.r': entry('alert_rules', 'r-1', rule),
      },
      live: { alert_rules: [liveRule('r-1', { http_destinations: [] })] },
    });
    expect(plan.changes.map(({ address, reason }) => [address, reason])).toContainEqual([
      'alert_rules.r',
      'http_destinations changed outside of trueup',
    ]);
  });

  it('lets referrers go before what they refer to', () => {
    const state: Record<string, Entry> = {
      'alert_push_destinations.p': entry('alert_push_destinations', 'd-1', { name: 'Pager' }),
      'alert_rules.r': entry('alert_rules', 'r-1', rule),
      'alert_rules.s': entry('alert_rules', 'r-2', rule),
      'accounts.hq': entry('accounts', '2', { name: 'HQ' }),
    };
    const proposal = planScene({
      declared: [
        declare('alert_rules.s', { ...rule, http_destinations: [], associated_accounts: ['1'] }),
      ],
      state,
      live: {
        accounts: [root, hq],
        alert_rules: [liveRule('r-1'), liveRule('r-2')],
        alert_push_destinations: [pager],
      },
      request: { allow: ['all-removed', 'rule-without-destination', 'account-in-use'] },
    });
    expect(steps(proposal).slice(0, 2)).toEqual(['update alert_rules.s', 'delete alert_rules.r']);
    const gone = proposal.plan.changes.find(
      (change) => change.address === 'alert_push_destinations.p',
    );
    expect(gone?.depends_on).toEqual(['alert_rules.r', 'alert_rules.s']);
  });
});

describe('a state of which nothing is declared here', () => {
  const [one, other] = [
    entry('accounts', '2', { name: 'One' }),
    entry('accounts', '3', { name: 'Other' }),
  ];
  const live = {
    accounts: [root, { ...hq, id: '2', name: 'One' }, { ...hq, id: '3', name: 'Other' }],
  };
  const codes = (
    names: readonly string[],
    state: Record<string, Entry>,
    request: Parameters<typeof planScene>[0]['request'] = {},
  ): readonly string[] =>
    planScene({
      declared: names.map((name) => declare(`accounts.${name}`, { name })),
      state,
      live,
      request: { allow: ['all-removed'], ...request },
    }).plan.diagnostics.map(({ code }) => code);

  it('may be that of another project, which is said', () => {
    const both = { 'accounts.one': one, 'accounts.other': other };
    expect(codes(['mine'], both)).toContain('foreign-state');
    expect(codes(['one', 'mine'], both)).not.toContain('foreign-state');
    expect(codes([], both)).not.toContain('foreign-state');
    // No rule blocks a destroy.
    expect(codes(['mine'], both, { destroy: true })).toContain('foreign-state');
    expect(codes(['one', 'mine'], both, { destroy: true })).not.toContain('foreign-state');
    expect(codes([], both, { destroy: true })).not.toContain('foreign-state');
    // Members of one name, under other keys or none.
    const members = { 'accounts.x["a"]': one, 'accounts.x["b"]': other };
    expect(codes(['x'], members)).not.toContain('foreign-state');
    expect(codes(['y'], members)).toContain('foreign-state');
    // One object may just have another name now.
    expect(codes(['mine'], { 'accounts.one': one })).not.toContain('foreign-state');
  });

  it('blocks the plan where the state is remote and no project is named', () => {
    const both = { 'accounts.one': one, 'accounts.other': other };
    const blocks = (
      names: readonly string[],
      state: Record<string, Entry>,
      request: Parameters<typeof planScene>[0]['request'] = {},
      more: Partial<Project> = {},
    ) => {
      const declared = names.map((name) => declare(`accounts.${name}`, { name }));
      const { plan } = planScene({
        declared,
        state,
        live,
        request,
        more: { project: { ...project(declared), is_state_unnamed: true, ...more } },
      });
      return [
        plan.diagnostics.filter(({ code }) => code === 'foreign-state').length,
        plan.verdicts.flatMap(({ rule, verdict }) => (rule === 'all-removed' ? verdict : [])),
      ];
    };
    expect(blocks(['mine'], both)).toEqual([0, ['blocked']]);
    expect(blocks(['mine'], both, { allow: ['all-removed'] })).toEqual([0, ['allowed']]);
    // A part of the plan that removes nothing is safe, but writes to the state of the other project.
    expect(blocks(['mine'], both, { targets: ['accounts.mine'] })).toEqual([1, []]);
    expect(blocks(['mine'], both, { destroy: true })).toEqual([1, []]);
    expect(blocks(['one', 'mine'], both)).toEqual([0, []]);
    expect(blocks(['mine'], { 'accounts.one': one })).toEqual([0, []]);
    // The other project has files that the PATHs of this one do not cover.
    const files = { ...both, 'accounts.other': { ...other, file: 'b.yaml' } };
    const paths = { paths: ['a.yaml'] };
    expect(blocks(['mine'], files, {}, paths)).toEqual([0, ['blocked']]);
    expect(blocks([], files, {}, paths)).toEqual([0, ['blocked']]);
    expect(blocks(['mine'], files, {}, { paths: ['c.yaml'] })).toEqual([1, []]);
    // What the PATHs leave out is declared in this project.
    const outside_paths = [declare('accounts.other', { name: 'Other' })];
    expect(blocks(['mine'], files, {}, { ...paths, outside_paths })).toEqual([0, []]);
  });
});

describe('a value inside of the key of a reference', () => {
  it.each([
    ['each.key', 'Write the member without quotes: ${accounts.a[each.key].id}.'],
    [
      'param.region',
      'Nothing is filled in inside the quotes of a key. Write the key itself, or give the whole reference to a template where it is used.',
    ],
  ])('is not filled in: %s', (value, detail) => {
    const rule = declare('alert_rules.r', {
      associated_accounts: [new Reference('declared', `accounts.a["\${${value}}"]`, 'id')],
      filter_criteria: { alert_type__in: ['account_locked'] },
    });
    const { plan } = planScene({ declared: [rule], state: {}, live: { accounts: [root] } });
    expect(plan.diagnostics.map((one) => one.detail)).toEqual([detail]);
  });
});

describe('a name that was given up', () => {
  const state = { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }) };
  const renamed = declare('accounts.new', { name: 'HQ' }, { renamed_from: 'hq' });
  const advice = (proposal: Proposal): readonly unknown[] =>
    proposal.plan.diagnostics.map(({ summary, detail }) => [summary, detail]);

  it.each<[string, Record<string, Entry>]>([
    ['before it is', state],
    ['after it was', { 'accounts.new': entry('accounts', '2', { name: 'HQ' }) }],
  ])('is no longer referred to, %s', (_, resources) => {
    const rule = declare('alert_rules.r', {
      associated_accounts: [new Reference('declared', 'accounts.hq', 'id')],
      filter_criteria: { alert_type__in: ['account_locked'] },
    });
    const proposal = planScene({
      declared: [renamed, rule],
      state: resources,
      live: { accounts: [root, hq] },
    });
    expect([proposal.exit, advice(proposal)]).toEqual([
      1,
      [
        [
          'alert_rules.r refers to accounts.hq, which was renamed to accounts.new.',
          'Write ${accounts.new.id}.',
        ],
      ],
    ]);
  });

  it.each(['accounts.neww', 'accounts.hq'])(
    'an object is not told to refer to itself: %s',
    (name) => {
      const own = declare(
        'accounts.new',
        { name: 'HQ', account: new Reference('declared', name, 'id') },
        { renamed_from: 'hq' },
      );
      const proposal = planScene({ declared: [own], state, live: { accounts: [root, hq] } });
      expect(advice(proposal)).toEqual([
        [
          `accounts.new refers to ${name}, which is declared nowhere.`,
          expect.stringMatching(/^Declare it/),
        ],
      ]);
    },
  );

  it('is given away by a command that can be typed, where its file is not covered or not there', () => {
    const elsewhere = { 'accounts.hq': entry('accounts', '2', { name: 'HQ' }, { file: 'x.yaml' }) };
    const project = { ...projectOf([renamed]), paths: ['y.yaml'] };
    const proposal = planScene({
      declared: [renamed],
      state: elsewhere,
      live: { accounts: [root, hq] },
      more: { project },
    });
    expect(advice(proposal)).toEqual([
      [
        'accounts.new was renamed from accounts.hq, but that was declared in x.yaml, which is not covered.',
        'If that file still exists, add it to the PATHs: x.yaml\nIf nothing there declares it any more, move it to the new address: trueup state mv accounts.hq accounts.new',
      ],
    ]);
    const moved = { 'accounts.new': entry('accounts', '2', { name: 'HQ' }, { file: 'x.yaml' }) };
    expect(
      steps(
        planScene({
          declared: [renamed],
          state: moved,
          live: { accounts: [root, hq] },
          more: { project },
        }),
      ),
    ).toEqual(['keep accounts.new']);
  });
});

describe('identities that hold what is not known yet', () => {
  const site = (key: string): string => `accounts.site[${JSON.stringify(key)}]`;
  const sites = (...keys: readonly string[]): readonly Declaration[] =>
    keys.map((key, index) => declare(site(key), { name: `Site ${index}`, account: '1' }));
  const idOf = (key: string): Reference => new Reference('declared', site(key), 'id');

  it.each([
    ['a/b', 'c/b'],
    ['a/b', 'b'],
    ['a?b', 'a?c'],
    ['a#b', 'a#c'],
    ['a?b', 'a#b'],
    ['a/ b', 'a/b'],
    [' a', 'a'],
    ['a"/b', "a'/b"],
    ['a&amp;b', 'a&b'],
    ['https://x.example.com/1/', 'https://y.example.com/1/'],
    ['', '/'],
  ])('of the keys %j and %j are two objects', (one, other) => {
    const proposal = planScene({
      declared: [
        ...sites(one, other),
        declare('accounts.a', { name: 'Gate', account: idOf(one) }),
        declare('accounts.b', { name: 'Gate', account: idOf(other) }),
        declare('alert_rules.a', { associated_accounts: [idOf(one)] }),
        declare('alert_rules.b', { associated_accounts: [idOf(other)] }),
      ],
      live: { accounts: [root] },
    });
    expect([codes(proposal), proposal.exit, steps(proposal).length]).toEqual([[], 2, 6]);
  });

  it.each(['a', 'a/b', 'a?b', 'a#b', ' a b ', 'a"b', "a'b", '${x}', ''])(
    'of the key %j are one object, and are told by the address alone',
    (key) => {
      const [one, other] = [idOf(key), idOf('other')];
      const proposal = planScene({
        declared: [
          ...sites(key, 'other'),
          declare('alert_rules.a', { associated_accounts: [one, other] }),
          declare('alert_rules.b', { associated_accounts: [other, one] }),
        ],
        live: { accounts: [root] },
      });
      expect([codes(proposal), proposal.exit]).toEqual([['identical-declarations'], 1]);
      expect(JSON.stringify([proposal.plan, proposal.awaited])).not.toMatch(/[0-9a-f]{64}/);
    },
  );
});

describe('a swap of administrators', () => {
  const swap = (count: number): Scene => ({
    declared: Array.from({ length: 2 * count }, (_, index) =>
      declare(`account_authorizations.a${String(index).padStart(5, '0')}`, {
        user: String(index),
        account: '2',
        role: index % 2 === 0 ? 'no_access' : 'administrator',
      }),
    ),
    live: {
      accounts: [root, hq],
      account_authorizations: Array.from({ length: 2 * count }, (_, index) =>
        live('account_authorizations', `z${index}`, {
          user: String(index),
          account: '2',
          role: index % 2 === 0 ? 'administrator' : 'no_access',
        }),
      ),
    },
  });
  const waits = (scene: Scene): readonly (readonly [string, readonly string[]])[] =>
    planScene(scene).plan.changes.map((change) => [change.address, change.depends_on] as const);

  it('lets each demotion wait for a promotion of its own', () => {
    expect(waits(swap(2))).toEqual([
      ['account_authorizations.a00001', []],
      ['account_authorizations.a00003', []],
      ['account_authorizations.a00000', ['account_authorizations.a00001']],
      ['account_authorizations.a00002', ['account_authorizations.a00003']],
    ]);
  });

  it('deals promotions out in turn, and takes those of the nearest account', () => {
    const { declared, live: cloud } = swap(2);
    const more = ['20', '22', '24'].map((user) =>
      declare(`account_authorizations.b${user}`, { user, account: '2', role: 'no_access' }),
    );
    const above = declare('account_authorizations.top', {
      user: '90',
      account: '1',
      role: 'administrator',
    });
    const scene: Scene = {
      declared: [...(declared ?? []), ...more, above],
      live: {
        ...cloud,
        account_authorizations: [
          ...(cloud?.['account_authorizations'] ?? []),
          ...more.map((_, index) =>
            live('account_authorizations', `y${index}`, {
              user: String(20 + 2 * index),
              account: '2',
              role: 'administrator',
            }),
          ),
          live('account_authorizations', 'top', { user: '90', account: '1', role: 'no_access' }),
        ],
      },
    };
    const [one, three] = ['account_authorizations.a00001', 'account_authorizations.a00003'];
    expect(
      waits(scene)
        .filter(([, on]) => on.length > 0)
        .map(([, on]) => on),
    ).toEqual([[one], [three], [one], [three], [one]]);
  });

  it('writes no more than one wait for each of thousands', () => {
    expect(waits(swap(2500)).reduce((sum, [, on]) => sum + on.length, 0)).toBe(2500);
  });
});

describe('policy', () => {
  const authorization = (id: string, user: string, account: string, role: string): Live =>
    live('account_authorizations', id, { user, account, role });
  const demote = (address: string, user: string, account: string, role: string): Declaration =>
    declare(address, { user, account, role });
  const accounts = [
    root,
    hq,
    ...Array.from({ length: 12 }, (_, index) =>
      live('accounts', String(100 + index), { name: `n${index}`, account: '1' }),
    ),
  ];
  const recorded = Object.fromEntries(
    accounts
      .slice(2)
      .map((one, index) => [
        `accounts.n${index}`,
        entry('accounts', one.id, { name: `n${index}` }),
      ]),
  );
  const declared = accounts
    .slice(2)
    .map((_, index) => declare(`accounts.n${index}`, { name: `n${index}` }));

  const rows: readonly (Scene & { title: string; blocks: readonly string[] })[] = [
    {
      title: 'six deletes',
      declared: declared.slice(6),
      state: recorded,
      live: { accounts },
      request: { allow: ['max-changed'] },
      blocks: ['max-deletes'],
    },
    {
      title: 'five deletes',
      declared: declared.slice(5),
      state: recorded,
      live: { accounts },
      request: { allow: ['max-changed'] },
      blocks: [],
    },
    {
      title: 'one delete after five within a day',
      declared: declared.slice(1),
      state: recorded,
      spent: Array.from({ length: 5 }, () => ({
        at: '2026-01-01T12:00:00Z',
        action: 'delete' as const,
      })),
      live: { accounts },
      request: { allow: ['max-changed'] },
      blocks: ['max-deletes'],
    },
    {
      title: 'one delete after five the day before',
      declared: declared.slice(1),
      state: recorded,
      spent: Array.from({ length: 5 }, () => ({
        at: '2025-12-31T12:00:00Z',
        action: 'delete' as const,
      })),
      live: { accounts },
      blocks: [],
    },
    {
      title: 'a third of the objects',
      declared: declared.slice(4),
      state: recorded,
      live: { accounts },
      blocks: ['max-changed'],
    },
    {
      title: 'a quarter of the objects',
      declared: declared.slice(3),
      state: recorded,
      live: { accounts },
      blocks: [],
    },
    {
      title: 'creations never count',
      declared: [
        ...declared,
        ...Array.from({ length: 20 }, (_, index) =>
          declare(`accounts.m${index}`, { name: `m${index}` }),
        ),
      ],
      state: recorded,
      live: { accounts },
      blocks: [],
    },
    {
      title: 'a kind that vanished from the given PATHs, and is declared elsewhere',
      declared: [],
      state: {
        'accounts.n0': recorded['accounts.n0'] as Entry,
        'accounts.n1': { ...(recorded['accounts.n1'] as Entry), file: '../elsewhere.yaml' },
      },
      live: { accounts },
      blocks: [],
    },
    {
      title: 'a kind that vanished',
      declared: [],
      state: { 'accounts.n0': recorded['accounts.n0'] as Entry },
      live: { accounts },
      blocks: ['all-removed'],
    },
    {
      title: 'destroy is not a vanished kind',
      declared: [],
      state: { 'accounts.n0': recorded['accounts.n0'] as Entry },
      live: { accounts },
      request: { destroy: true },
      blocks: [],
    },
    {
      title: 'destroy of what was renamed and is protected under its new name',
      declared: [declare('accounts.new', { name: 'n0' }, { renamed_from: 'n0', protect: true })],
      state: { 'accounts.n0': recorded['accounts.n0'] as Entry },
      live: { accounts },
      request: { destroy: true },
      blocks: ['protected'],
    },
    {
      title: 'a protected object',
      declared: declared.slice(1, 2),
      state: {
        'accounts.n0': { ...(recorded['accounts.n0'] as Entry), protect: true },
        'accounts.n1': recorded['accounts.n1'] as Entry,
      },
      live: { accounts },
      blocks: ['protected'],
    },
    {
      title: 'the last administrator',
      declared: [demote('account_authorizations.d', '7', '2', 'read_only_user')],
      live: { accounts, account_authorizations: [authorization('z', '7', '2', 'administrator')] },
      blocks: ['last-administrator'],
    },
    {
      title: 'an administrator of an ancestor remains',
      declared: [demote('account_authorizations.d', '7', '2', 'read_only_user')],
      live: {
        accounts,
        account_authorizations: [
          authorization('z', '7', '2', 'administrator'),
          authorization('y', '8', '1', 'administrator'),
        ],
      },
      blocks: [],
    },
    {
      title: 'an unknown role does not administrate',
      declared: [demote('account_authorizations.d', '7', '2', 'read_only_user')],
      live: {
        accounts,
        account_authorizations: [
          authorization('z', '7', '2', 'administrator'),
          authorization('y', '8', '2', 'super_administrator'),
        ],
      },
      blocks: ['last-administrator'],
    },
    {
      title: 'both administrators at once',
      declared: [
        demote('account_authorizations.a', '7', '2', 'no_access'),
        demote('account_authorizations.b', '8', '2', 'no_access'),
      ],
      live: {
        accounts,
        account_authorizations: [
          authorization('z', '7', '2', 'administrator'),
          authorization('y', '8', '2', 'administrator'),
        ],
      },
      blocks: ['last-administrator'],
    },
    {
      title: 'an account leaves its last administrator behind',
      declared: [declare('accounts.n1', { name: 'n1', account: '1' })],
      state: { 'accounts.n1': entry('accounts', '101', { name: 'n1', account: '2' }) },
      live: {
        accounts: [
          root,
          hq,
          live('accounts', '101', { name: 'n1', account: '2' }),
          live('accounts', '102', { name: 'below', account: '101' }),
        ],
        account_authorizations: [
          authorization('z', '7', '2', 'administrator'),
          authorization('y', '8', '102', 'administrator'),
        ],
      },
      blocks: ['last-administrator'],
    },
    {
      title: 'an account moves to where somebody administrates',
      declared: [declare('accounts.n1', { name: 'n1', account: '1' })],
      state: { 'accounts.n1': entry('accounts', '101', { name: 'n1', account: '2' }) },
      live: {
        accounts: [root, hq, live('accounts', '101', { name: 'n1', account: '2' })],
        account_authorizations: [
          authorization('z', '7', '2', 'administrator'),
          authorization('y', '8', '1', 'administrator'),
        ],
      },
      blocks: [],
    },
    {
      title: 'a promotion comes before the demotion',
      declared: [
        demote('account_authorizations.a', '7', '2', 'no_access'),
        demote('account_authorizations.b', '8', '2', 'administrator'),
      ],
      live: {
        accounts,
        account_authorizations: [
          authorization('z', '7', '2', 'administrator'),
          authorization('y', '8', '2', 'no_access'),
        ],
      },
      blocks: ['privilege-escalation'],
    },
    {
      title: 'a rise in privilege',
      declared: [demote('account_authorizations.a', '7', '2', 'full_access_user')],
      live: { accounts, account_authorizations: [authorization('z', '7', '2', 'read_only_user')] },
      blocks: ['privilege-escalation'],
    },
    {
      title: 'from no access to an unknown role',
      declared: [demote('account_authorizations.a', '7', '2', 'diagnostic')],
      live: { accounts, account_authorizations: [authorization('z', '7', '2', 'no_access')] },
      blocks: ['privilege-escalation'],
    },
    {
      title: 'from an unknown role to no access',
      declared: [demote('account_authorizations.a', '7', '2', 'no_access')],
      live: { accounts, account_authorizations: [authorization('z', '7', '2', 'diagnostic')] },
      blocks: [],
    },
    {
      title: 'from an unknown role to administrator',
      declared: [demote('account_authorizations.a', '7', '2', 'administrator')],
      live: { accounts, account_authorizations: [authorization('z', '7', '2', 'diagnostic')] },
      blocks: ['privilege-escalation'],
    },
    {
      title: 'a fall in privilege',
      declared: [demote('account_authorizations.a', '7', '2', 'read_only_user')],
      live: {
        accounts,
        account_authorizations: [authorization('z', '7', '2', 'full_access_user')],
      },
      blocks: [],
    },
    {
      title: 'an account that holds a rule',
      declared: [declare('accounts.n1', { name: 'n1' })],
      state: {
        'accounts.n0': recorded['accounts.n0'] as Entry,
        'accounts.n1': recorded['accounts.n1'] as Entry,
      },
      live: { accounts, alert_rules: [liveRule('r-9', { associated_accounts: [100] })] },
      blocks: ['account-in-use'],
    },
    {
      title: 'an account whose only role is no access',
      declared: [declare('accounts.n1', { name: 'n1' })],
      state: {
        'accounts.n0': recorded['accounts.n0'] as Entry,
        'accounts.n1': recorded['accounts.n1'] as Entry,
      },
      live: { accounts, account_authorizations: [authorization('z', '7', '100', 'no_access')] },
      blocks: [],
    },
    {
      title: 'a rule loses its last destination',
      declared: [declare('alert_push_destinations.p', { name: 'Pager', enabled: false })],
      live: { alert_push_destinations: [pager], alert_rules: [liveRule('r-9')] },
      blocks: ['rule-without-destination'],
    },
    {
      title: 'a rule nobody heard before',
      declared: [declare('alert_push_destinations.p', { name: 'Pager', enabled: false })],
      live: {
        alert_push_destinations: [
          live('alert_push_destinations', 'd-1', { name: 'Pager', enabled: true, suspended: true }),
        ],
        alert_rules: [liveRule('r-9')],
      },
      blocks: [],
    },
    {
      title: 'a rule that still goes out by e-mail',
      declared: [declare('alert_push_destinations.p', { name: 'Pager', enabled: false })],
      live: {
        alert_push_destinations: [pager],
        alert_rules: [liveRule('r-9', { email_destinations: [4] })],
      },
      blocks: [],
    },
    {
      title: 'a rule loses its scope',
      declared: [declare('alert_rules.r', { ...rule, associated_accounts: [] })],
      state: { 'alert_rules.r': entry('alert_rules', 'r-1', rule) },
      live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
      blocks: ['rule-without-destination'],
    },
    ...[true, false].map((enabled) => ({
      title: `a rule turns to a new destination that is ${enabled ? 'enabled' : 'disabled'}`,
      declared: [
        declare('alert_push_destinations.n', {
          name: 'New',
          enabled,
          endpoint: { url: 'https://hooks.example.com' },
        }),
        declare('alert_rules.r', {
          ...rule,
          http_destinations: [
            new Reference('declared', 'alert_push_destinations.n', 'destination_config_id'),
          ],
        }),
      ],
      state: { 'alert_rules.r': entry('alert_rules', 'r-1', rule) },
      live: { alert_rules: [liveRule('r-1')], alert_push_destinations: [pager] },
      blocks: enabled ? [] : ['rule-without-destination'],
    })),
    {
      title: 'a destination moves to another domain',
      declared: [
        declare('alert_push_destinations.p', {
          name: 'Pager',
          endpoint: { url: 'https://a.example.net' },
        }),
      ],
      live: { alert_push_destinations: [pager] },
      blocks: ['destination-moved'],
    },
    {
      title: 'a destination moves within its domain',
      declared: [
        declare('alert_push_destinations.p', {
          name: 'Pager',
          endpoint: { url: 'https://b.example.com' },
        }),
      ],
      live: { alert_push_destinations: [pager] },
      blocks: [],
    },
  ];

  // What is adopted here changes, which a first run has to be allowed.
  it.each(
    rows.map((row) => ({
      ...row,
      request: { ...row.request, allow: [...(row.request?.allow ?? []), 'first-run' as const] },
    })),
  )('$title', (row) => {
    const proposal = planScene(row);
    expect(blocked(proposal)).toEqual(row.blocks);
    expect(proposal.exit === 3).toBe(row.blocks.length > 0);
    const allowed = planScene({
      ...row,
      request: { ...row.request, allow: [...(row.request?.allow ?? []), ...row.blocks] as never },
    });
    expect(blocked(allowed)).toEqual([]);
    expect(steps(allowed)).toEqual(steps(proposal));
  });

  it.each([
    ['that was silent before', false, ['silent-destinations']],
    ['that this plan silences, which the rule against it says', true, []],
  ])('warns of a declared rule %s', (_, enabled, warned) => {
    const { plan } = planScene({
      declared: [
        declare('alert_push_destinations.p', { name: 'Pager', enabled: false }),
        declare('alert_rules.r', rule),
      ],
      state: { 'alert_rules.r': entry('alert_rules', 'r-1', rule) },
      live: {
        alert_push_destinations: [
          live('alert_push_destinations', 'd-1', { name: 'Pager', enabled }),
        ],
        alert_rules: [liveRule('r-1')],
      },
    });
    const codes = plan.diagnostics.map(({ code }) => code);
    expect(codes.filter((code) => code === 'silent-destinations')).toEqual(warned);
  });

  it.each([
    ['disabled', { enabled: false }, undefined],
    [
      'suspended',
      { suspended: true },
      'To resume alert_push_destinations.p: declare `suspended: false` in it, and apply.',
    ],
  ])('warns once of the rules that one destination silences: %s', (word, values, next) => {
    const names = ['a', 'b', 'c', 'd'];
    const { plan } = planScene({
      declared: [
        declare('alert_push_destinations.p', { name: 'Pager' }),
        ...names.map((name) => declare(`alert_rules.${name}`, rule)),
      ],
      state: {
        'alert_push_destinations.p': entry('alert_push_destinations', 'd-1', { name: 'Pager' }),
        ...Object.fromEntries(
          names.map((name) => [`alert_rules.${name}`, entry('alert_rules', `r-${name}`, rule)]),
        ),
      },
      live: {
        alert_push_destinations: [
          live('alert_push_destinations', 'd-1', { name: 'Pager', ...values }),
        ],
        alert_rules: names.map((name) => liveRule(`r-${name}`)),
      },
    });
    expect(plan.diagnostics.filter(({ code }) => code === 'silent-destinations')).toMatchObject([
      {
        summary: `alert_push_destinations.p is ${word}, so the alerts of 4 alert_rules are not delivered.`,
        detail: [...names.map((name) => `alert_rules.${name}`), next ?? []].flat().join('\n'),
        address: 'alert_rules.a',
      },
    ]);
  });
});
