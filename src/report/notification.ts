// The message that tells the end of a run, in the formats that webhooks take. Texts of the service are plain text in
// each: no mention, no link, no markup.
import { visible, shorten } from './escaping.js';
import type { NotificationFormat } from './formats.js';
import { jsonLine } from './json-output.js';

export interface Notification {
  readonly trueup_version: string;
  readonly command: string;
  /** The name of the folder. */
  readonly project: string;
  /** Null where the run did not come so far. */
  readonly target: string | null;
  readonly exit: number;
  /** The sentence that the command ends with, or the first error. */
  readonly summary: string;
  readonly counts: Readonly<Record<string, number>>;
  /** The page of the CI job, where it is known. */
  readonly run_url: string | null;
  /** Summaries of the errors, without secrets. */
  readonly errors: readonly string[];
}

/** Errors in a document for programs, and in a message for people, which has a limit of some thousand characters. */
const MOST_ERRORS = 100;
const MOST_SHOWN = 5;
const LONGEST = 300;

export function renderNotification(notification: Notification, format: NotificationFormat): string {
  return jsonLine(documents[format](notification));
}

const documents: Readonly<Record<NotificationFormat, (notification: Notification) => object>> = {
  generic: (notification) => ({
    ...notification,
    errors: notification.errors.slice(0, MOST_ERRORS),
  }),
  // Without `mrkdwn`, Slack shows asterisks and the like as they are; previews would fetch what a text names.
  slack: (notification) => ({
    text: [
      ...linesOf(notification),
      ...(notification.run_url === null ? [] : [notification.run_url]),
    ]
      .map((line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'))
      .join('\n'),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
  }),
  // A text run has no Markdown; a text block has.
  teams: (notification) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: linesOf(notification).map((text, index) => ({
            type: 'RichTextBlock',
            inlines: [{ type: 'TextRun', text, ...(index === 0 && { weight: 'Bolder' }) }],
          })),
          ...(notification.run_url !== null && {
            actions: [{ type: 'Action.OpenUrl', title: 'Open the job', url: notification.run_url }],
          }),
        },
      },
    ],
  }),
};

function linesOf({
  command,
  project,
  target,
  summary,
  exit,
  errors,
}: Notification): readonly string[] {
  const shown = errors.filter((error) => error !== summary).slice(0, MOST_SHOWN);
  const left = errors.length - shown.length - (errors.includes(summary) ? 1 : 0);
  return [
    `trueup ${command}: ${project}${target === null ? '' : ` (${target})`}`,
    summary,
    `Exit code ${exit}`,
    ...shown.map((error) => `Error: ${error}`),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ].map((line) => visible(shorten(line, LONGEST)));
}
