// The pipeline that `trueup init --ci gitlab` writes. It uses stages that every pipeline has, so that it can also be
// included. What is started by hand is the apply of a saved plan.
import type { PipelineNeeds } from './needs.js';

const header = ({ addresses, secrets, stateVariables, stateSecrets, state }: PipelineNeeds) => {
  const variables = [
    ...addresses,
    ...secrets,
    ...(state === undefined ? [] : [...stateVariables, ...stateSecrets]),
    'GITLAB_TOKEN',
  ];
  return `# Written by trueup init; yours to change. How it works, and what to set up: docs/how-to/ci.md of the trueup package.
#   merge request  validates; for branches of this project, posts the plan as a comment. Only reads.
#   default branch makes a plan; who starts the job trueup-apply applies that plan.
#   schedule       keeps an issue open as long as something was changed outside of trueup.
# Variables to set in Settings, CI/CD (all masked):
${variables.map((name) => `#   ${name}\n`).join('')}# Their values only have to read. Set those that may write again, protected, for the environment "production".`;
};

/** GitLab keeps the state, unless the settings, or a variable of the project, name another place. */
const managedState = `    TRUEUP_STATE: \${CI_API_V4_URL}/projects/\${CI_PROJECT_ID}/terraform/state/trueup
    TRUEUP_STATE_HTTP_USERNAME: gitlab-ci-token
    TRUEUP_STATE_HTTP_PASSWORD: \${CI_JOB_TOKEN}
`;

export function gitlabPipeline(needs: PipelineNeeds): string {
  const variables = `${needs.env === undefined ? '' : `    TRUEUP_ENV: ${needs.env}\n`}${needs.state === undefined ? managedState : ''}`;
  return `${header(needs)}
.trueup:
  image: node:24.11.1-bookworm-slim
${variables === '' ? '' : `  variables:\n${variables}`}  before_script:
    - npm ci --ignore-scripts --no-audit --no-fund

trueup-validate:
  extends: .trueup
  stage: test
  interruptible: true
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - node_modules/.bin/trueup validate

trueup-preview:
  extends: .trueup
  stage: test
  interruptible: true
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID
  script:
    - node_modules/.bin/trueup plan --report json=plan.json || code=$?
    - if [ -f plan.json ]; then node_modules/.bin/trueup comment --forge gitlab --plan plan.json; fi
    - exit "\${code:-0}"

trueup-plan:
  extends: .trueup
  stage: test
  rules:
    - if: $CI_PIPELINE_SOURCE != "schedule" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    # If TRUEUP_AGE_RECIPIENT is set, only who has the identity (TRUEUP_IDENTITY of "production") can read the plan.
    - node_modules/.bin/trueup plan --detailed-exitcode --out change.plan \${TRUEUP_AGE_RECIPIENT:+--encrypt-to "$TRUEUP_AGE_RECIPIENT"} || code=$?
    - |
      case "\${code:-0}" in
        0) rm change.plan ;;
        2) ;;
        *) exit "$code" ;;
      esac
  artifacts:
    paths: [change.plan]
    access: developer
    expire_in: 7 days

trueup-apply:
  extends: .trueup
  stage: deploy
  needs: [trueup-plan]
  rules:
    - if: $CI_PIPELINE_SOURCE != "schedule" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
      when: manual
  environment: production
  # One apply after the other.
  resource_group: trueup-production
  interruptible: false
  script:
    - if [ -f change.plan ]; then node_modules/.bin/trueup apply change.plan; else echo 'Nothing changes.'; fi

trueup-drift:
  extends: .trueup
  stage: test
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule"
  script:
    - node_modules/.bin/trueup drift --detailed-exitcode --issue gitlab --report html=drift.html
  artifacts:
    when: always
    paths: [drift.html]
    access: developer
    expire_in: 30 days
`;
}
