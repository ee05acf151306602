// What the block of the provider and the environment come to.
import { expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.js';
import { journalAt } from '../../../src/cli/provider-tools.js';
import { exits } from '../../../src/model/index.js';
import { configurationOf } from '../../../src/terraform/provider-block.js';
import { freshFolder, inProcess } from '../../support/in-process.js';
import { simulatedMachine } from '../../support/simulated-machine.js';

it.each([
  [undefined, undefined, '.trueup/terraform'],
  ['', '', '.trueup/terraform'],
  // The state of the command: another program's file.
  [undefined, '.trueup/state.json', '.trueup/terraform'],
  [undefined, 'postgres://db.example.com/trueup', 'postgres://db.example.com/trueup'],
  ['s3://acme-trueup/prod', 'postgres://db.example.com/trueup', 's3://acme-trueup/prod'],
  // Refused when it is opened: no folder takes its place.
  [undefined, 's3//acme-trueup/prod', 's3//acme-trueup/prod'],
  ['journal', 'postgres://db.example.com/trueup', 'journal'],
])('the journal %j with TRUEUP_STATE %j is at %j', (journal, TRUEUP_STATE, place) => {
  const block = { journal: journal ?? null };
  expect(configurationOf(block, { TRUEUP_STATE }, []).journal).toBe(place);
});

it('a journal at a mistyped address is refused', async () => {
  const lock = simulatedMachine().start();
  const open = async (context: Context) => {
    await journalAt(context, { lock, parent: 1, place: 's3//acme-trueup/prod', name: 'n' });
    return exits.done;
  };
  const opened = await inProcess(open, ['state', 'list'], { cwd: freshFolder(), env: {} });
  expect(opened.code).toBe(exits.error);
  expect(opened.stderr).toContain('Did you mean s3://acme-trueup/prod?');
});
