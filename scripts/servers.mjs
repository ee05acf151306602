// Starts the servers of the tests by hand (servers.ts says which, and what it prints).
process.argv.splice(2, 0, 'scripts/servers.ts');
await import('./run.mjs');
