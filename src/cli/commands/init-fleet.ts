// What `trueup init --fleet` writes: a fleet of one tenant, with every key of `trueup.fleet.yaml` in a comment.

export const fleetFile = `# yaml-language-server: $schema=./node_modules/trueup/schemas/fleet.schema.json
# Many accounts in one folder, each with its own credentials, state and rate limit.
# Check: trueup fleet validate. See what would change: trueup fleet plan. Apply it: trueup fleet apply.

fleet:
  # Each folder that matches \`from\` is a tenant; it is the last PATH of that tenant. Or list the tenants:
  #   tenants: { acme: { paths: [tenants/acme], labels: { tier: canary }, variables: { site: Berlin } } }
  tenants:
    from: tenants/*
    name: "\${folder}"
    # labels: { tier: standard } # of every tenant
    each: # additions for single tenants
      acme: { labels: { tier: canary } }

  defaults:
    # PATHs before the folder of the tenant. The \`variables\` in the folder of the tenant win.
    paths: [base]
    # Without \`state\`, the state of each tenant is .trueup/tenants/<name>/state.json on this machine.
    # state: "s3://acme-trueup/\${tenant}?region=eu-west-1"
    # ACME_TRUEUP_V2_URL is TRUEUP_V2_URL of the tenant acme. Instead of a prefix, name a command that prints
    # {"TRUEUP_V2_URL": "https://…", …}: { command: [vault, kv, get, -format=json, -field=data, "trueup/\${tenant}"] }
    credentials: { env_prefix: "\${TENANT}_" }
    # requests_per_minute: 450 # for each credential

  # concurrency: 16 # tenants that run at once

  # An apply begins a stage when every tenant of the stage before is applied.
  order:
    - { select: "tier=canary", then_wait: 30m }
    - { select: "*" }

  # Limits that stop a run. Without \`stop\`: 5 failed tenants in a row.
  # stop: { failures: 5, changed_tenants: 50, blocked: 1 }
`;

export const baseFile = `# yaml-language-server: $schema=../node_modules/trueup/schemas/declarations.schema.json
# What every tenant has.

variables:
  hook: https://hooks.example.com/alerts

alert_push_destinations:
  pager:
    name: On-call pager
    enabled: true
    endpoint: { url: "\${var.hook}" }
`;

export const tenantFile = `# yaml-language-server: $schema=../../node_modules/trueup/schemas/declarations.schema.json
# What is different for this tenant. The name of this folder is the name of the tenant.

variables:
  hook: https://hooks.example.com/acme
`;
