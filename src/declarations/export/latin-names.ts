// Names in Latin letters for objects with names in any script. Loaded by `export` alone: the table is half a megabyte.
import anyAscii from 'any-ascii';
import { declarationName, type NameFor } from './declarations.js';

/** As `declarationName`, of the text as it is written in Latin letters. */
export const latinName: NameFor = (text, taken, instead) =>
  declarationName(anyAscii(text), taken, instead);
