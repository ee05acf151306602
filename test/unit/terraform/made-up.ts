// A small provider without a cloud, to try the wire with: notes that are kept in terraform's state alone. What a note
// says makes the provider misbehave in a way of the test's choice.
import {
  NOT_NULL,
  Unknown,
  type CtyObject,
  type CtyValue,
} from '../../../src/terraform/protocol/cty.js';
import type { ProviderServer, Schema } from '../../../src/terraform/protocol/provider-replies.js';

export const note: Schema = {
  version: 1,
  description: 'A note.',
  attributes: [
    { name: 'id', type: 'string', description: 'Identifier.', computed: true },
    { name: 'text', type: 'string', description: 'What it says.', required: true },
    { name: 'size', type: 'number', description: 'Any number.', optional: true },
    {
      name: 'tags',
      type: ['set', 'string'],
      description: 'Any tags.',
      optional: true,
      computed: true,
    },
    {
      name: 'lock',
      description: 'Who may read it.',
      optional: true,
      nested: {
        nesting: 'SINGLE',
        attributes: [
          {
            name: 'key_wo',
            type: 'string',
            description: 'The key.',
            optional: true,
            sensitive: true,
            write_only: true,
          },
          { name: 'key_wo_version', type: 'number', description: 'Its version.', optional: true },
        ],
      },
    },
  ],
};

const schema = {
  provider: {
    version: 0,
    description: 'Made up.',
    attributes: [{ name: 'prefix', type: 'string', description: 'Of every id.', optional: true }],
  },
  resources: { devicecloud_note: note },
  dataSources: {
    devicecloud_echo: {
      version: 0,
      description: 'Says it again.',
      attributes: [
        { name: 'text', type: 'string', description: 'What to say.', required: true },
        { name: 'length', type: 'number', description: 'Of it.', computed: true },
      ],
    },
  },
  lists: { devicecloud_note: { version: 0, description: 'Notes.', attributes: [] } },
  identities: {
    devicecloud_note: {
      version: 0,
      attributes: [
        { name: 'id', type: 'string', description: 'Identifier.', required_for_import: true },
      ],
    },
  },
  functions: {
    twice: {
      summary: 'Doubles.',
      description: 'Doubles a text.',
      parameters: [{ name: 'text', type: 'string', description: 'Any.' }],
      returns: 'string',
    },
  },
} as const;

const fields = (value: CtyValue): CtyObject => value as CtyObject;
const withoutKey = (lock: CtyValue | undefined): CtyValue =>
  lock === null || lock === undefined ? null : { ...fields(lock), key_wo: null };

/** What each misbehaviour makes of a state. */
const misdeeds: Readonly<Record<string, (state: CtyObject) => CtyValue>> = {
  nan: (state) => ({ ...state, size: Number.NaN }),
  unknown: (state) => ({ ...state, tags: new Unknown() }),
  leak: (state) => ({ ...state, lock: { key_wo: 'told', key_wo_version: 1 } }),
  other: (state) => ({ ...state, text: 'something else' }),
  junk: (state) => ({ ...state, size: 'many', tags: 7, what: 'is this' }),
};
const misbehaved = (when: string, state: CtyObject): CtyValue => {
  const [at, deed = ''] = String(state['text']).split(' ');
  return at === when ? (misdeeds[deed] ?? ((same: CtyObject) => same))(state) : state;
};

/** `calls` tells which methods core called, in order; `on` happens at each of them. */
export function madeUp(
  options: { readonly calls?: string[]; readonly on?: (call: string) => Promise<void> } = {},
): ProviderServer {
  let made = 0;
  const on = async (call: string): Promise<void> => {
    options.calls?.push(call);
    await options.on?.(call);
  };
  return {
    schema,
    async validateProviderConfig() {
      await on('validateProviderConfig');
      return {};
    },
    async configureProvider() {
      await on('configureProvider');
      return {};
    },
    async validateResourceConfig({ config, client_capabilities }) {
      await on('validateResourceConfig');
      const { text, lock } = fields(config);
      if (text === 'throws') throw new Error('a secret in a message');
      if (text === '')
        return {
          diagnostics: [
            {
              severity: 'error',
              summary: 'a note says something',
              detail: 'Write a text.',
              path: ['text'],
            },
          ],
        };
      if (lock !== null && !client_capabilities.write_only_attributes_allowed)
        return {
          diagnostics: [{ severity: 'error', summary: 'too old', path: ['lock', 'key_wo'] }],
        };
      return text === 'shout'
        ? { diagnostics: [{ severity: 'warning', summary: 'not so loud', path: ['tags', 0] }] }
        : {};
    },
    async validateDataResourceConfig() {
      await on('validateDataResourceConfig');
      return {};
    },
    async upgradeResourceState({ raw }) {
      await on('upgradeResourceState');
      const { id, text, size, tags, lock } = raw as CtyObject;
      return {
        upgraded: {
          id: id ?? null,
          text: text ?? null,
          size: size ?? null,
          tags: tags ?? null,
          lock: lock ?? null,
        },
      };
    },
    async upgradeResourceIdentity({ raw }) {
      return { upgraded: raw as CtyValue };
    },
    async readResource({ current_state }) {
      await on('readResource');
      return { new_state: misbehaved('read', fields(current_state)) };
    },
    async planResourceChange({ prior_state, proposed_new_state, config }) {
      await on('planResourceChange');
      if (config === null) return { planned_state: null };
      const { tags, lock } = fields(config);
      const state = fields(proposed_new_state);
      const id =
        prior_state === null ? new Unknown(NOT_NULL) : (fields(prior_state)['id'] as CtyValue);
      const planned = { ...state, id, tags: tags ?? [], lock: withoutKey(lock) };
      const replace =
        prior_state !== null && fields(prior_state)['size'] !== fields(config)['size'];
      return {
        planned_state: misbehaved('plan', planned),
        ...(replace ? { requires_replace: [['size']] } : {}),
      };
    },
    async applyResourceChange({ planned_state }) {
      await on('applyResourceChange');
      if (planned_state === null) return { new_state: null };
      const { id } = fields(planned_state);
      const state: CtyObject = {
        ...fields(planned_state),
        id: id instanceof Unknown ? `note-${(made += 1)}` : (id as CtyValue),
      };
      if (String(state['text']).startsWith('partly'))
        return {
          new_state: { ...state, tags: new Unknown() },
          diagnostics: [{ severity: 'error', summary: 'half of it is done' }],
        };
      return { new_state: misbehaved('apply', state) };
    },
    async importResourceState({ type_name, id, identity }) {
      await on('importResourceState');
      const found = id === '' ? (fields(identity)['id'] as CtyValue) : id;
      return {
        imported_resources: [
          { type_name, state: { id: found, text: 'imported', size: null, tags: [], lock: null } },
        ],
      };
    },
    async moveResourceState({ raw }) {
      await on('moveResourceState');
      return { target: raw as CtyValue };
    },
    async listResource({ limit }) {
      await on('listResource');
      const state = { text: 'listed', size: null, tags: [], lock: null };
      return {
        objects: Array.from({ length: limit }, (_, index) => ({
          name: `Note ${index}`,
          state: { ...state, id: `note-${index}` },
        })),
      };
    },
    async callFunction({ values: [text] }) {
      await on('callFunction');
      if (text === 'throws') throw new Error('a secret in a message');
      if (text === 'liar') return { result: 7 };
      return text === ''
        ? { error: { text: 'nothing to double', argument: 0 } }
        : { result: String(text).repeat(2) };
    },
    async readDataSource({ config }) {
      await on('readDataSource');
      const { text } = fields(config);
      return {
        state: {
          text: text === 'liar' ? 'truth' : (text as CtyValue),
          length: String(text).length,
        },
      };
    },
    async stopProvider() {
      await on('stopProvider');
    },
    async close() {
      await on('close');
    },
  };
}
