// Stands for the program of a secret store: prints the credentials of one tenant as JSON.
import { readFileSync } from 'node:fs';

const prefix = `export ${process.argv[2].toUpperCase()}_`;
const lines = readFileSync('vault.env', 'utf8').split('\n');
const own = lines.filter((line) => line.startsWith(prefix));
const pairs = own.map((line) => line.slice(prefix.length).split('=', 2));
console.log(JSON.stringify(Object.fromEntries(pairs)));
