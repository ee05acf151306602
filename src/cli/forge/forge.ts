// The interface to a forge: comments on one pull request, issues, check runs. GitHub and GitLab implement it.
import { Refusal, type Diagnostic } from '../../model/index.js';

/** A comment or an issue. */
export interface Post {
  readonly id: string;
  readonly body: string;
  /** Undefined where the user is gone. */
  readonly author: string | undefined;
}

export interface Issue extends Post {
  readonly open: boolean;
}

export interface CheckRun {
  readonly name: string;
  /** By which the check run of an earlier plan is found. */
  readonly key: string;
  readonly conclusion: 'success' | 'neutral' | 'failure';
  readonly title: string;
  /** Markdown, below 65,536 characters. */
  readonly summary: string;
  readonly url: string | undefined;
}

/** @throws ForgeRefusal from every method */
export interface Forge {
  /** `GitHub` or `GitLab`, for messages. */
  readonly title: string;
  /** The user whose posts count: that of `--author`, or that of the token. */
  readonly author: () => Promise<string>;
  /** Those of the pull request, to the end. @throws Refusal where none is named */
  readonly comments: () => AsyncIterable<Post>;
  /** Changes the comment with this id, or creates one. The author that the forge names. */
  readonly writeComment: (body: string, id: string | undefined) => Promise<string | undefined>;
  /** The newest first, whatever their state. @param author where only those of this user are wanted */
  readonly issues: (author: string | undefined) => AsyncIterable<Issue>;
  readonly createIssue: (title: string, body: string) => Promise<string | undefined>;
  /** @param open absent where it stays as it is */
  readonly changeIssue: (id: string, body: string, open?: boolean) => Promise<void>;
  readonly commentOnIssue: (id: string, body: string) => Promise<void>;
  /** Absent where the forge has none. */
  readonly writeCheckRun?: (run: CheckRun) => Promise<void>;
  /** Waits after the `tries`th attempt, and says whether there may be another. */
  readonly pause: (tries: number) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** A request that a forge refused or did not respond to. */
export class ForgeRefusal extends Refusal {
  /** Of HTTP; undefined without a response. */
  readonly status: number | undefined;
  /** True if a create may have taken effect despite the error. */
  readonly lost: boolean;

  constructor(diagnostic: Diagnostic, { status, lost }: Pick<ForgeRefusal, 'status' | 'lost'>) {
    super([diagnostic]);
    this.status = status;
    this.lost = lost;
  }
}

/** Repeats what first looks and then writes, where nobody can tell whether the write took effect. */
export async function repeated<T>(
  { pause }: Pick<Forge, 'pause'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ForgeRefusal) || !error.lost || !(await pause(tries))) throw error;
    }
  }
}
