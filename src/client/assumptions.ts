// Everything that is assumed of the service, and what happens if it is wrong. `npm run generate` writes
// the ledger of docs/explanation/api.md from it, and `trueup doctor --check-api` names its checks by it.

/** Where an assumption comes from. `confirmed` and `inferred`: from public material about services of this shape. */
export type Source = 'reference' | 'confirmed' | 'inferred' | 'unknown';

/**
 * An assumption from that source.
 * @param name in kebab-case, as doctor prints it
 * @param otherwise what happens if it is wrong: the guard that notices, or what goes wrong
 * @param tests files below `test/` that test the other reading, or its guard
 */
const from =
  (source: Source) =>
  <const N extends string>(
    name: N,
    assumed: string,
    otherwise: string,
    tests: readonly string[],
  ) => ({ name, assumed, source, otherwise, tests });
const reference = from('reference');
const confirmed = from('confirmed');
const inferred = from('inferred');
const unknown = from('unknown');
const area = <A>(title: string, assumptions: readonly A[]) => ({ title, assumptions });

export const areas = [
  area('v2 listings', [
    reference(
      'v2-next',
      'A listing has `data` and `meta.next`, and ends with a `meta.next` of null. There is no total.',
      'A page without them is refused, and with it the plan. So is a listing that leads back to itself, or continues beyond ten empty pages or 1,000,000 records.',
      ['unit/client/listing.test.ts', 'unit/emulator/faults.test.ts'],
    ),
    confirmed(
      'v2-limit',
      '`limit` is honoured up to 500; the default is 20. A higher one is cut to 500.',
      'Only `meta.next` ends a listing, so shorter and longer pages are read as they come; they cost more requests.',
      ['unit/client/listing.test.ts'],
    ),
    reference(
      'v2-offset',
      '`accounts`, `configuration_managers`, `alerts`, `batteries` and `activity_logs` take `offset`, so pages can be fetched ahead.',
      'A page that was fetched ahead counts only if `next` leads to it. An object that comes twice makes the listing begin again.',
      ['unit/client/listing.test.ts', 'unit/emulator/pages.test.ts'],
    ),
    confirmed(
      'v2-cursor',
      '`alert_rules` and `alert_push_destinations` go on by an opaque cursor in the query of `next`. Its name is not known, and is not needed.',
      'A `next` without a query is refused.',
      ['unit/client/listing.test.ts', 'unit/emulator/pages.test.ts'],
    ),
    confirmed(
      'v2-next-host',
      '`next` and URLs in bodies may name another host than the one that was asked.',
      'Nothing changes: only the query of `next` is used, on the configured origin, and references are compared by their trailing id. Credentials go to no other host.',
      ['unit/client/listing.test.ts', 'unit/emulator/behaviours.test.ts'],
    ),
    confirmed(
      'v2-next-expand',
      '`next` may leave out `expand`.',
      'Nothing changes: `expand` is asked for with every page.',
      ['unit/client/records.test.ts', 'unit/emulator/behaviours.test.ts'],
    ),
    confirmed(
      'v2-filter-in',
      'Filters that end in `__in` (in audit logs `_in`) take up to 100 values and give the records that have one of them.',
      'A refusal ends the reading. Records that were not asked for do not count; one that is withheld would look deleted.',
      ['unit/client/listing.test.ts', 'unit/client/records.test.ts'],
    ),
    inferred(
      'v2-filter-unknown',
      'A filter on an id that does not exist gives an empty listing. It stands in for reading one record by its path, which the API description does not have for v2.',
      'If the filter is ignored, all records come: only those with an asked id count, and only a listing read to its end proves absence.',
      ['unit/client/listing.test.ts'],
    ),
    reference(
      'v2-filter-name',
      '`name=` gives exactly the accounts of that name. It proves, before an account is changed that was found by its name, that there is no other.',
      'The complete listing is read as well. An account is missed only if it moved between two pages of that listing and the filter withholds it; then one of two equal accounts is changed.',
      ['unit/client/checks.test.ts', 'unit/reconciler/observe.test.ts'],
    ),
    unknown(
      'v2-order',
      'Records may be created and deleted while a listing is read. Others then move from one page to another.',
      'An object that comes twice makes the listing begin again, three times at most. One that is missing is asked for by its id before it counts as deleted. Before a create, absence is proved by overlapping pages or a second listing.',
      ['unit/client/listing.test.ts', 'unit/emulator/faults.test.ts'],
    ),
    confirmed(
      'v2-descendants',
      'A listing holds the objects of the account of the keys and of every account below it. Of the accounts, exactly one has a parent that is not listed, or all that have one such parent have the same.',
      'Objects of accounts that are not listed are no part of any plan. With several roots, an account that declares no `account` is not created (`unknown-parent`): an equal one may exist.',
      ['unit/reconciler/plan.test.ts', 'unit/reconciler/own-root.test.ts'],
    ),
    confirmed(
      'v2-slash',
      'Paths end in a slash; without it the answer is a redirect.',
      'A redirect is never followed: it is an error of a read, and an unknown outcome of a write.',
      ['unit/client/transport.test.ts', 'unit/client/writing.test.ts'],
    ),
  ]),
  area('Ids, references and records', [
    reference(
      'account-ids',
      'Ids of accounts and configuration managers are digits, as text or as numbers.',
      'Any text without blanks and separators serves as an id. If ids are not numbers, it is not known whether an object is newer than a listing: a create without a clear answer ends in exit code 5.',
      ['unit/model/ids.test.ts', 'unit/emulator/behaviours.test.ts'],
    ),
    reference(
      'time-based-ids',
      'Ids of rules, destinations and alerts are time-based UUIDs (version 1), and contain the time of creation by the clock of the service.',
      'An id of another form contains no time: what is not in the listing before a create counts as new.',
      ['unit/reconciler/recover.test.ts'],
    ),
    inferred(
      'ids-grow',
      'A new numeric id is higher than all that exist.',
      'After a crash, our object counts as older than our request: exit code 5, and nothing is sent.',
      ['unit/reconciler/recover.test.ts'],
    ),
    unknown(
      'ids-once',
      'The id of a deleted object is never given to another one.',
      'The other object would be taken for the recorded one. Plan and drift report what differs as changed outside of trueup, and apply changes it to what is declared.',
      ['unit/reconciler/drift.test.ts'],
    ),
    reference(
      'references',
      'References come as URLs that end in the id, and are sent as ids. Accounts that records name are listed.',
      'A reference without an id at its end never equals a declared one: the plan shows a change after every apply.',
      ['unit/model/ids.test.ts'],
    ),
    reference(
      'integer-lists',
      '`associated_accounts`, `associated_groups` and `email_destinations` hold integers.',
      'Texts of digits are read as the same. An id beyond 2^53 cannot be sent, and is refused.',
      ['unit/emulator/behaviours.test.ts', 'unit/client/writing.test.ts'],
    ),
    confirmed(
      'timestamps',
      'Times end in `Z` or `+00:00`.',
      'Times are parsed before they are compared, in any zone. A text that is no time is compared as text.',
      ['unit/emulator/behaviours.test.ts'],
    ),
    inferred(
      'html-escapes',
      'Texts may come back HTML-escaped.',
      'Nothing changes: escaped and plain texts count as the same, and state and exports hold the plain form. An undeclared string is sent back exactly as it was read: a service that escapes answers but does not unescape requests would escape it once more.',
      [
        'unit/html-escaping.test.ts',
        'unit/emulator/behaviours.test.ts',
        'unit/reconciler/plan.test.ts',
      ],
    ),
    inferred(
      'whole-records',
      'A record of a listing shows every attribute that can be written, secrets masked.',
      'A declared attribute that is not shown counts as empty: the plan shows a change after every apply, and the read-back fails.',
      ['unit/reconciler/plan.test.ts'],
    ),
  ]),
  area('Writes and accounts', [
    confirmed(
      'write-success',
      '200, 201, 202 and 204 mean that a write was done; answers to PATCH, PUT and DELETE may be empty.',
      'What was updated or deleted is read back: a success that did not take is a failure.',
      ['unit/client/writing.test.ts', 'unit/reconciler/doubt.test.ts'],
    ),
    reference(
      'create-answer',
      'The answer to a POST is the new record, with its id.',
      'Without a valid id, or with other content than was sent, the outcome is unknown: it is settled by reading, and never by sending again.',
      ['unit/client/writing.test.ts', 'unit/reconciler/recover.test.ts'],
    ),
    unknown(
      'no-idempotency',
      'A POST that is sent twice creates two objects.',
      'Nothing changes: no POST is sent twice for one intent.',
      ['unit/reconciler/crash.test.ts', 'crash/kill.test.ts'],
    ),
    reference(
      'patch-partial',
      'PATCH changes the attributes that it names, each as a whole.',
      'Declared attributes are sent again by the next apply. Others are lost, and nothing reports it.',
      ['unit/emulator/store.test.ts'],
    ),
    inferred(
      'put-partial',
      'PUT of an account keeps what it does not name.',
      'Every attribute that can be written is sent, the undeclared ones at their live value, so the result is the same if the service replaces. `is_disabled` is sent only if it is declared: if the service resets it then, the write fails with `members-lost`.',
      ['unit/emulator/behaviours.test.ts', 'unit/client/writing.test.ts'],
    ),
    inferred(
      'empty-values',
      'Null, an empty list and an empty object mean the same: none.',
      'A change from one to another is not seen, and not sent.',
      ['unit/emulator/behaviours.test.ts'],
    ),
    confirmed(
      'account-delete',
      'DELETE of an account is refused while it holds users, accounts, routers or groups.',
      'The policy rule `account-in-use` blocks before, for what can be read: accounts, rules and authorizations. Users, routers and groups would go with the account.',
      ['unit/emulator/store.test.ts', 'unit/reconciler/plan.test.ts'],
    ),
    unknown(
      'account-names',
      'Accounts below one parent may have the same name.',
      'Nothing changes: one unmanaged match is adopted, several are a question (exit code 5).',
      ['unit/reconciler/plan.test.ts'],
    ),
  ]),
  area('Rules and destinations', [
    reference(
      'rule-alert-types',
      '`filter_criteria.alert_type__in` is a list of alert type names, and not all names are known.',
      'A name that is not known passes with a warning.',
      ['unit/declarations/lint.test.ts'],
    ),
    confirmed(
      'rule-schedule',
      '`schedule` is null (at once) or `daily`. There may be others.',
      'Others pass with a warning; what they mean for alerts is not judged.',
      ['unit/declarations/lint.test.ts', 'unit/resources/rules/impact.test.ts'],
    ),
    reference(
      'rule-settings',
      '`settings` is an object with alert types as keys, or null.',
      'Another JSON value is kept as it is, unless it is declared.',
      ['unit/client/listing.test.ts', 'unit/reconciler/numbers.test.ts'],
    ),
    inferred(
      'rule-scope',
      'A rule without accounts and groups never fires. One that names an account hears of the accounts below it.',
      'A warning, the policy rule `rule-without-destination` and `plan --impact` are wrong. The latter reports how many alerts depend on it.',
      [
        'unit/declarations/lint.test.ts',
        'unit/resources/rules/health.test.ts',
        'unit/resources/rules/impact.test.ts',
      ],
    ),
    confirmed(
      'rule-email',
      '`email_destinations` cannot be written, and a PATCH that does not name it keeps it.',
      'It is never sent. If the service drops it, other people receive alerts, and `drift` does not report it.',
      ['crash/kill.test.ts'],
    ),
    reference(
      'destination-secret',
      'The secret reads back as `*`, always.',
      'A clear one is masked before anything is printed or stored, and never compared. `*` is never sent.',
      ['unit/client/records.test.ts', 'unit/laws.test.ts'],
    ),
    confirmed(
      'destination-url',
      'Deliveries go to https on port 443 or 8443.',
      'Another address passes with a warning.',
      ['unit/declarations/lint.test.ts'],
    ),
    confirmed(
      'destination-suspended',
      'The service suspends a destination after failures for some hours, and `suspended: false` resumes it.',
      'The read-back shows that it did not take, and the run fails. Only `false` can be declared, and it is sent by PATCH alone.',
      ['unit/resources/rules/health.test.ts', 'integration/answers.test.ts'],
    ),
    unknown(
      'destination-in-use',
      'What happens to a rule whose destination is deleted is not known.',
      'Rules are changed first, then destinations deleted. `rule-without-destination` blocks a rule that is left without one.',
      ['unit/emulator/behaviours.test.ts', 'unit/reconciler/unheard.test.ts'],
    ),
  ]),
  area('Configuration managers', [
    confirmed(
      'manager-put',
      'PUT of `configuration` replaces the individual configuration: what the body leaves out falls back to its default.',
      'The record is read right before, our members are merged onto what is live then, and the PUT holds the whole: the same under a service that merges. Afterwards everything is compared: a member that was live and is gone or altered by our write is an error.',
      ['unit/reconciler/merge.test.ts'],
    ),
    confirmed(
      'manager-removals',
      'The second element of `[configuration, removals]` is stored: the whole list of paths that are taken out of the defaults. It is no command on the first element.',
      'The live list is sent back if none is declared. The comparison after the write shows what did not take.',
      ['unit/reconciler/merge.test.ts', 'unit/declarations/merge.test.ts'],
    ),
    reference(
      'manager-documents',
      '`configuration`, `target`, `actual` and `pending` are `[object, list]` each.',
      'A configuration of another form, or one that the record lacks, cannot be merged: its change is refused. `null` counts as an empty one.',
      ['unit/reconciler/merge.test.ts'],
    ),
    confirmed(
      'manager-masks',
      'Passwords read back as `*` and are written in clear. What a PUT of `*` would do is not known.',
      'A mask that would have to be sent blocks the write: the policy rule `masked-configuration`, which cannot be allowed.',
      ['unit/reconciler/merge.test.ts'],
    ),
    confirmed(
      'manager-patch',
      'PATCH, if a deployment has it, merges, replaces lists as a whole, and takes nothing out.',
      'It is used with `settings.configuration_writes: patch` alone, and the write is read back.',
      ['unit/reconciler/merge.test.ts'],
    ),
    reference(
      'manager-of-router',
      '`router=` gives the one configuration manager of a router, whose id is not the id of the router.',
      'Several matches are a question (exit code 5); none is an error, because none can be created.',
      ['unit/reconciler/plan.test.ts'],
    ),
    confirmed(
      'manager-version',
      '`version_number` is an integer that grows with every change.',
      'A change by somebody else between our reading and our PUT is not reported; the comparison after the write still shows its members.',
      ['contract/client.test.ts'],
    ),
    confirmed(
      'manager-ghosts',
      'A listing may hold a record without id and target. It stands for nothing.',
      'It is skipped with a note, and proves nothing about completeness.',
      ['unit/client/listing.test.ts'],
    ),
  ]),
  area('v3', [
    confirmed(
      'v3-token',
      'The token is static, and travels as `Authorization: Bearer`.',
      '401 ends the run, and names the variable to look at.',
      ['unit/client/transport.test.ts', 'contract/client.test.ts'],
    ),
    reference(
      'v3-media',
      'Requests and answers are `application/vnd.api+json`, and paths end without a slash.',
      'Any JSON type is read. A refusal or a redirect ends the reading.',
      ['contract/client.test.ts', 'unit/client/listing.test.ts'],
    ),
    reference(
      'v3-next',
      'A listing has `data`, and continues with `links.next`. It ends if that is null or absent, or if `meta.pagination.after` is null.',
      'A page with neither is refused, and with it the plan.',
      ['unit/client/listing.test.ts'],
    ),
    reference(
      'v3-page-size',
      '`page[size]` is honoured up to 50.',
      'Pages are read as they come, at the cost of more requests.',
      ['unit/client/listing.test.ts'],
    ),
    reference(
      'v3-by-path',
      'One authorization is read by its path, and 404 there means that it does not exist.',
      'Any other status is an error, never a proof of absence. An answer about another id is refused.',
      ['unit/client/listing.test.ts'],
    ),
    confirmed(
      'v3-put',
      'PUT takes the whole resource back with the role changed.',
      'A refusal is reported in the words of the service. What administration depends on is read back at once.',
      ['contract/client.test.ts', 'unit/resources/rules/administrators.test.ts'],
    ),
    confirmed(
      'v3-one-each',
      'A user has one authorization for an account.',
      'Several matches are a question (exit code 5).',
      ['unit/reconciler/plan.test.ts'],
    ),
    reference(
      'v3-roles',
      'Roles are words, of which four are known: `no_access`, `read_only_user`, `full_access_user`, `administrator`. There are others.',
      'Others pass with a warning. They count as the highest when given and as the lowest when taken away; `settings.roles` ranks them.',
      ['unit/reconciler/plan.test.ts', 'unit/resources/rules/access.test.ts'],
    ),
    confirmed(
      'v3-roles-reach-down',
      'A role in an account reaches the accounts below it.',
      '`last-administrator` counts an administrator of an account above who is none, and does not block the removal of the last one.',
      ['unit/resources/rules/administrators.test.ts', 'unit/resources/rules/access.test.ts'],
    ),
    inferred(
      'v3-account-ids',
      'Accounts have the same ids in v2 and v3.',
      'An authorization declared with an account of v2 matches nothing, and the message says why. An audit names the accounts of v3 that no listing of v2 holds (`unlisted-accounts`).',
      ['integration/answers.test.ts'],
    ),
    confirmed(
      'v3-throttling',
      '409 with `errors` is a refusal; without them it asks to slow down.',
      'A refusal without `errors` is sent again, three times at most, and then reported.',
      ['unit/client/writing.test.ts'],
    ),
    reference(
      'v3-assets',
      'Asset endpoints are listed as authorizations are. They have the ids of v3, which are not those of v2.',
      'They are only read: `get` and expectations refuse what they cannot read.',
      ['unit/client/records.test.ts'],
    ),
  ]),
  area('Logs', [
    reference(
      'activity-filters',
      'The activity log honours `object__id` and `action__timestamp__gte`.',
      'Records of other objects are left out here; more of them are read.',
      ['unit/client/activity.test.ts'],
    ),
    reference(
      'activity-records',
      'Its records name action, time, object and actor, by words or by numbers.',
      'A record that does not is left out: the author of a change is `unknown`.',
      ['unit/client/activity.test.ts', 'unit/reconciler/attribution.test.ts'],
    ),
    confirmed(
      'activity-window',
      'It reaches back 30 days, is up to a minute late, and holds no rules and destinations.',
      'The author is `unknown` if no record names one. None is guessed.',
      ['unit/reconciler/attribution.test.ts'],
    ),
    reference(
      'alert-records',
      'An alert names an account or a router, and not both.',
      'One that names both counts for its account; one that names neither is not judged by `plan --impact`.',
      ['unit/resources/rules/impact.test.ts', 'unit/resources/rules/assess.test.ts'],
    ),
    unknown(
      'audit-records',
      'What a record of the audit log holds is not known. It is listed as everything in v2, by `reported_at__gt` and `reported_at__lt`.',
      'Records pass as they are; an answer of another form is refused.',
      ['unit/client/records.test.ts'],
    ),
    reference(
      'battery-router',
      'Batteries are listed for one router, which must be named.',
      '`get batteries` refuses before it asks.',
      ['integration/get.test.ts'],
    ),
  ]),
  area('Time and visibility', [
    unknown(
      'visibility',
      'A listing may show a new, changed or deleted object seconds late.',
      'Nothing changes: the absence of an id that no listing has shown proves nothing before the settle time. Read-backs repeat while the prior value is shown. Ids that we deleted count as absent.',
      [
        'integration/time-and-absence.test.ts',
        'unit/reconciler/effects.test.ts',
        'unit/terraform/provider-calls.test.ts',
      ],
    ),
    unknown(
      'settle-time',
      'A request lands within 60 s, twice its deadline (`TRUEUP_SETTLE_SECONDS`).',
      'A create that lands after it was sent again leaves a second object, which `drift` lists as unmanaged.',
      ['unit/reconciler/recover.test.ts'],
    ),
    inferred(
      'server-date',
      'Answers have a `Date`, by a clock that is right.',
      'Without it, or if it went backwards, the whole settle time is waited. `doctor` reports a clock that is a minute apart.',
      ['unit/reconciler/recover.test.ts'],
    ),
  ]),
  area('Errors and limits', [
    inferred(
      'refusals',
      '400, 401, 403, 404, 405, 406, 409, 410, 413, 415 and 422 mean that nothing was done.',
      'A create that was done all the same is an unmanaged object, which the next plan adopts by its identity.',
      ['unit/client/writing.test.ts'],
    ),
    inferred(
      'too-many-requests',
      '429 means that nothing was done if its body is empty or of the form of the service.',
      'Any other 429 may come from a gateway, after the write: for a create the outcome is unknown, and settled by reading.',
      ['unit/client/writing.test.ts', 'unit/client/patience.test.ts'],
    ),
    confirmed(
      'error-bodies',
      'Refusals have many forms: `exception`, `errors`, `message`, JSON:API, problem+json, plain text.',
      'The status decides, never the words; these are shown, with secrets masked.',
      ['unit/client/writing.test.ts', 'unit/client/listing.test.ts'],
    ),
    inferred(
      'rate-limit',
      'About 500 requests a minute are allowed.',
      'At most 450 are sent (`requests_per_minute`). After a 429 all requests wait as long as it asks for, up to 120 s.',
      ['unit/client/patience.test.ts'],
    ),
    confirmed(
      'redirects',
      'A redirect may lead to an address that must not get credentials.',
      'None is followed; the message names the variable of the address.',
      ['unit/client/transport.test.ts'],
    ),
  ]),
  area('IoT platform', [
    confirmed(
      'iot-token',
      '`expires_in` is in seconds, and another token is asked for by password.',
      'A token that is refused with 401 is renewed once, and the page asked for again.',
      ['unit/client/iot.test.ts'],
    ),
    confirmed(
      'iot-pages',
      '`next` is a relative URL or a bare cursor; if it is absent, the listing ends.',
      'A `size` above what came is no end: the reading is refused.',
      ['unit/client/iot.test.ts', 'unit/emulator/iot.test.ts'],
    ),
    inferred(
      'iot-identifiers',
      'Lists hold up to 100 identifiers of the type IMSI, ICC or MSISDN.',
      'A refusal ends the reading. A subscription that was not asked for, or comes twice, does too.',
      ['unit/client/iot.test.ts'],
    ),
    unknown(
      'iot-query',
      'A value in quotation marks stays one condition.',
      'A value with a backslash, control characters or both kinds of quotation marks is refused before anything is asked.',
      ['unit/client/iot.test.ts'],
    ),
    confirmed(
      'iot-limits',
      'Details: 10 requests a second and 150 a minute; tokens: 5 and 60.',
      'A 429 is waited for, as its headers say.',
      ['unit/client/iot.test.ts', 'unit/emulator/iot.test.ts'],
    ),
  ]),
  area('Sample flow', [
    reference(
      'flow-changes',
      'Every call changes the status of a SIM.',
      'It is called by `sim flip` alone, after asking, once.',
      ['unit/client/flow.test.ts', 'integration/sim.test.ts'],
    ),
    inferred(
      'flow-done',
      'The request is done if it is `Completed` and the status after it is the announced one. 400, 401, 403, 404, 409 and 429 mean that nothing was done.',
      'Any other answer leaves the outcome unknown, for a person to look.',
      ['unit/client/flow.test.ts'],
    ),
  ]),
];

export type AssumptionName = (typeof areas)[number]['assumptions'][number]['name'];
