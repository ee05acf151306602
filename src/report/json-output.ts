// JSON for people and programs: sorted keys, two spaces, and nothing that a terminal or a CI log interprets.
import { sorted, wireText } from '../model/index.js';
import { inert } from './escaping.js';

export const jsonText = (value: unknown): string => `${inert(wireText(sorted(value), 2))}\n`;

/** One line of a stream. */
export const jsonLine = (value: unknown): string => `${inert(wireText(sorted(value)))}\n`;
