// The unified diff of one file, as reviewers and `git apply` read it. In its own file, because few commands need it.
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** Empty where the texts are equal. */
export const unifiedDiff = (file: string, before: string, after: string): string =>
  before === after
    ? ''
    : createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, undefined, undefined, {
        context: 3,
        headerOptions: FILE_HEADERS_ONLY,
      });
