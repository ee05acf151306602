// Everything that is assumed of the service, and what happens if it is wrong. `npm run generate` writes
// the ledger of docs/explanation/api.md from it, and `trueup doctor --check-api` names its checks by it.

/** Where an assumption comes from. `confirmed` and `inferred`: from public material about services of this shape. */
export type Source = 'reference' | 'confirmed' | 'inferred' | 'unknown';

interface Assumption {
  /** Kebab-case, as doctor prints it. */
  readonly name: string;
  readonly assumed: string;
  readonly source: Source;
  /** What happens if it is wrong: the guard that notices, or what goes wrong. */
  readonly otherwise: string;
  /** Below `test/`: files that test the other reading, or its guard. */
  readonly tests: readonly string[];
}

interface Area {
  readonly title: string;
  readonly assumptions: readonly Assumption[];
}

const lists = [
  {
    name: 'v2-next',
    assumed:
      'A listing has `data` and `meta.next`, and ends with a `meta.next` of null. There is no total.',
    source: 'reference',
    otherwise:
      'A page without them is refused, and with it the plan. So is a listing that leads back to itself, or continues beyond ten empty pages or 1,000,000 records.',
    tests: ['unit/client/listing.test.ts', 'unit/emulator/faults.test.ts'],
  },
  {
    name: 'v2-limit',
    assumed: '`limit` is honoured up to 500; the default is 20. A higher one is cut to 500.',
    source: 'confirmed',
    otherwise:
      'Only `meta.next` ends a listing, so shorter and longer pages are read as they come; they cost more requests.',
    tests: ['unit/client/listing.test.ts'],
  },
  {
    name: 'v2-offset',
    assumed:
      '`accounts`, `configuration_managers`, `alerts`, `batteries` and `activity_logs` take `offset`, so pages can be fetched ahead.',
    source: 'reference',
    otherwise:
      'A page that was fetched ahead counts only if `next` leads to it. An object that comes twice makes the listing begin again.',
    tests: ['unit/client/listing.test.ts', 'unit/emulator/pages.test.ts'],
  },
  {
    name: 'v2-cursor',
    assumed:
      '`alert_rules` and `alert_push_destinations` go on by an opaque cursor in the query of `next`. Its name is not known, and is not needed.',
    source: 'confirmed',
    otherwise: 'A `next` without a query is refused.',
    tests: ['unit/client/listing.test.ts', 'unit/emulator/pages.test.ts'],
  },
  {
    name: 'v2-next-host',
    assumed: '`next` and URLs in bodies may name another host than the one that was asked.',
    source: 'confirmed',
    otherwise:
      'Nothing changes: only the query of `next` is used, on the configured origin, and references are compared by their trailing id. Credentials go to no other host.',
    tests: ['unit/client/listing.test.ts', 'unit/emulator/behaviours.test.ts'],
  },
  {
    name: 'v2-next-expand',
    assumed: '`next` may leave out `expand`.',
    source: 'confirmed',
    otherwise: 'Nothing changes: `expand` is asked for with every page.',
    tests: ['unit/client/records.test.ts', 'unit/emulator/behaviours.test.ts'],
  },
  {
    name: 'v2-filter-in',
    assumed:
      'Filters that end in `__in` (in audit logs `_in`) take up to 100 values and give the records that have one of them.',
    source: 'confirmed',
    otherwise:
      'A refusal ends the reading. Records that were not asked for do not count; one that is withheld would look deleted.',
    tests: ['unit/client/listing.test.ts', 'unit/client/records.test.ts'],
  },
  {
    name: 'v2-filter-unknown',
    assumed:
      'A filter on an id that does not exist gives an empty listing. It stands in for reading one record by its path, which the API description does not have for v2.',
    source: 'inferred',
    otherwise:
      'If the filter is ignored, all records come: only those with an asked id count, and only a listing read to its end proves absence.',
    tests: ['unit/client/listing.test.ts'],
  },
  {
    name: 'v2-filter-name',
    assumed:
      '`name=` gives exactly the accounts of that name. It proves, before an account is created, that there is none.',
    source: 'reference',
    otherwise:
      'The complete listing is read as well. An account is missed only if it moved between two pages of that listing and the filter withholds it; then another one of the same name is created.',
    tests: ['unit/client/checks.test.ts', 'unit/reconciler/observe.test.ts'],
  },
  {
    name: 'v2-order',
    assumed:
      'Records may be created and deleted while a listing is read. Others then move from one page to another.',
    source: 'unknown',
    otherwise:
      'An object that comes twice makes the listing begin again, three times at most. One that is missing is asked for by its id before it counts as deleted. Before a create, absence is proved by the filter by name, overlapping pages or a second listing.',
    tests: ['unit/client/listing.test.ts', 'unit/emulator/faults.test.ts'],
  },
  {
    name: 'v2-descendants',
    assumed:
      'A listing holds the objects of the account of the keys and of every account below it. Of the accounts, exactly one has a parent that is not listed, or all that have one such parent have the same.',
    source: 'confirmed',
    otherwise:
      'Objects of accounts that are not listed are no part of any plan. With several roots, an account that declares no `account` is not created (`unknown-parent`): an equal one may exist.',
    tests: ['unit/reconciler/plan.test.ts', 'unit/reconciler/own-root.test.ts'],
  },
  {
    name: 'v2-slash',
    assumed: 'Paths end in a slash; without it the answer is a redirect.',
    source: 'confirmed',
    otherwise:
      'A redirect is never followed: it is an error of a read, and an unknown outcome of a write.',
    tests: ['unit/client/transport.test.ts', 'unit/client/writing.test.ts'],
  },
] as const satisfies readonly Assumption[];

const identifiers = [
  {
    name: 'account-ids',
    assumed: 'Ids of accounts and configuration managers are digits, as text or as numbers.',
    source: 'reference',
    otherwise:
      'Any text without blanks and separators serves as an id. If ids are not numbers, it is not known whether an object is newer than a listing: a create without a clear answer ends in exit code 5.',
    tests: ['unit/model/ids.test.ts', 'unit/emulator/behaviours.test.ts'],
  },
  {
    name: 'time-based-ids',
    assumed:
      'Ids of rules, destinations and alerts are time-based UUIDs (version 1), and contain the time of creation by the clock of the service.',
    source: 'reference',
    otherwise:
      'An id of another form contains no time: what is not in the listing before a create counts as new.',
    tests: ['unit/reconciler/recover.test.ts'],
  },
  {
    name: 'ids-grow',
    assumed: 'A new numeric id is higher than all that exist.',
    source: 'inferred',
    otherwise:
      'After a crash, our object counts as older than our request: exit code 5, and nothing is sent.',
    tests: ['unit/reconciler/recover.test.ts'],
  },
  {
    name: 'ids-once',
    assumed: 'The id of a deleted object is never given to another one.',
    source: 'unknown',
    otherwise:
      'The other object would be taken for the recorded one. Plan and drift report what differs as changed outside of trueup, and apply changes it to what is declared.',
    tests: ['unit/reconciler/drift.test.ts'],
  },
  {
    name: 'references',
    assumed:
      'References come as URLs that end in the id, and are sent as ids. Accounts that records name are listed.',
    source: 'reference',
    otherwise:
      'A reference without an id at its end never equals a declared one: the plan shows a change after every apply.',
    tests: ['unit/model/ids.test.ts'],
  },
  {
    name: 'integer-lists',
    assumed: '`associated_accounts`, `associated_groups` and `email_destinations` hold integers.',
    source: 'reference',
    otherwise:
      'Texts of digits are read as the same. An id beyond 2^53 cannot be sent, and is refused.',
    tests: ['unit/emulator/behaviours.test.ts', 'unit/client/writing.test.ts'],
  },
  {
    name: 'timestamps',
    assumed: 'Times end in `Z` or `+00:00`.',
    source: 'confirmed',
    otherwise:
      'Times are parsed before they are compared, in any zone. A text that is no time is compared as text.',
    tests: ['unit/emulator/behaviours.test.ts'],
  },
  {
    name: 'html-escapes',
    assumed: 'Texts may come back HTML-escaped.',
    source: 'inferred',
    otherwise:
      'Nothing changes: escaped and plain texts count as the same, and state and exports hold the plain form. An undeclared string is sent back exactly as it was read: a service that escapes answers but does not unescape requests would escape it once more.',
    tests: [
      'unit/html-escaping.test.ts',
      'unit/emulator/behaviours.test.ts',
      'unit/reconciler/plan.test.ts',
    ],
  },
  {
    name: 'whole-records',
    assumed: 'A record of a listing shows every attribute that can be written, secrets masked.',
    source: 'inferred',
    otherwise:
      'A declared attribute that is not shown counts as empty: the plan shows a change after every apply, and the read-back fails.',
    tests: ['unit/reconciler/plan.test.ts'],
  },
] as const satisfies readonly Assumption[];

const writes = [
  {
    name: 'write-success',
    assumed:
      '200, 201, 202 and 204 mean that a write was done; answers to PATCH, PUT and DELETE may be empty.',
    source: 'confirmed',
    otherwise:
      'What was updated or deleted is read back: a success that did not take is a failure.',
    tests: ['unit/client/writing.test.ts', 'unit/reconciler/doubt.test.ts'],
  },
  {
    name: 'create-answer',
    assumed: 'The answer to a POST is the new record, with its id.',
    source: 'reference',
    otherwise:
      'Without a valid id, or with other content than was sent, the outcome is unknown: it is settled by reading, and never by sending again.',
    tests: ['unit/client/writing.test.ts', 'unit/reconciler/recover.test.ts'],
  },
  {
    name: 'no-idempotency',
    assumed: 'A POST that is sent twice creates two objects.',
    source: 'unknown',
    otherwise: 'Nothing changes: no POST is sent twice for one intent.',
    tests: ['unit/reconciler/crash.test.ts', 'crash/kill.test.ts'],
  },
  {
    name: 'patch-partial',
    assumed: 'PATCH changes the attributes that it names, each as a whole.',
    source: 'reference',
    otherwise:
      'Declared attributes are sent again by the next apply. Others are lost, and nothing reports it.',
    tests: ['unit/emulator/store.test.ts'],
  },
  {
    name: 'put-partial',
    assumed: 'PUT of an account keeps what it does not name.',
    source: 'inferred',
    otherwise:
      'Every attribute that can be written is sent, the undeclared ones at their live value, so the result is the same if the service replaces. `is_disabled` is sent only if it is declared: if the service resets it then, the write fails with `members-lost`.',
    tests: ['unit/emulator/behaviours.test.ts', 'unit/client/writing.test.ts'],
  },
  {
    name: 'empty-values',
    assumed: 'Null, an empty list and an empty object mean the same: none.',
    source: 'inferred',
    otherwise: 'A change from one to another is not seen, and not sent.',
    tests: ['unit/emulator/behaviours.test.ts'],
  },
  {
    name: 'account-delete',
    assumed: 'DELETE of an account is refused while it holds users, accounts, routers or groups.',
    source: 'confirmed',
    otherwise:
      'The policy rule `account-in-use` blocks before, for what can be read: accounts, rules and authorizations. Users, routers and groups would go with the account.',
    tests: ['unit/emulator/store.test.ts', 'unit/reconciler/plan.test.ts'],
  },
  {
    name: 'account-names',
    assumed: 'Accounts below one parent may have the same name.',
    source: 'unknown',
    otherwise:
      'Nothing changes: one unmanaged match is adopted, several are a question (exit code 5).',
    tests: ['unit/reconciler/plan.test.ts'],
  },
] as const satisfies readonly Assumption[];

const rules = [
  {
    name: 'rule-alert-types',
    assumed:
      '`filter_criteria.alert_type__in` is a list of alert type names, and not all names are known.',
    source: 'reference',
    otherwise: 'A name that is not known passes with a warning.',
    tests: ['unit/declarations/lint.test.ts'],
  },
  {
    name: 'rule-schedule',
    assumed: '`schedule` is null (at once) or `daily`. There may be others.',
    source: 'confirmed',
    otherwise: 'Others pass with a warning; what they mean for alerts is not judged.',
    tests: ['unit/declarations/lint.test.ts', 'unit/resources/rules/impact.test.ts'],
  },
  {
    name: 'rule-settings',
    assumed: '`settings` is an object with alert types as keys, or null.',
    source: 'reference',
    otherwise: 'Another JSON value is kept as it is, unless it is declared.',
    tests: ['unit/client/listing.test.ts', 'unit/reconciler/numbers.test.ts'],
  },
  {
    name: 'rule-scope',
    assumed:
      'A rule without accounts and groups never fires. One that names an account hears of the accounts below it.',
    source: 'inferred',
    otherwise:
      'A warning, the policy rule `rule-without-destination` and `plan --impact` are wrong. The latter reports how many alerts depend on it.',
    tests: [
      'unit/declarations/lint.test.ts',
      'unit/resources/rules/health.test.ts',
      'unit/resources/rules/impact.test.ts',
    ],
  },
  {
    name: 'rule-email',
    assumed: '`email_destinations` cannot be written, and a PATCH that does not name it keeps it.',
    source: 'confirmed',
    otherwise:
      'It is never sent. If the service drops it, other people receive alerts, and `drift` does not report it.',
    tests: ['crash/kill.test.ts'],
  },
  {
    name: 'destination-secret',
    assumed: 'The secret reads back as `*`, always.',
    source: 'reference',
    otherwise:
      'A clear one is masked before anything is printed or stored, and never compared. `*` is never sent.',
    tests: ['unit/client/records.test.ts', 'unit/laws.test.ts'],
  },
  {
    name: 'destination-url',
    assumed: 'Deliveries go to https on port 443 or 8443.',
    source: 'confirmed',
    otherwise: 'Another address passes with a warning.',
    tests: ['unit/declarations/lint.test.ts'],
  },
  {
    name: 'destination-suspended',
    assumed:
      'The service suspends a destination after failures for some hours, and `suspended: false` resumes it.',
    source: 'confirmed',
    otherwise:
      'The read-back shows that it did not take, and the run fails. Only `false` can be declared, and it is sent by PATCH alone.',
    tests: ['unit/resources/rules/health.test.ts', 'integration/answers.test.ts'],
  },
  {
    name: 'destination-in-use',
    assumed: 'What happens to a rule whose destination is deleted is not known.',
    source: 'unknown',
    otherwise:
      'Rules are changed first, then destinations deleted. `rule-without-destination` blocks a rule that is left without one.',
    tests: ['unit/emulator/behaviours.test.ts', 'unit/reconciler/unheard.test.ts'],
  },
] as const satisfies readonly Assumption[];

const managers = [
  {
    name: 'manager-put',
    assumed:
      'PUT of `configuration` replaces the individual configuration: what the body leaves out falls back to its default.',
    source: 'confirmed',
    otherwise:
      'The record is read right before, our members are merged onto what is live then, and the PUT holds the whole: the same under a service that merges. Afterwards everything is compared: a member that was live and is gone or altered by our write is an error.',
    tests: ['unit/reconciler/merge.test.ts'],
  },
  {
    name: 'manager-removals',
    assumed:
      'The second element of `[configuration, removals]` is stored: the whole list of paths that are taken out of the defaults. It is no command on the first element.',
    source: 'confirmed',
    otherwise:
      'The live list is sent back if none is declared. The comparison after the write shows what did not take.',
    tests: ['unit/reconciler/merge.test.ts', 'unit/declarations/merge.test.ts'],
  },
  {
    name: 'manager-documents',
    assumed: '`configuration`, `target`, `actual` and `pending` are `[object, list]` each.',
    source: 'reference',
    otherwise:
      'A configuration of another form, or one that the record lacks, cannot be merged: its change is refused. `null` counts as an empty one.',
    tests: ['unit/reconciler/merge.test.ts'],
  },
  {
    name: 'manager-masks',
    assumed:
      'Passwords read back as `*` and are written in clear. What a PUT of `*` would do is not known.',
    source: 'confirmed',
    otherwise:
      'A mask that would have to be sent blocks the write: the policy rule `masked-configuration`, which cannot be allowed.',
    tests: ['unit/reconciler/merge.test.ts'],
  },
  {
    name: 'manager-patch',
    assumed:
      'PATCH, if a deployment has it, merges, replaces lists as a whole, and takes nothing out.',
    source: 'confirmed',
    otherwise:
      'It is used with `settings.configuration_writes: patch` alone, and the write is read back.',
    tests: ['unit/reconciler/merge.test.ts'],
  },
  {
    name: 'manager-of-router',
    assumed:
      '`router=` gives the one configuration manager of a router, whose id is not the id of the router.',
    source: 'reference',
    otherwise:
      'Several matches are a question (exit code 5); none is an error, because none can be created.',
    tests: ['unit/reconciler/plan.test.ts'],
  },
  {
    name: 'manager-version',
    assumed: '`version_number` is an integer that grows with every change.',
    source: 'confirmed',
    otherwise:
      'A change by somebody else between our reading and our PUT is not reported; the comparison after the write still shows its members.',
    tests: ['contract/client.test.ts'],
  },
  {
    name: 'manager-ghosts',
    assumed: 'A listing may hold a record without id and target. It stands for nothing.',
    source: 'confirmed',
    otherwise: 'It is skipped with a note, and proves nothing about completeness.',
    tests: ['unit/client/listing.test.ts'],
  },
] as const satisfies readonly Assumption[];

const v3 = [
  {
    name: 'v3-token',
    assumed: 'The token is static, and travels as `Authorization: Bearer`.',
    source: 'confirmed',
    otherwise: '401 ends the run, and names the variable to look at.',
    tests: ['unit/client/transport.test.ts', 'contract/client.test.ts'],
  },
  {
    name: 'v3-media',
    assumed: 'Requests and answers are `application/vnd.api+json`, and paths end without a slash.',
    source: 'reference',
    otherwise: 'Any JSON type is read. A refusal or a redirect ends the reading.',
    tests: ['contract/client.test.ts', 'unit/client/listing.test.ts'],
  },
  {
    name: 'v3-next',
    assumed:
      'A listing has `data`, and continues with `links.next`. It ends if that is null or absent, or if `meta.pagination.after` is null.',
    source: 'reference',
    otherwise: 'A page with neither is refused, and with it the plan.',
    tests: ['unit/client/listing.test.ts'],
  },
  {
    name: 'v3-page-size',
    assumed: '`page[size]` is honoured up to 50.',
    source: 'reference',
    otherwise: 'Pages are read as they come, at the cost of more requests.',
    tests: ['unit/client/listing.test.ts'],
  },
  {
    name: 'v3-by-path',
    assumed: 'One authorization is read by its path, and 404 there means that it does not exist.',
    source: 'reference',
    otherwise:
      'Any other status is an error, never a proof of absence. An answer about another id is refused.',
    tests: ['unit/client/listing.test.ts'],
  },
  {
    name: 'v3-put',
    assumed: 'PUT takes the whole resource back with the role changed.',
    source: 'confirmed',
    otherwise:
      'A refusal is reported in the words of the service. What administration depends on is read back at once.',
    tests: ['contract/client.test.ts', 'unit/resources/rules/administrators.test.ts'],
  },
  {
    name: 'v3-one-each',
    assumed: 'A user has one authorization for an account.',
    source: 'confirmed',
    otherwise: 'Several matches are a question (exit code 5).',
    tests: ['unit/reconciler/plan.test.ts'],
  },
  {
    name: 'v3-roles',
    assumed:
      'Roles are words, of which four are known: `no_access`, `read_only_user`, `full_access_user`, `administrator`. There are others.',
    source: 'reference',
    otherwise:
      'Others pass with a warning. They count as the highest when given and as the lowest when taken away; `settings.roles` ranks them.',
    tests: ['unit/reconciler/plan.test.ts', 'unit/resources/rules/access.test.ts'],
  },
  {
    name: 'v3-roles-reach-down',
    assumed: 'A role in an account reaches the accounts below it.',
    source: 'confirmed',
    otherwise:
      '`last-administrator` counts an administrator of an account above who is none, and does not block the removal of the last one.',
    tests: ['unit/resources/rules/administrators.test.ts', 'unit/resources/rules/access.test.ts'],
  },
  {
    name: 'v3-account-ids',
    assumed: 'Accounts have the same ids in v2 and v3.',
    source: 'inferred',
    otherwise:
      'An authorization declared with an account of v2 matches nothing, and the message says why. An audit names the accounts of v3 that no listing of v2 holds (`unlisted-accounts`).',
    tests: ['integration/answers.test.ts'],
  },
  {
    name: 'v3-throttling',
    assumed: '409 with `errors` is a refusal; without them it asks to slow down.',
    source: 'confirmed',
    otherwise: 'A refusal without `errors` is sent again, three times at most, and then reported.',
    tests: ['unit/client/writing.test.ts'],
  },
  {
    name: 'v3-assets',
    assumed:
      'Asset endpoints are listed as authorizations are. They have the ids of v3, which are not those of v2.',
    source: 'reference',
    otherwise: 'They are only read: `get` and expectations refuse what they cannot read.',
    tests: ['unit/client/records.test.ts'],
  },
] as const satisfies readonly Assumption[];

const logs = [
  {
    name: 'activity-filters',
    assumed: 'The activity log honours `object__id` and `action__timestamp__gte`.',
    source: 'reference',
    otherwise: 'Records of other objects are left out here; more of them are read.',
    tests: ['unit/client/activity.test.ts'],
  },
  {
    name: 'activity-records',
    assumed: 'Its records name action, time, object and actor, by words or by numbers.',
    source: 'reference',
    otherwise: 'A record that does not is left out: the author of a change is `unknown`.',
    tests: ['unit/client/activity.test.ts', 'unit/reconciler/attribution.test.ts'],
  },
  {
    name: 'activity-window',
    assumed:
      'It reaches back 30 days, is up to a minute late, and holds no rules and destinations.',
    source: 'confirmed',
    otherwise: 'The author is `unknown` if no record names one. None is guessed.',
    tests: ['unit/reconciler/attribution.test.ts'],
  },
  {
    name: 'alert-records',
    assumed: 'An alert names an account or a router, and not both.',
    source: 'reference',
    otherwise:
      'One that names both counts for its account; one that names neither is not judged by `plan --impact`.',
    tests: ['unit/resources/rules/impact.test.ts', 'unit/resources/rules/assess.test.ts'],
  },
  {
    name: 'audit-records',
    assumed:
      'What a record of the audit log holds is not known. It is listed as everything in v2, by `reported_at__gt` and `reported_at__lt`.',
    source: 'unknown',
    otherwise: 'Records pass as they are; an answer of another form is refused.',
    tests: ['unit/client/records.test.ts'],
  },
  {
    name: 'battery-router',
    assumed: 'Batteries are listed for one router, which must be named.',
    source: 'reference',
    otherwise: '`get batteries` refuses before it asks.',
    tests: ['integration/get.test.ts'],
  },
] as const satisfies readonly Assumption[];

const time = [
  {
    name: 'visibility',
    assumed: 'A listing may show a new, changed or deleted object seconds late.',
    source: 'unknown',
    otherwise:
      'Nothing changes: the absence of an id that no listing has shown proves nothing before the settle time. Read-backs repeat while the prior value is shown. Ids that we deleted count as absent.',
    tests: [
      'integration/time-and-absence.test.ts',
      'unit/reconciler/effects.test.ts',
      'unit/terraform/provider-calls.test.ts',
    ],
  },
  {
    name: 'settle-time',
    assumed: 'A request lands within 60 s, twice its deadline (`TRUEUP_SETTLE_SECONDS`).',
    source: 'unknown',
    otherwise:
      'A create that lands after it was sent again leaves a second object, which `drift` lists as unmanaged.',
    tests: ['unit/reconciler/recover.test.ts'],
  },
  {
    name: 'server-date',
    assumed: 'Answers have a `Date`, by a clock that is right.',
    source: 'inferred',
    otherwise:
      'Without it, or if it went backwards, the whole settle time is waited. `doctor` reports a clock that is a minute apart.',
    tests: ['unit/reconciler/recover.test.ts'],
  },
] as const satisfies readonly Assumption[];

const errors = [
  {
    name: 'refusals',
    assumed: '400, 401, 403, 404, 405, 406, 409, 410, 413, 415 and 422 mean that nothing was done.',
    source: 'inferred',
    otherwise:
      'A create that was done all the same is an unmanaged object, which the next plan adopts by its identity.',
    tests: ['unit/client/writing.test.ts'],
  },
  {
    name: 'too-many-requests',
    assumed: '429 means that nothing was done if its body is empty or of the form of the service.',
    source: 'inferred',
    otherwise:
      'Any other 429 may come from a gateway, after the write: for a create the outcome is unknown, and settled by reading.',
    tests: ['unit/client/writing.test.ts', 'unit/client/patience.test.ts'],
  },
  {
    name: 'error-bodies',
    assumed:
      'Refusals have many forms: `exception`, `errors`, `message`, JSON:API, problem+json, plain text.',
    source: 'confirmed',
    otherwise: 'The status decides, never the words; these are shown, with secrets masked.',
    tests: ['unit/client/writing.test.ts', 'unit/client/listing.test.ts'],
  },
  {
    name: 'rate-limit',
    assumed: 'About 500 requests a minute are allowed.',
    source: 'inferred',
    otherwise:
      'At most 450 are sent (`requests_per_minute`). After a 429 all requests wait as long as it asks for, up to 120 s.',
    tests: ['unit/client/patience.test.ts'],
  },
  {
    name: 'redirects',
    assumed: 'A redirect may lead to an address that must not get credentials.',
    source: 'confirmed',
    otherwise: 'None is followed; the message names the variable of the address.',
    tests: ['unit/client/transport.test.ts'],
  },
] as const satisfies readonly Assumption[];

const iot = [
  {
    name: 'iot-token',
    assumed: '`expires_in` is in seconds, and another token is asked for by password.',
    source: 'confirmed',
    otherwise: 'A token that is refused with 401 is renewed once, and the page asked for again.',
    tests: ['unit/client/iot.test.ts'],
  },
  {
    name: 'iot-pages',
    assumed: '`next` is a relative URL or a bare cursor; if it is absent, the listing ends.',
    source: 'confirmed',
    otherwise: 'A `size` above what came is no end: the reading is refused.',
    tests: ['unit/client/iot.test.ts', 'unit/emulator/iot.test.ts'],
  },
  {
    name: 'iot-identifiers',
    assumed: 'Lists hold up to 100 identifiers of the type IMSI, ICC or MSISDN.',
    source: 'inferred',
    otherwise:
      'A refusal ends the reading. A subscription that was not asked for, or comes twice, does too.',
    tests: ['unit/client/iot.test.ts'],
  },
  {
    name: 'iot-query',
    assumed: 'A value in quotation marks stays one condition.',
    source: 'unknown',
    otherwise:
      'A value with a backslash, control characters or both kinds of quotation marks is refused before anything is asked.',
    tests: ['unit/client/iot.test.ts'],
  },
  {
    name: 'iot-limits',
    assumed: 'Details: 10 requests a second and 150 a minute; tokens: 5 and 60.',
    source: 'confirmed',
    otherwise: 'A 429 is waited for, as its headers say.',
    tests: ['unit/client/iot.test.ts', 'unit/emulator/iot.test.ts'],
  },
] as const satisfies readonly Assumption[];

const flow = [
  {
    name: 'flow-changes',
    assumed: 'Every call changes the status of a SIM.',
    source: 'reference',
    otherwise: 'It is called by `sim flip` alone, after asking, once.',
    tests: ['unit/client/flow.test.ts', 'integration/sim.test.ts'],
  },
  {
    name: 'flow-done',
    assumed:
      'The request is done if it is `Completed` and the status after it is the announced one. 400, 401, 403, 404, 409 and 429 mean that nothing was done.',
    source: 'inferred',
    otherwise: 'Any other answer leaves the outcome unknown, for a person to look.',
    tests: ['unit/client/flow.test.ts'],
  },
] as const satisfies readonly Assumption[];

export const areas = [
  { title: 'v2 listings', assumptions: lists },
  { title: 'Ids, references and records', assumptions: identifiers },
  { title: 'Writes and accounts', assumptions: writes },
  { title: 'Rules and destinations', assumptions: rules },
  { title: 'Configuration managers', assumptions: managers },
  { title: 'v3', assumptions: v3 },
  { title: 'Logs', assumptions: logs },
  { title: 'Time and visibility', assumptions: time },
  { title: 'Errors and limits', assumptions: errors },
  { title: 'IoT platform', assumptions: iot },
  { title: 'Sample flow', assumptions: flow },
] as const satisfies readonly Area[];

export type AssumptionName = (typeof areas)[number]['assumptions'][number]['name'];
