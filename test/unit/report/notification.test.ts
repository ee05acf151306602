// The message that tells the end of a run: a document for programs, and texts that Slack and Teams show as they are.
import { describe, expect, it } from 'vitest';
import { renderNotification, type Notification } from '../../../src/report/notification.js';

const hostile =
  '<!channel> *bold* [here](https://evil.example.com) <at>all</at> & \u202e\u001b[31m\n::error::';
const notification: Notification = {
  trueup_version: '1.2.3',
  command: 'apply',
  project: hostile,
  target: 'https://cloud.example.com/api/v2',
  exit: 7,
  summary: 'Not all applied: 1 created, 0 updated, 0 deleted; 0 unchanged, 1 failed.',
  counts: { create: 1, failed: 1 },
  run_url: 'https://ci.example.com/1',
  errors: [hostile, 'accounts.b: the service refused it'],
};
const rendered = (format: 'generic' | 'slack' | 'teams', more: Partial<Notification> = {}) =>
  JSON.parse(renderNotification({ ...notification, ...more }, format)) as Record<string, unknown>;

describe('a notification', () => {
  it('is a document for programs', () => {
    expect(rendered('generic')).toEqual(notification);
    expect(renderNotification(notification, 'generic')).not.toMatch(/[\u202e\u001b]/);
    const errors = Array.from({ length: 1000 }, (_, index) => `error ${index}`);
    expect(rendered('generic', { errors })['errors']).toHaveLength(100);
  });

  it('is inert text for Slack', () => {
    const { text, ...rest } = rendered('slack') as { text: string };
    expect(rest).toEqual({ mrkdwn: false, unfurl_links: false, unfurl_media: false });
    const lines = text.split('\n');
    expect(lines[0]).toBe(
      'trueup apply: &lt;!channel&gt; *bold* [here](https://evil.example.com) &lt;at&gt;all&lt;/at&gt; &amp; \\u202e\\u001b[31m\\n::error:: (https://cloud.example.com/api/v2)',
    );
    expect(lines.slice(1, 3)).toEqual([notification.summary, 'Exit code 7']);
    expect(lines[3]).toMatch(/^Error: &lt;!channel&gt;/);
    expect(lines.slice(4)).toEqual([
      'Error: accounts.b: the service refused it',
      'https://ci.example.com/1',
    ]);
    expect(text).not.toMatch(/[<>]/);
  });

  it('is a card for Teams, whose texts are runs without markup', () => {
    const card = rendered('teams');
    expect(card).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            actions: [{ type: 'Action.OpenUrl', url: 'https://ci.example.com/1' }],
          },
        },
      ],
    });
    const { body } = (card['attachments'] as { content: { body: unknown[] } }[])[0]!.content;
    for (const block of body)
      expect(block).toMatchObject({
        type: 'RichTextBlock',
        inlines: [
          { type: 'TextRun', text: expect.not.stringMatching(/[\u202e\u001b\n]/) as string },
        ],
      });
    expect(body).toHaveLength(5);
    expect(renderNotification({ ...notification, run_url: null }, 'teams')).not.toContain(
      'OpenUrl',
    );
  });

  it.each(['slack', 'teams'] as const)(
    'for %s is short, and counts what it leaves out',
    (format) => {
      const errors = Array.from({ length: 1000 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
      const text = renderNotification({ ...notification, errors, summary: errors[0]! }, format);
      expect(text.length).toBeLessThan(4000);
      expect(text).toContain('… and 994 more');
      expect(text.split('0 xxx')).toHaveLength(2);
    },
  );
});
