// What `trueup init --fleet` writes: a fleet of one tenant, with every key of `trueup.fleet.yaml` in a comment.

export const fleetFile = `# yaml-language-server: $schema=./node_modules/trueup/schemas/fleet.schema.json
# Many accounts in one folder, each with its own credentials, state and rate limit.
# Check: trueup fleet validate. See what would change: trueup fleet plan. Make it so: trueup fleet apply.

fleet:
  # Each folder is a tenant, and its last PATH. Or a name for each:
  #   tenants: { acme: { paths: [tenants/acme], labels: { tier: canary }, variables: { site: Berlin } } }
  tenants:
    from: tenants/*
    name: "\${folder}"
    # labels: { tier: standard } # of every tenant
    each: # what single tenants have beside that
      acme: { labels: { tier: canary } }

  defaults:
    # They come before the folder of the tenant, whose \`variables\` win.
    paths: [base]
    # Without it, each tenant has .trueup/tenants/<name>/state.json on this machine.
    # state: "s3://acme-trueup/\${tenant}?region=eu-west-1"
    # ACME_TRUEUP_V2_URL is TRUEUP_V2_URL of the tenant acme. In place of a prefix, a command that prints
    # {"TRUEUP_V2_URL": "https://…", …}: { command: [vault, kv, get, -format=json, -field=data, "trueup/\${tenant}"] }
    credentials: { env_prefix: "\${TENANT}_" }
    # requests_per_minute: 450 # of one credential

  # concurrency: 16 # tenants at once

  # An apply goes on with the next stage once every tenant of the one before is applied.
  order:
    - { select: "tier=canary", then_wait: 30m }
    - { select: "*" }

  # When no more tenants are begun. Without \`stop\`: after 5 failed tenants in a row.
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
# What is different for this tenant. The name of the folder is its name.

variables:
  hook: https://hooks.example.com/acme
`;
