// The plan document of a plan without changes: a test of a policy gives only the members that differ.
import type { JsonObject } from '../model/index.js';

export const emptyPlan: JsonObject = {
  format_version: '1.0',
  target: '',
  generated_at: '1970-01-01T00:00:00.000Z',
  generated_from: { paths: [], digest: '' },
  state: { lineage: null, serial: 0 },
  api_requests: {},
  resource_changes: [],
  resource_drift: [],
  unmanaged: {},
  policy: [],
  summary: {
    create: 0,
    update: 0,
    replace: 0,
    delete: 0,
    adopt: 0,
    forget: 0,
    keep: 0,
    writes: { create: 0, update: 0, delete: 0 },
  },
  diagnostics: [],
};
