// Subscriptions (SIMs) of the IoT platform: selected by company, label or custom field, or by a list of identifiers.
// Read only: only `trueup sim flip` changes a status.
import { choice, collection, document, list, text } from '../model/index.js';

export const subscriptions = collection({
  name: 'subscriptions',
  singular: 'subscription',
  doc: 'SIM subscriptions of the IoT platform.',
  id: 'imsi',
  attributes: {
    imsi: text('International mobile subscriber identity.'),
    iccid: text('SIM card number (ICCID).'),
    msisdn: text('Telephone number.'),
    state: choice(
      'State.',
      [
        'ACTIVE',
        'ACTIVE_NO_BILLING',
        'DEACTIVATED',
        'DEACTIVATED_NO_BILLING',
        'OPERATOR_BLOCKED',
        'PAUSE',
        'TERMINATED',
        'TERMINATED_PENDING',
      ],
      { open: true },
    ),
    label: text('Label, if there is one.'),
    detectedImei: text(
      'IMEI of the device seen with the SIM; absent if you filter by a list of identifiers.',
    ),
    enterprise: text('Enterprise; may be empty.'),
    organizationId: text('Organisation, if there is one.'),
    customFields: list(
      'Custom fields, if there are any.',
      document('`fieldName` and `fieldValue`.'),
    ),
  },
  columns: ['imsi', 'iccid', 'msisdn', 'state', 'label', 'enterprise'],
  operations: {
    dialect: 'iot',
    collection: 'subscriptions/details',
    paging: 'next',
    page: 10_000,
    filters: ['label', 'company', 'customField', 'imsi', 'icc', 'msisdn'],
    needs: ['label', 'company', 'customField', 'imsi', 'icc', 'msisdn'],
    identifiers: { imsi: 'imsi', icc: 'iccid', msisdn: 'msisdn' },
  },
});
