// What the block of the provider and the environment come to.
import { expect, it } from 'vitest';
import { configurationOf } from '../../../src/terraform/provider-block.js';

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
