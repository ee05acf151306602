// The hidden lines of a post: the marker by which it is found again, and a digest that shows edits by others. Values of
// an estate never begin a line of a report, so no value is taken for such a line.
import { sha256, warning, type Diagnostic } from '../../model/index.js';
import type { Forge, Post } from './forge.js';

/** Most characters of a post: forges take fewer than 65,536. */
export const LARGEST_POST = 65_400;

/** Characters of a report, which leave some for marker and link. */
export const LARGEST_REPORT = 64_000;

export const markerOf = (what: 'plan' | 'drift', key: string): string =>
  `<!-- trueup:${what}:${key} -->`;

/** Forges change line breaks and spaces at the end. */
export const linesOf = (body: string): readonly string[] =>
  body.replaceAll('\r\n', '\n').trimEnd().split('\n');

/** The first post with this marker that the author wrote: anybody may write the marker. */
export async function firstMarked<T extends Post>(
  posts: AsyncIterable<T>,
  marker: string,
  author: string,
): Promise<T | undefined> {
  const wanted = author.toLowerCase();
  for await (const post of posts)
    if (post.author?.toLowerCase() === wanted && linesOf(post.body)[0]?.trimEnd() === marker)
      return post;
  return undefined;
}

/** A warning where the author is another than expected: the next run would not find the post. */
export const strayAuthor = (
  { title }: Forge,
  wanted: string,
  wrote: string | undefined,
): readonly Diagnostic[] =>
  wrote === undefined || wrote.toLowerCase() === wanted.toLowerCase()
    ? []
    : [
        warning(
          'other-author',
          `${title} names ${JSON.stringify(wrote)} as the author, not ${JSON.stringify(wanted)}: the next run will not find this post.`,
          'Name the author: --author NAME',
        ),
      ];

/** The line below the marker. */
export const sealOf = (lines: readonly string[]): string =>
  `<!-- trueup:sha256:${sha256(lines.join('\n').trimEnd())} -->`;
