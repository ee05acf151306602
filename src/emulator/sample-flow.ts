// The sample flow: one GET that reads a SIM, changes its status to the other one, and reads it again. It writes no
// record to a log, because the reference defines no event for it.
import { mapMembers, type Json } from '../model/index.js';
import { textResponse, queryOf, route, type EmulatorApp, type Asked } from './app.js';
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
  checkParameters(query, ['customerNo', 'filterKey', 'subscriptionStatus']);
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
    SIMStatus: words[state]!,
    SIMInfo: information(before, customer),
  };
  return textResponse(JSON.stringify(result), 'iot');
}

/** Fields that are the same for every SIM. */
const constants: Readonly<Record<string, string>> = {
  '': 'assignedImei chargeCodeForPPMove chargeCodeNonPPMove',
  '0': 'accessControlClass freezeDuration',
  '0000': 'pin1 pin2',
  '00000000': 'puk1 puk2',
  '1': 'tenantId userProfileId operatorId',
  '2FF': 'simSpecification',
  '2024-01-02T03:04:05Z': 'firstActivationDate installationDate lastSubscriptionDateChange',
  Default:
    'roamProfileName priceProfileName productOfferName pdpContextProfileName subscriptionPackageDescription',
  Router: 'deviceTerminalType',
  SIM: 'simCardDescription',
  true: 'gprs lte smsMo smsMt',
  false: 'csd voice clip consumerConnectivity moveToPermitted',
};

/** As it was read first. Every value is a list of one text, but for `apns`. */
function information(record: StoredRecord, customer: string): Json {
  const text = (name: string): string => String(record[name] ?? '');
  const texts = {
    customerLabel: text('label'),
    msisdn: text('msisdn'),
    imsi: text('imsi'),
    icc: text('iccid'),
    imei: text('detectedImei'),
    customerNo: customer,
    simSubscriptionStatus: words[text('state')] ?? '',
    customerName: text('enterprise'),
    ...Object.fromEntries(
      Object.entries(constants).flatMap(([value, names]) =>
        names.split(' ').map((name) => [name, value]),
      ),
    ),
  };
  return {
    ...mapMembers(texts, (value) => [value]),
    apns: [{ apn: [{ name: ['internet'], description: ['Internet'] }] }],
  };
}
