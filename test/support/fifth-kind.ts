// A kind nobody has: one file and one line, and everything else follows.
import {
  choice,
  flag,
  integer,
  kind,
  kindsOf,
  list,
  map,
  number,
  object,
  anyRef,
  set,
  text,
  type Kinds,
} from '../../src/model/index.js';
import { kinds } from '../../src/resources/index.js';

export const geofences = kind({
  name: 'geofences',
  singular: 'geofence',
  doc: 'A made-up kind with an attribute of every word.',
  id: 'id',
  identity: ['name'],
  attributes: {
    name: text('Display name.'),
    account: anyRef('Account it belongs to.', 'accounts', { optional: true, wire: 'url' }),
    radius: integer('Metres.', { optional: true }),
    latitude: number('Degrees.', { optional: true }),
    active: flag('Whether it is watched.', { optional: true }),
    mode: choice('What is reported.', ['enter', 'leave'], { optional: true }),
    points: list('Corners, in order.', text('A corner.'), { optional: true }),
    watchers: set(
      'Accounts that are told.',
      anyRef('An account.', 'accounts', { wire: 'integer' }),
      { optional: true },
    ),
    labels: map('Labels.', text('A value.'), { optional: true }),
    hook: object(
      'Who is called.',
      {
        url: text('Address.', { format: 'url' }),
        token: text('Key.', { secret: true, optional: true }),
      },
      { optional: true },
    ),
    id: text('Record id.', { computed: true }),
    updated_at: text('Time of the last change.', {
      computed: true,
      changed_by: 'any',
      wire: 'timestamp',
    }),
  },
  operations: {
    dialect: 'v2',
    collection: 'geofences',
    paging: 'offset',
    page: 500,
    by_id: 'id',
    by_ids: 'id__in',
    create: 'POST',
    update: 'PATCH',
    delete: 'DELETE',
  },
  example: {
    name: 'Yard',
    account: '${accounts.example.id}',
    radius: 250,
    mode: 'enter',
    points: ['1,1', '1,2', '2,2'],
    labels: { team: 'north' },
  },
});

export const fiveKinds: Kinds = kindsOf([...kinds.values(), geofences]);

const v2 = {
  dialect: 'v2',
  paging: 'offset',
  page: 500,
  by_id: 'id',
  by_ids: 'id__in',
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
} as const;

/** Identified by a number that is fixed: the new one can be there beside the old one. */
const beacons = kind({
  name: 'beacons',
  singular: 'beacon',
  doc: 'A made-up kind that is replaced, the new object first.',
  id: 'id',
  identity: ['channel'],
  attributes: {
    channel: integer('The channel.', { immutable: true }),
    power: integer('The power.', { optional: true, immutable: true }),
    label: text('What it says.', { optional: true }),
    gate: anyRef('Its gate.', 'gates', { optional: true, wire: 'url' }),
    id: text('Record id.', { computed: true }),
  },
  operations: { ...v2, collection: 'beacons' },
  example: { channel: 1, label: 'North' },
});

/** Identified by a name: the old one has to go first. */
const gates = kind({
  name: 'gates',
  singular: 'gate',
  doc: 'A made-up kind that is replaced, the old object first.',
  id: 'id',
  identity: ['name'],
  attributes: {
    name: text('Display name.'),
    shape: choice('The shape.', ['round', 'square'], { optional: true, immutable: true }),
    hook: object(
      'Who is called.',
      {
        url: text('Address.', { format: 'url' }),
        token: text('Key.', { secret: true, optional: true }),
      },
      { optional: true, immutable: true },
    ),
    colour: text('The colour.', { optional: true }),
    beacon: anyRef('Its beacon.', 'beacons', { optional: true, wire: 'url' }),
    id: text('Record id.', { computed: true }),
  },
  operations: { ...v2, collection: 'gates' },
  example: { name: 'North', shape: 'round' },
});

/** Identified by its content. */
const marks = kind({
  name: 'marks',
  singular: 'mark',
  doc: 'A made-up kind that is replaced, and recognised by its content.',
  id: 'id',
  identity: 'content',
  attributes: {
    channel: integer('The channel.', { immutable: true }),
    id: text('Record id.', { computed: true }),
  },
  operations: { ...v2, collection: 'marks' },
  example: { channel: 1 },
});

/** The kinds of the service, and those whose objects are replaced. */
export const replaceable: Kinds = kindsOf([...kinds.values(), beacons, gates, marks]);
