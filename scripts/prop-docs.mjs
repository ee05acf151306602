// Gives what editors show of props and getters its words. Types that are mapped from a kind have no comments of their
// own, so that beside each class an interface is written, with a comment a member; what a member may be is still said
// by the mapped type, and the interface names it.

export const comment = (lines, indent = '') =>
  `${indent}/**\n${lines.map((line) => `${indent} * ${line.replaceAll('*/', '*\\/')}`.trimEnd()).join('\n')}\n${indent} */\n`;

export const camel = (name) =>
  name.replaceAll(/_+([a-z0-9])/g, (_, letter) => letter.toUpperCase());
export const pascal = (name) => camel(`_${name}`);

/**
 * The props of attributes, each with its words: the same choice as `members.ts` and `props.ts` make, without types.
 * @param form `declared`: what can be given; `condition`: what an object is found by; `read`: what can be read
 */
function membersOf(attributes, { form, writeOnly }) {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const { secret, unstored, computed, immutable, doc, optional, read_doc = doc } = attribute;
    const isPlain = !['list', 'set', 'map', 'object', 'document'].includes(attribute.word);
    if (unstored) return [];
    if (form === 'condition')
      return secret || !isPlain
        ? []
        : [{ prop: camel(name), doc: read_doc, optional: true, attribute }];
    if (form === 'read')
      return secret ||
        attribute.wire === 'merge' ||
        (attribute.word === 'object' && hidesAll(attribute))
        ? []
        : [{ prop: camel(name), doc: read_doc, attribute }];
    if (computed) return [];
    const words = immutable ? `${doc} Fixed at creation.` : doc;
    if (!secret || !writeOnly) return [{ prop: camel(name), doc: words, optional, attribute }];
    return [
      {
        prop: `${camel(name)}Wo`,
        doc: `${words} A reference, as the \`stringValue\` of a sensitive variable is one; it is in no state.`,
        optional: true,
        attribute,
      },
      {
        prop: `${camel(name)}WoVersion`,
        doc: 'Another number sends the secret again.',
        optional: true,
        attribute,
      },
    ];
  });
}

const hidesAll = ({ attributes }) =>
  Object.values(attributes).every(({ secret }) => secret === true);

/** Interfaces by name, the one of the attributes last: those of objects inside come before it. @param mapped the type that says what the members may be */
function interfacesOf(name, attributes, mapped, how) {
  const inner = [];
  const members = membersOf(attributes, how).map(({ prop, doc, optional, attribute }) => {
    let type = `${mapped}["${prop}"]`;
    if (attribute.word === 'object' && how.form === 'declared') {
      const nested = `${name.replace(/Props$/, '')}${pascal(`_${prop}`)}Props`;
      inner.push(
        ...interfacesOf(
          nested,
          attribute.attributes,
          `Exclude<NonNullable<${type}>, ${how.whole}>`,
          how,
        ),
      );
      const whole = attribute.block ? '' : ` | ${how.whole}`;
      type = `${nested}${whole}${optional ? ' | undefined' : ''}`;
    }
    return {
      prop,
      text: `${comment([doc], '    ')}    readonly ${prop}${optional ? '?' : ''}: ${type};\n`,
    };
  });
  const rest =
    how.form === 'read'
      ? ''
      : ` extends Omit<${mapped}, ${members.map(({ prop }) => `"${prop}"`).join(' | ') || 'never'}>`;
  return [
    ...inner,
    `export interface ${name}${rest} {\n${members.map(({ text }) => text).join('')}}\n`,
  ];
}

const HELPER = `type Documented<C extends abstract new (...given: never) => unknown, P, O> = { readonly [K in keyof C]: C[K] } & import("../../props.js").ClassOf<InstanceType<C> & O, P, unknown>;
`;

/**
 * The declarations of a door with an interface for the props of each class, and one for its getters.
 * @param tell by the name of a class: the attributes of its props and of its getters, and `form` of the props
 * @param door `whole`: the type that stands for a value that is only known later; `writeOnly`: how secrets are given
 */
export function withPropDocs(text, tell, door) {
  const written = text.replaceAll(
    /^declare const (\w+)_base: ([^]*?;)\n(?=export declare class \1 )/gm,
    (all, name, type) => {
      const told = tell(name);
      if (!told) throw new Error(`nothing is known of the class ${name}`);
      const mapped = `${name}_mapped`;
      const props = interfacesOf(
        `${name}Props`,
        told.props,
        `import("../../props.js").PropsOf<typeof ${mapped}>`,
        { ...door, form: told.form },
      );
      const read = interfacesOf(`${name}Getters`, told.read, `InstanceType<typeof ${mapped}>`, {
        ...door,
        form: 'read',
      });
      return `declare const ${mapped}: ${type}\n${[...props, ...read].join('')}declare const ${name}_base: Documented<typeof ${mapped}, ${name}Props, ${name}Getters>;\n`;
    },
  );
  return `${written.trimEnd()}\n${HELPER}`;
}

/** The declarations of the provider's construct, likewise. */
export function withBlockDocs(text, attributes, door) {
  return text.replace(
    /^export type DevicecloudProviderProps = ([^]*?;)\n(?=export declare class)/m,
    (_, type) => {
      const written = interfacesOf('DevicecloudProviderProps', attributes, 'MappedProps', {
        ...door,
        writeOnly: false,
        form: 'declared',
      });
      return `type MappedProps = ${type}\n${written.join('')}`;
    },
  );
}
