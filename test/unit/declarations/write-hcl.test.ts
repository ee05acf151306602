// What `export --format hcl` writes is HCL as `terraform fmt` has it, and means to Terraform what it was made of.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeHcl, type WrittenObject } from '../../../src/declarations/writing.js';
import type { Values } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { terraformIsHere } from '../../support/terraform.js';
import { adopted, documents, estate, hostile } from './estates.js';

/** Whether `terraform fmt` would leave it as it is. */
function isFormatted(text: string): void {
  const { status, stdout } = spawnSync('terraform', ['fmt', '-'], {
    input: text,
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  expect(text).toBe(stdout);
}

/** What Terraform makes of the bodies of resources that refer to nothing, by their names. */
function evaluated(text: string): Readonly<Record<string, { readonly value: Values }>> {
  const home = mkdtempSync(join(tmpdir(), 'trueup-hcl-'));
  try {
    const outputs = text
      .replace(/^import \{.*?^\}\n|^ {2}lifecycle \{.*?^ {2}\}\n/gms, '')
      .replace(/^resource "\w+" "([\w-]+)" \{\n(.*?)^\}$/gms, 'output "$1" {\nvalue = {\n$2}\n}');
    writeFileSync(join(home, 'main.tf'), outputs);
    execFileSync('terraform', ['apply', '-auto-approve', '-input=false'], {
      cwd: home,
      stdio: 'pipe',
    });
    return JSON.parse(
      execFileSync('terraform', ['output', '-json'], { cwd: home, encoding: 'utf8' }),
    ) as Readonly<Record<string, { readonly value: Values }>>;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const composed = (text: string): string => text.normalize('NFC');

describe('writeHcl', () => {
  it('writes references, import blocks, documents and hints for secrets', () => {
    const texts = writeHcl(kinds, estate, '1.2.3');
    expect([...texts.keys()]).toEqual([
      'versions.tf',
      'provider.tf',
      'accounts.tf',
      'alert_push_destinations.tf',
      'alert_rules.tf',
    ]);
    expect([...texts.values()].join('\n')).toMatchInlineSnapshot(`
      "terraform {
        required_providers {
          devicecloud = {
            source  = "trueup/devicecloud"
            version = "~> 1.2.3"
          }
        }
      }

      # Addresses and credentials come from the environment: TRUEUP_V2_URL and the others that trueup doctor names.
      provider "devicecloud" {}

      # What has create_before_destroy is deleted after what names it was changed. Terraform goes by it from the apply on
      # that follows the import.

      import {
        to = devicecloud_account.hq
        id = "1"
      }

      resource "devicecloud_account" "hq" {
        name    = "HQ"
        account = "9"

        lifecycle {
          create_before_destroy = true
        }
      }

      import {
        to = devicecloud_account.sub
        id = "2"
      }

      resource "devicecloud_account" "sub" {
        name        = "Sub: \\"a\\""
        account     = devicecloud_account.hq.id
        is_disabled = true

        lifecycle {
          create_before_destroy = true
        }
      }

      import {
        to = devicecloud_alert_push_destination.pager
        id = "d-1"
      }

      # suspended since: yesterday
      resource "devicecloud_alert_push_destination" "pager" {
        # authentication.secret reads back masked and is left out; to manage it, write secret_wo, a sensitive variable, and secret_wo_version
        name    = "yes"
        enabled = false
        endpoint = {
          url = "https://x.example/"
        }

        lifecycle {
          create_before_destroy = true
        }
      }

      import {
        to = devicecloud_alert_rule.r
        id = "r-1"
      }

      resource "devicecloud_alert_rule" "r" {
        associated_accounts = [devicecloud_account.hq.id, "7"]
        filter_criteria = {
          alert_type__in = []
        }
        http_destinations = [devicecloud_alert_push_destination.pager.destination_config_id]
        settings = jsonencode({
          a = {
            b = [
              1,
              {
                c = "$\${x}"
              },
            ]
          }
        })
      }
      "
    `);
  });

  it('writes what can only be adopted, without members that are masked', () => {
    const texts = writeHcl(kinds, adopted, '1.2.3');
    expect(texts.get('account_authorizations.tf')).toContain('account = devicecloud_account.hq.id');
    expect(texts.get('configuration_managers.tf')).toMatchInlineSnapshot(`
      "import {
        to = devicecloud_configuration_manager.gate
        id = "6"
      }

      resource "devicecloud_configuration_manager" "gate" {
        # configuration.0.system.users.admin.password reads back masked and is left out
        router    = "12"
        suspended = true
        configuration = jsonencode([
          {
            system = {
              name = "gate"
              users = {
                admin = {}
              }
            }
            "two words" = {
              "for"  = 1
              longer = [true, null]
            }
          },
        ])
      }
      "
    `);
  });

  it('writes nothing of nothing', () => {
    expect(writeHcl(kinds, new Map([['accounts', []]]), '1.2.3').size).toBe(0);
  });
});

describe.runIf(terraformIsHere('writeHcl, read by Terraform', 2))(
  'writeHcl, read by Terraform',
  () => {
    it('writes what terraform fmt leaves alone', () => {
      for (const live of [estate, adopted])
        isFormatted([...writeHcl(kinds, live, '1.2.3').values()].join('\n'));
    });

    it('writes any name and any document so that it reads back', () => {
      const sample = fc.sample(
        fc.tuple(hostile, documents, fc.array(hostile, { maxLength: 3 })),
        300,
      );
      const live = new Map<string, readonly WrittenObject[]>([
        [
          'alert_push_destinations',
          sample.map(([name, , comments], index) => ({
            name: `d${index}`,
            values: { name: name.replaceAll(/\p{Cs}/gu, '?') },
            comments,
          })),
        ],
        [
          'alert_rules',
          sample.map(([, settings], index) => ({
            name: `r${index}`,
            values: { associated_groups: ['1'], settings },
          })),
        ],
      ]);
      const texts = writeHcl(kinds, live, '1.2.3');
      const text = `${texts.get('alert_push_destinations.tf')}\n${texts.get('alert_rules.tf')}`;
      expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u);
      isFormatted(text);
      const read = evaluated(text);
      for (const [index, [name, settings]] of sample.entries()) {
        expect(read[`d${index}`]?.value['name']).toBe(composed(name.replaceAll(/\p{Cs}/gu, '?')));
        expect(
          JSON.parse((read[`r${index}`]?.value['settings'] as string | undefined) ?? '{}'),
        ).toEqual(JSON.parse(composed(JSON.stringify(settings))));
      }
    });
  },
);
