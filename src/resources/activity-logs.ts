// The activity log: every change of an object, except rules and destinations, kept for 30 days. Read only.
import { choice, collection, document, integer, object, text } from '../model/index.js';

export const activityLogs = collection({
  name: 'activity_logs',
  singular: 'activity_log',
  doc: 'Changes to objects: what, when, and by whom.',
  id: 'action.id',
  log: true,
  attributes: {
    action: object('What was done.', {
      id: text('Identifier of the record, time-based.'),
      timestamp: text('When.', { wire: 'timestamp' }),
      type: integer('Numeric code of the action.'),
      type_name: choice(
        'The action.',
        ['create', 'delete', 'update', 'request', 'report', 'register', 'unregister', 'activate'],
        { open: true },
      ),
      before: document('State of the object before.'),
      after: document('State of the object afterwards.'),
    }),
    actor: object('Who did it.', {
      id: text('Identifier.'),
      email: text('E-mail address of a user.'),
      type: integer('Numeric code of the kind of actor.'),
      type_name: choice(
        'The kind of actor.',
        ['system', 'api_key', 'router', 'sso_user', 'access_point'],
        { open: true },
      ),
    }),
    object: object('What it was done to.', {
      id: text('Identifier.'),
      type: integer('Numeric code of the kind of object.'),
      type_name: text('The kind of object.'),
    }),
  },
  columns: [
    'action.timestamp',
    'action.type_name',
    'actor.type_name',
    'actor.email',
    'actor.id',
    'object.type_name',
    'object.id',
  ],
  operations: {
    dialect: 'v2',
    collection: 'activity_logs',
    paging: 'offset',
    page: 500,
    by_id: 'action__id__exact',
    filters: [
      'account',
      ...['created_at', 'action__timestamp'].flatMap((name) =>
        ['exact', 'lt', 'lte', 'gt', 'gte'].map((word) => `${name}__${word}`),
      ),
      'actor__id',
      'object__id',
      'actor__type',
      'action__type',
      'object__type',
    ],
    time: 'action.timestamp',
    since: 'action__timestamp__gte',
    until: 'action__timestamp__lte',
  },
});
