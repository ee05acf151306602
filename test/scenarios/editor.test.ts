// The published schemas in an editor: completion, hover and errors, by the real YAML language server over its pipe.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node.js';

const root = join(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);
const server = require.resolve('yaml-language-server/bin/yaml-language-server');
const schemaFor = (name: string): string =>
  pathToFileURL(join(root, 'schemas', `${name}.schema.json`)).href;

interface Position {
  readonly line: number;
  readonly character: number;
}
interface Answer {
  readonly labels: readonly string[];
  readonly hover: string;
  readonly errors: readonly string[];
}

let child: ChildProcess;
let connection: MessageConnection;
const published = new Map<string, (messages: readonly string[]) => void>();

beforeAll(async () => {
  child = spawn(process.execPath, [server, '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
  connection = createMessageConnection(
    new StreamMessageReader(child.stdout!),
    new StreamMessageWriter(child.stdin!),
  );
  connection.onNotification(
    'textDocument/publishDiagnostics',
    ({ uri, diagnostics }: { uri: string; diagnostics: readonly { message: string }[] }) =>
      published.get(uri)?.(diagnostics.map(({ message }) => message)),
  );
  // No settings of an editor: the line on top of the file names the schema.
  connection.onRequest('workspace/configuration', ({ items }: { items: readonly unknown[] }) =>
    items.map(() => ({
      validate: true,
      completion: true,
      hover: true,
      schemaStore: { enable: false },
    })),
  );
  connection.onRequest('client/registerCapability', () => null);
  connection.listen();
  await connection.sendRequest('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities: {
      workspace: { configuration: true },
      textDocument: { completion: {}, hover: {} },
    },
  });
  await connection.sendNotification('initialized', {});
});

afterAll(() => {
  connection.dispose();
  child.kill('SIGKILL');
});

let files = 0;

/** Opens a file in which `|` stands for the cursor, and returns what the editor would show there. */
async function edit(schema: string, text: string): Promise<Answer> {
  const uri = `file:///edited/${(files += 1)}.yaml`;
  const whole = `# yaml-language-server: $schema=${schemaFor(schema)}\n${text}`;
  const before = whole.slice(0, whole.indexOf('|'));
  const position: Position = {
    line: before.split('\n').length - 1,
    character: before.length - before.lastIndexOf('\n') - 1,
  };
  const checked = new Promise<readonly string[]>((resolve) => published.set(uri, resolve));
  await connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'yaml', version: 1, text: whole.replace('|', '') },
  });
  const errors = await checked;
  const at = { textDocument: { uri }, position };
  const completion: { items: readonly { label: string }[] } | null = await connection.sendRequest(
    'textDocument/completion',
    at,
  );
  const hover: { contents: { value?: string } } | null = await connection.sendRequest(
    'textDocument/hover',
    at,
  );
  return {
    labels: (completion?.items ?? []).map(({ label }) => label),
    hover: hover?.contents.value ?? '',
    errors,
  };
}

describe('completion offers', () => {
  test.each([
    [
      'sections',
      'declarations',
      'accounts: {}\n|',
      ['alert_rules', 'templates', 'use', 'moved', 'groups'],
    ],
    [
      'attributes',
      'declarations',
      'alert_rules:\n  a:\n    |',
      ['filter_criteria', 'for_each', 'lifecycle'],
    ],
    [
      'words of a choice',
      'declarations',
      'account_authorizations:\n  a:\n    role: |',
      ['administrator', 'read_only_user'],
    ],
    [
      'members of lifecycle',
      'declarations',
      'accounts:\n  a:\n    lifecycle:\n      |',
      ['protect', 'adopt', 'ignore_changes'],
    ],
    ['settings', 'declarations', 'settings:\n  |', ['target', 'policy', 'state']],
    [
      'kinds beyond the reference',
      'declarations',
      'settings:\n  kinds:\n    - |',
      ['users', 'groups', 'routers'],
    ],
    ['keys of a use', 'declarations', 'use:\n  a:\n    |', ['template', 'with', 'for_each']],
    [
      'attributes inside a template',
      'declarations',
      'templates:\n  t:\n    accounts:\n      a:\n        |',
      ['name', 'account'],
    ],
    ['keys of a block', 'declarations', 'moved:\n  - |', ['from', 'to']],
    ['fields of a policy', 'policies', '- name: a\n  |', ['when', 'message', 'severity', 'allow']],
    ['fields of a test', 'policy-tests', '- name: a\n  |', ['policy', 'plan', 'violations']],
  ])('%s', async (_, schema, text, wanted) => {
    const { labels } = await edit(schema, text);
    expect(labels).toEqual(expect.arrayContaining(wanted));
  });
});

test('hover shows the sentence of an attribute', async () => {
  const { hover } = await edit('declarations', 'accounts:\n  a:\n    na|me: A\n');
  expect(hover).toContain('Display name');
});

describe('errors', () => {
  test('name an unknown attribute, and a wrong type', async () => {
    const { errors } = await edit(
      'declarations',
      'accounts:\n  a: { nmae: A }\nalert_push_destinations:\n  p: { name: P, enabled: 7, endpoint: { url: "https://x.example" } }\n|',
    );
    expect(errors.join('\n')).toContain('nmae');
    expect(errors.length).toBeGreaterThan(1);
  });

  test('are none in the examples', async () => {
    for (const [schema, name] of [
      ['declarations', 'first-steps/trueup.yaml'],
      ['declarations', 'field-operations/rules.yaml'],
      ['declarations', 'forty-customers/templates.yaml'],
      ['declarations', 'forty-customers/customers.yaml'],
      ['declarations', 'forty-customers/roles.yaml'],
      ['policies', 'forty-customers/policies/base.cel.yaml'],
      ['policy-tests', 'forty-customers/policies/base.test.yaml'],
    ] as const) {
      const text = readFileSync(join(root, 'examples', name), 'utf8');
      expect([name, (await edit(schema, `${text}\n|`)).errors]).toEqual([name, []]);
    }
  });
});
