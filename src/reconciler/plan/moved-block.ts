// The block that says that an object has a new address, for advice.

/** As it stands in a declaration file. */
export const movedBlock = (from: string, to: string): string =>
  `moved: [{ from: ${yamlText(from)}, to: ${yamlText(to)} }]`;

const yamlText = (text: string): string =>
  `'${text.replaceAll("'", "''").replaceAll('${', () => '$${')}'`;
