// The ledger of docs/explanation/api.md, from the assumptions that the client states. What is written by hand around it stays.
import { areas, type Source } from '../src/client/assumptions.js';
import { isChecked } from '../src/client/api-checks.js';
import { withPart } from './generated-files.js';

const sources: Readonly<Record<Source, string>> = {
  reference: 'described',
  confirmed: 'seen',
  inferred: 'inferred',
  unknown: 'unknown',
};

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** @throws Error if the page has no place for the ledger */
export function apiPage(page: string): string {
  const tables = areas.map(({ title, assumptions }) => {
    const rows = assumptions.map(({ name, assumed, source, otherwise, tests }) => {
      const files = tests.map((path) => `\`${path.replace(/\.test\.ts$/, '')}\``).join(', ');
      return `| **${name}**${isChecked(name) ? ' ✓' : ''} | ${cell(assumed)} | ${sources[source]} | ${cell(otherwise)} | ${files === '' ? '–' : files} |`;
    });
    return [
      `### ${title}`,
      '',
      '| entry | assumed | source | if it is wrong | tests |',
      '|---|---|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return withPart(page, 'the ledger', `\n\n${tables.join('\n')}\n`);
}
