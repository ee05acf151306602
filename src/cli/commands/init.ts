// `trueup init`: a first project that can be planned at once, because its target is the emulator. Overwrites no file.
import { join } from 'node:path';
import { exits } from '../../model/index.js';
import { ifThere, isDiskError } from '../../state/disk-errors.js';
import type { Command, Context } from '../context.js';
import { version } from '../version.js';

const declarations = `# yaml-language-server: $schema=./node_modules/trueup/schemas/declarations.schema.json
# What should exist. See what would change: trueup plan. Make it so: trueup apply.

settings:
  # A device cloud on this machine, for trying; its data lies in .trueup/emulator.json.
  # Without this line the environment names the target: TRUEUP_V2_URL and the credentials
  # (trueup doctor says which are missing).
  target: emulator

accounts:
  field-ops:
    name: Field operations

alert_push_destinations:
  pager:
    name: On-call pager
    enabled: true
    endpoint: { url: https://hooks.example.com/alerts }
    # Signs each delivery. The value stays in the environment, never in a file of this project:
    # authentication: { secret: "\${secret.env.PAGER_SECRET}" }

alert_rules:
  wan-down:
    # References imply the order, and are filled in once the object exists.
    associated_accounts: ["\${accounts.field-ops.id}"]
    filter_criteria:
      alert_type__in: [ethernet_wan_disconnected, modem_wan_disconnected]
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
    # lifecycle: { protect: true }
`;

const workflow = `# Shows each pull request its plan, and every morning what was changed outside of trueup: fails if something was.
name: trueup
on:
  pull_request:
  schedule:
    - cron: '0 5 * * *'
permissions:
  contents: read
jobs:
  plan:
    runs-on: ubuntu-latest
    env:
      TRUEUP_V2_URL: \${{ vars.TRUEUP_V2_URL }}
      TRUEUP_MGR_API_ID: \${{ secrets.TRUEUP_MGR_API_ID }}
      TRUEUP_MGR_API_KEY: \${{ secrets.TRUEUP_MGR_API_KEY }}
      TRUEUP_VND_API_ID: \${{ secrets.TRUEUP_VND_API_ID }}
      TRUEUP_VND_API_KEY: \${{ secrets.TRUEUP_VND_API_KEY }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npx --yes trueup@${version} validate
      - if: github.event_name == 'pull_request'
        run: npx --yes trueup@${version} plan --report "markdown=$GITHUB_STEP_SUMMARY"
      - if: github.event_name == 'schedule'
        run: npx --yes trueup@${version} drift --detailed-exitcode --report "markdown=$GITHUB_STEP_SUMMARY" --report html=drift.html
      - if: always() && hashFiles('drift.html') != ''
        uses: actions/upload-artifact@v4
        with:
          name: drift
          path: drift.html
`;

const ignored = '.trueup/';

export const run: Command = async (context) => {
  const at = (...path: string[]) => join(context.cwd, ...path);
  const workflows = ['.github', 'workflows'];
  const said = [await add(context, 'trueup.yaml', declarations), await ignore(context)];
  await context.files.makeFolder(at(...workflows));
  said.push(await add(context, join(...workflows, 'trueup.yml'), workflow));
  context.out.write(`${said.join('\n')}\n\nNext: trueup plan\n`);
  return exits.done;
};

async function add({ files, cwd }: Context, path: string, text: string): Promise<string> {
  try {
    await files.create(join(cwd, path), text, 0o644);
    return `wrote ${path}`;
  } catch (error) {
    if (!isDiskError(error, 'EEXIST')) throw error;
    return `${path} is there already and stays as it is`;
  }
}

/** The state belongs to whoever runs the tool, and may name objects that others should not see. */
async function ignore(context: Context): Promise<string> {
  const path = join(context.cwd, '.gitignore');
  const before = (await ifThere(context.files.read(path))) ?? '';
  if (before.split(/\r?\n/).some((line) => /^\/?\.trueup\/?$/.test(line.trim())))
    return `.gitignore names ${ignored} already`;
  const end = before === '' || before.endsWith('\n') ? '' : '\n';
  await context.files.replace(path, `${before}${end}${ignored}\n`, 0o644);
  return `added ${ignored} to .gitignore`;
}
