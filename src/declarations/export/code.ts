// Values of declarations as code without layout, shared by the languages of `export`.
import {
  Reference,
  isList,
  isTree,
  type Attribute,
  type Attributes,
  type Value,
  type Values,
} from '../../model/index.js';

/** A text, or what stands between brackets; `call` names a function around it. */
export type Code =
  | string
  | { readonly items: readonly Code[]; readonly call?: string }
  | { readonly members: readonly CodeMember[]; readonly call?: string };

export type CodeMember = readonly [key: string, code: Code];

export interface ExportLanguage {
  readonly quoted: (text: string) => string;
  readonly nameOf: (attribute: string) => string;
  /** A key of a document or map. */
  readonly keyOf: (key: string) => string;
  readonly referring: (reference: Reference) => string;
  readonly document: (value: Value) => Code;
}

export const codeMembers = (
  attributes: Attributes,
  values: Values,
  language: ExportLanguage,
): readonly CodeMember[] =>
  Object.entries(values).map(([name, value]) => [
    language.nameOf(name),
    codeOf(attributes[name]!, value, language),
  ]);

function codeOf(attribute: Attribute, value: Value, language: ExportLanguage): Code {
  if (value instanceof Reference) return language.referring(value);
  if (attribute.word === 'document') return language.document(value);
  if (attribute.word === 'object' && isTree(value))
    return { members: codeMembers(attribute.attributes, value, language) };
  if ((attribute.word === 'list' || attribute.word === 'set') && isList(value))
    return { items: value.map((item) => codeOf(attribute.of, item, language)) };
  return literalCode(value, language);
}

/** A value that holds no references. */
export function literalCode(value: Value, language: ExportLanguage): Code {
  if (typeof value === 'string') return language.quoted(value);
  if (isList(value)) return { items: value.map((item) => literalCode(item, language)) };
  if (!isTree(value)) return String(value);
  const members = Object.entries(value);
  return {
    members: members.map(([key, item]) => [language.keyOf(key), literalCode(item, language)]),
  };
}
