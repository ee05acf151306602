// What deployments were seen to do beside the reference. Everything is off by default: the quiet service of the reference.

export interface Quirks {
  /** Writable texts come back HTML-escaped, messages too. */
  readonly escape_html: boolean;
  /** Timestamps end in `+00:00` instead of `Z`. */
  readonly offset_timestamps: boolean;
  /** Origin named by URLs in bodies and by `next`, instead of the one that was asked; empty for none. */
  readonly shard_origin: string;
  /** `next` forgets `expand`. */
  readonly next_drops_expand: boolean;
  /** How a 429 names the time to wait. */
  readonly retry_after: 'seconds' | 'date' | 'none';
  /** Ids as numbers where the reference has text, as text where it has numbers. */
  readonly swapped_spellings: boolean;
  /** An empty document is stored as null. */
  readonly empty_document_is_null: boolean;
  /** Open choices (roles, alert types) take the known values only. */
  readonly closed_choices: boolean;
  /** PATCH and DELETE answer with the record instead of an empty body. */
  readonly echo_writes: boolean;
  /** Status of a successful POST. */
  readonly created_status: 200 | 201;
  /** PUT resets what it does not name, instead of keeping it. */
  readonly replacing_put: boolean;
  /** A PUT of a configuration keeps what it does not name. */
  readonly merging_configuration: boolean;
  /** Configuration managers take PATCH, which merges into the configuration. */
  readonly patching_configuration: boolean;
  /** A record may be deleted while others still name it. */
  readonly dangling_references: boolean;
  /** How long a token of the IoT platform lasts. */
  readonly token_seconds: number;
  /** Pages of the IoT platform go on by a bare cursor, instead of by a relative URL. */
  readonly bare_cursors: boolean;
  /** The IoT platform counts requests in every second and minute, and says what is left. */
  readonly platform_limits: boolean;
}

export const quiet: Quirks = {
  escape_html: false,
  offset_timestamps: false,
  shard_origin: '',
  next_drops_expand: false,
  retry_after: 'seconds',
  swapped_spellings: false,
  empty_document_is_null: false,
  closed_choices: false,
  echo_writes: false,
  created_status: 200,
  replacing_put: false,
  merging_configuration: false,
  patching_configuration: false,
  dangling_references: false,
  token_seconds: 1800,
  bare_cursors: false,
  platform_limits: false,
};

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}
