// One page of the keys of a bucket, as XML.
import sax from 'sax';
import { refuseUnreachable } from '../backend-errors.js';

/** The keys of a page, and what asks for the next one. @throws Refusal for a text that is not a whole page */
export function listedKeys(xml: string, location: string) {
  const keys: string[] = [];
  const path: string[] = [];
  const told = new Map<string, string>();
  let ended = false;
  const reader = Object.assign(sax.parser(true), {
    onopentag({ name }: { readonly name: string }) {
      path.push(name);
      if (name === 'Key') keys.push('');
    },
    ontext(text: string) {
      const name = path.at(-1);
      if (name === 'Key') keys[keys.length - 1] += text;
      else if (name !== undefined && path.length === 2) told.set(name, text);
    },
    onclosetag(name: string) {
      path.pop();
      ended = path.length === 0 && name === 'ListBucketResult';
    },
  });
  try {
    reader.write(xml).close();
  } catch {
    ended = false;
  }
  const next = told.get('NextContinuationToken');
  if (!ended || (told.get('IsTruncated') === 'true' && next === undefined))
    return refuseUnreachable(location, 'its list of keys is not whole');
  return { keys, next: told.get('IsTruncated') === 'true' ? next : undefined };
}
