// The sample flow: one GET that reads a SIM, changes its status to the other one, and reads it again. It belongs to
// nobody's log: the reference gives it no events.
import type { Json } from '../model/index.js';
import { answerText, queryOf, route, type EmulatorApp, type Asked } from './app.js';
import { checkParameters } from './pagination.js';
import type { StoredRecord } from './records.js';
import { turnDown } from './error-responses.js';

/** The transition table: state to state, with the flow's own words for them. */
const transitions: Readonly<Record<string, string>> = { ACTIVE: 'PAUSE', PAUSE: 'ACTIVE' };
const words: Readonly<Record<string, string>> = { ACTIVE: 'Active', PAUSE: 'Pause' };

export const addFlow = (app: EmulatorApp): void =>
  route(app, '/get_sim_info/activate_sim', { GET: flip });

function flip(c: Asked): Response {
  const { store, credentials, random } = c.env.cloud;
  const { username, password } = credentials.flow;
  if (c.req.header('x-username') !== username || c.req.header('x-password') !== password)
    turnDown(401, 'the user name or the password is wrong');
  const query = queryOf(c);
  checkParameters(query, (name) =>
    ['customerNo', 'filterKey', 'subscriptionStatus'].includes(name),
  );
  const key = query.get('filterKey') ?? '';
  if (!['imsi', 'msisdn'].includes(key))
    turnDown(400, 'filterKey must be imsi or msisdn', ['filterKey']);
  if (!['Activate', 'Active', 'Pause'].includes(query.get('subscriptionStatus') ?? ''))
    turnDown(400, 'subscriptionStatus must be Activate', ['subscriptionStatus']);
  const customer =
    query.get('customerNo') || turnDown(400, 'customerNo must be given', ['customerNo']);
  const value =
    c.req.header('filtervalue') ||
    turnDown(400, 'the header filterValue must be given', ['filterValue']);
  const before = store
    .records('subscriptions')
    .find((one) => one[key] === value && (one['customerNo'] ?? customer) === customer);
  if (!before) return turnDown(404, 'there is no such subscription of this customer');
  const state =
    transitions[String(before['state'])] ??
    turnDown(409, `the status cannot be changed while it is ${String(before['state'])}`);
  store.rewrite('subscriptions', before, { ...before, state });
  const result = {
    [store.now()]: { serviceRequestId: random.uuid(), statusRequestResponse: 'Completed' },
    SIMStatus: words[state] as string,
    SIMInfo: information(before, customer),
  };
  return answerText(JSON.stringify(result), 'iot');
}

/** As it was read first. Every value is a list of one text, but for `apns`. */
function information(record: StoredRecord, customer: string): Json {
  const text = (name: string): string => String(record[name] ?? '');
  const since = '2024-01-02T03:04:05Z';
  const texts = {
    customerLabel: text('label'),
    msisdn: text('msisdn'),
    imsi: text('imsi'),
    icc: text('iccid'),
    pin1: '0000',
    pin2: '0000',
    puk1: '00000000',
    puk2: '00000000',
    imei: text('detectedImei'),
    assignedImei: '',
    customerNo: customer,
    accessControlClass: '0',
    roamProfileName: 'Default',
    deviceTerminalType: 'Router',
    simSubscriptionStatus: words[text('state')] ?? '',
    simCardDescription: 'SIM',
    simSpecification: '2FF',
    priceProfileName: 'Default',
    productOfferName: 'Default',
    pdpContextProfileName: 'Default',
    tenantId: '1',
    userProfileId: '1',
    firstActivationDate: since,
    ...Object.fromEntries(['gprs', 'lte', 'smsMo', 'smsMt'].map((name) => [name, 'true'])),
    ...Object.fromEntries(
      ['csd', 'voice', 'clip', 'consumerConnectivity'].map((name) => [name, 'false']),
    ),
    installationDate: since,
    lastSubscriptionDateChange: since,
    moveToPermitted: 'false',
    freezeDuration: '0',
    chargeCodeForPPMove: '',
    chargeCodeNonPPMove: '',
    customerName: text('enterprise'),
    subscriptionPackageDescription: 'Default',
    operatorId: '1',
  };
  return {
    ...Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, [value]])),
    apns: [{ apn: [{ name: ['internet'], description: ['Internet'] }] }],
  };
}
