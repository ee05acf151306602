// Numbers that no double holds, in every form of a listing: as the API gave them, never as texts.
import { expect, test } from 'vitest';
import { formOf } from '../../../src/cli/record-formats.js';
import type { RecordFormat } from '../../../src/report/formats.js';
import {
  normalAll,
  parseJson,
  type Collection,
  type Found,
  type JsonObject,
} from '../../../src/model/index.js';
import { collections } from '../../../src/resources/index.js';

const managers = collections.get('configuration_managers') as Collection;
const record = (text: string): Found => {
  const parsed = parseJson(text) as JsonObject;
  return { record: parsed, values: normalAll(managers.attributes, parsed) };
};
const given =
  '{"id":"1","version_number":-9007199254740993,"target":[{"at":1735689600.123456789,"list":[1e400,{}],"text":"9007199254740993"},[]]}';

const listed = async (output: RecordFormat, collection = managers): Promise<string> => {
  const found = [record(given), record('{"id":"2","version_number":1}')];
  const form = await formOf(output, collection, found);
  return form.some(found) + form.end();
};

test.each<[RecordFormat, RegExp]>([
  [
    'json',
    /\n {4}"version_number": -9007199254740993,\n {4}"target": \[\n {6}\{\n {8}"at": 1735689600\.123456789,\n {8}"list": \[\n {10}1e400,\n {10}\{\}\n {8}\],\n {8}"text": "9007199254740993"\n/,
  ],
  [
    'ndjson',
    /^\{"id":"1","version_number":-9007199254740993,"target":\[\{"at":1735689600\.123456789,"list":\[1e400,\{\}\],"text":"9007199254740993"\},\[\]\]\}\n\{"id":"2"/,
  ],
  [
    'yaml',
    /\n {2}version_number: -9007199254740993\n {2}target:\n {4}- at: 1735689600\.123456789\n {6}list:\n {8}- 1e400\n {8}- \{\}\n {6}text: "9007199254740993"\n/,
  ],
  [
    'csv',
    /""at"":1735689600\.123456789,""list"":\[1e400,\{\}\],""text"":""9007199254740993"".*,-9007199254740993,/,
  ],
  ['wide', /-9007199254740993/],
])('%s', async (output, expected) => {
  expect(await listed(output)).toMatch(expected);
});

test('a column of what has no known attributes', async () => {
  expect(await listed('csv', { ...managers, attributes: {} })).toContain(
    '\r\n1,-9007199254740993,',
  );
});
