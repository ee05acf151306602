// Type of the one file of undici that is loaded by itself; see dispatcher.ts.
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
