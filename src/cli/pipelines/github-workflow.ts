// The workflow that `trueup init --ci github` writes. Secrets are given to the steps that need them, and to no job for a
// pull request of a fork. What is approved is a saved plan, and that plan is applied.
import type { PipelineNeeds } from './needs.js';

/** Steps of one job: a checkout without a token, and the packages of package-lock.json without their scripts. */
const setUp = `      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
        with:
          persist-credentials: false
      - uses: actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0
        with:
          node-version: 24.11.1
      - run: npm ci --ignore-scripts --no-audit --no-fund`;

const UPLOAD = 'actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2';
const DOWNLOAD = 'actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0';

const valueOf = (from: 'secrets' | 'vars', indent: number, names: readonly string[]): string =>
  names.map((name) => `${' '.repeat(indent)}${name}: \${{ ${from}.${name} }}`).join('\n');

const stateIsNamed = `      - name: The state is named
        run: |
          test -n "$TRUEUP_STATE" || {
            echo '::error::Set the repository variable TRUEUP_STATE to the address of the state, such as s3://bucket/prefix?region=eu-west-1'
            exit 1
          }
`;

const header = `# Written by trueup init; yours to change. How it works, and what to set up: docs/how-to/ci.md of the trueup package.
#   pull request   validates; for branches of this repository, posts the plan as a comment. Only reads.
#   default branch makes a plan, waits for the reviewers of the environment "production", and applies that plan.
#   every night    keeps an issue open as long as something was changed outside of trueup.
# Secrets of the repository only have to read. Put those that may write into the environment "production", under the
# same names. Without reviewers in that environment, a merge is applied at once.`;

export function githubWorkflow(needs: PipelineNeeds): string {
  const { env, branch, addresses, secrets, state, stateVariables, stateSecrets } = needs;
  const variables = [
    ...addresses,
    ...(state === undefined ? ['TRUEUP_STATE'] : []),
    ...stateVariables,
  ];
  const parts: Parts = {
    begin: `${state === undefined ? stateIsNamed : ''}${setUp}`,
    given: valueOf('secrets', 10, [...secrets, ...stateSecrets]),
  };
  return `${header}
name: trueup
on:
  pull_request:
  push:
    branches: [${JSON.stringify(branch)}]
  schedule:
    - cron: '17 5 * * *'
permissions:
  contents: read
# One run after the other: a plan is made after the apply before it has ended, and no apply is cancelled.
concurrency:
  group: trueup-\${{ github.event_name }}-\${{ github.ref }}
  cancel-in-progress: \${{ github.event_name == 'pull_request' }}
env:
${env === undefined ? '' : `  TRUEUP_ENV: ${env}\n`}${valueOf('vars', 2, variables)}
jobs:
${requestJobs(parts)}${branchJobs(parts)}${nightlyJob(parts)}`;
}

interface Parts {
  /** First steps of a job that uses the state. */
  readonly begin: string;
  /** Secrets of a step that asks the cloud. */
  readonly given: string;
}

const requestJobs = ({ begin, given }: Parts): string => `  validate:
    # Also for forks: no secrets, no network but the package registry.
    if: github.event_name == 'pull_request'
    runs-on: ubuntu-24.04
    steps:
${setUp}
      - run: node_modules/.bin/trueup validate
  preview:
    if: >-
      github.event_name == 'pull_request' && github.actor != 'dependabot[bot]' &&
      github.event.pull_request.head.repo.full_name == github.repository
    runs-on: ubuntu-24.04
    permissions:
      contents: read
      pull-requests: write # the comment
      checks: write # the check run
    steps:
${begin}
      - name: Plan
        run: node_modules/.bin/trueup plan --report json=plan.json
        env:
${given}
      - name: Comment
        if: always() && hashFiles('plan.json') != ''
        run: node_modules/.bin/trueup comment --forge github --plan plan.json
        env:
          GITHUB_TOKEN: \${{ github.token }}
`;

const branchJobs = ({ begin, given }: Parts): string => `  plan:
    if: github.event_name == 'push'
    runs-on: ubuntu-24.04
    outputs:
      changes: \${{ steps.plan.outputs.changes }}
    steps:
${begin}
      - name: Plan
        id: plan
        run: |
          code=0
          node_modules/.bin/trueup plan --detailed-exitcode --out change.plan \\
            \${TRUEUP_AGE_RECIPIENT:+--encrypt-to "$TRUEUP_AGE_RECIPIENT"} \\
            --report "markdown=$GITHUB_STEP_SUMMARY" || code=$?
          case $code in
            0) echo 'changes=false' >> "$GITHUB_OUTPUT" ;;
            2) echo 'changes=true' >> "$GITHUB_OUTPUT" ;;
            *) exit "$code" ;;
          esac
        env:
          # If it is set, only the environment "production", which has the identity, can read the saved plan.
          TRUEUP_AGE_RECIPIENT: \${{ vars.TRUEUP_AGE_RECIPIENT }}
${given}
      - if: steps.plan.outputs.changes == 'true'
        uses: ${UPLOAD}
        with:
          name: plan
          path: change.plan
          if-no-files-found: error
          retention-days: 7
  apply:
    needs: plan
    if: needs.plan.outputs.changes == 'true'
    runs-on: ubuntu-24.04
    environment: production
    steps:
${setUp}
      - uses: ${DOWNLOAD}
        with:
          name: plan
      - name: Apply
        run: node_modules/.bin/trueup apply change.plan
        env:
          TRUEUP_IDENTITY: \${{ secrets.TRUEUP_IDENTITY }}
${given}
`;

const nightlyJob = ({ begin, given }: Parts): string => `  drift:
    if: github.event_name == 'schedule'
    runs-on: ubuntu-24.04
    permissions:
      contents: read
      issues: write
    steps:
${begin}
      - name: Drift
        run: node_modules/.bin/trueup drift --detailed-exitcode --issue github --report html=drift.html
        env:
          GITHUB_TOKEN: \${{ github.token }}
${given}
      - if: always() && hashFiles('drift.html') != ''
        uses: ${UPLOAD}
        with:
          name: drift
          path: drift.html
`;
