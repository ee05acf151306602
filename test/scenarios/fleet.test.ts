// A fleet of 10,000 tenants of which all but one fail: the run ends, its memory is bounded, and its reports can be read.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emulator, folder } from '../support/cli.js';

const TENANTS = 10_000;
const MINUTES = 60_000;

/** Peak of resident memory in MiB; 0 once the process is gone. */
function peakOf(pid: number | undefined): number {
  try {
    const [, kibibytes = '0'] =
      /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kibibytes) / 1024;
  } catch {
    return 0;
  }
}

test(
  '9,999 of 10,000 tenants fail',
  async () => {
    const names = Array.from({ length: TENANTS }, (_, at) => `t${at}`);
    const home = folder({
      'trueup.fleet.yaml': `fleet:\n  concurrency: 32\n  stop: { failures: ${TENANTS} }\n  defaults: { paths: [base] }\n  tenants:\n${names.map((name) => `    ${name}: {}\n`).join('')}`,
      'base/base.yaml':
        'alert_push_destinations:\n  pager: { name: On-call pager, enabled: true, endpoint: { url: https://hooks.example.com } }\n',
    });
    const cloud = await emulator(home, ['--tenant', 't5000'], { patience: 20 * MINUTES });
    const words = [
      'fleet',
      'drift',
      '--run',
      'r',
      '--report',
      'html=r.html',
      '--report',
      'json=r.json',
    ];
    const started = home.start(words, { env: cloud.env, patience: 20 * MINUTES });
    let peak = 0;
    const sampler = setInterval(() => (peak = Math.max(peak, peakOf(started.child.pid))), 200);
    const { code, stdout, stderr } = await started.ended;
    clearInterval(sampler);
    expect(code).toBe(1);
    const lines = stdout.split('\n');
    expect(lines.filter((line) => /^t\d+: FAILED /.test(line))).toHaveLength(TENANTS - 1);
    expect(new Set(stdout.match(/^t\d+(?=: )/gm)).size).toBe(TENANTS);
    expect(stdout).toContain('\n10000 tenants: 1 with drift, 9999 failed. Run r.');
    // Each is told once on standard error, too.
    expect(stderr.match(/^error: t\d+: /gm)).toHaveLength(TENANTS - 1);
    expect(peak).toBeGreaterThan(50);
    expect(peak).toBeLessThan(400);
    const page = readFileSync(join(home.path, 'r.html'));
    expect(page.length).toBeLessThan(5e6);
    expect(page.toString()).toContain('t9999');
  },
  25 * MINUTES,
);
