// CDK programs as people write them: what trueup makes of their stacks is what the real terraform makes of them.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import '../support/cli.js';
import { programDifferences } from '../support/programs.js';
import { terraformIsHere } from '../support/terraform.js';

const story = (name: string): string =>
  join(import.meta.dirname, '../unit/constructs/programs/stories', `${name}.mjs`);

describe.runIf(terraformIsHere('programs by trueup and by terraform', 7))(
  'what trueup and terraform leave',
  () => {
    it.each([
      ['sites', 'cdktf', {}],
      [
        'sites',
        'cdktn',
        {
          variables: {
            'TF_VAR_depot-count': '1',
            TF_VAR_names: '["west"]',
            TF_VAR_extra: '{"east": "Very near"}',
          },
        },
      ],
      ['platform', 'cdktn', { variables: { TF_VAR_pager_key: 'hunter2' }, allow: ['first-run'] }],
      ['hatches', 'cdktn', {}],
      ['functions', 'cdktf', {}],
      [
        'functions',
        'cdktn',
        { variables: { TF_VAR_large: 'false', TF_VAR_names: '["a","b"]', TF_VAR_region: 'süd' } },
      ],
      ['takeover', 'cdktf', { stages: ['first', 'second'] }],
    ])(
      'of the program %s of %s is the same',
      { timeout: 120_000 },
      async (name, library, options) => {
        expect((await programDifferences(story(name), library, options)).join('\n')).toBe('');
      },
    );
  },
);
