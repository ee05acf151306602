// The kinds and collections as terraform's schema.
import type { Collections, Kinds } from '../model/index.js';
import type { CtyType } from './cty.js';
import type { ProviderSchema, SchemaAttribute } from './protocol.js';

/** The provider's block, a resource and a data source a kind, and a plural data source a collection that is only read. */
export function providerSchema(_kinds: Kinds, _collections: Collections): ProviderSchema {
  throw new Error('to come');
}

/** The object type that a schema's attributes make. */
export function typeOf(_attributes: readonly SchemaAttribute[]): CtyType {
  throw new Error('to come');
}
