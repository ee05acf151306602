// The construct of the provider's block. Missing attributes come from the environment.
import { TerraformProvider, Token } from '#cdk';
import type { Construct } from 'constructs';
import { isObject, mapMembers, providerBlock } from '../../model/index.js';
import type { Flat, Given, Props } from '../props.js';
import { blockOf, hclOfAll, type Block } from './classes.js';
import { libraryAdapterAt, type CdkTokens } from './library-adapter.js';

/** Secrets stand in the block as they are called, so a reference is what they have to be. */
interface BlockTokens extends Omit<CdkTokens, 'secret'> {
  readonly secret: string;
}

export type DevicecloudProviderProps = Flat<
  Props<typeof providerBlock, BlockTokens> & { readonly alias?: string | undefined }
>;

export class DevicecloudProvider extends TerraformProvider {
  static readonly tfResourceType = 'devicecloud';
  readonly #block: Block;
  #alias: string | undefined;

  constructor(scope: Construct, id: string, { alias, ...given }: DevicecloudProviderProps = {}) {
    super(scope, id, {
      terraformResourceType: 'devicecloud',
      terraformGeneratorMetadata: { providerName: 'devicecloud' },
      terraformProviderSource: 'trueup/devicecloud',
    });
    this.#alias = alias;
    this.#block = blockOf(this, providerBlock, given, {
      ...libraryAdapterAt(this),
      writeOnly: false,
    });
  }

  override get alias(): string | undefined {
    return this.#alias;
  }

  override set alias(value: string | undefined) {
    this.#alias = value;
  }

  /** The library would write the keys of a map in snake case, were it to see one. */
  protected override synthesizeAttributes(): Given {
    return mapMembers(this.#block.json(), (value) =>
      isObject(value) ? Token.asAny(value) : value,
    );
  }

  protected override synthesizeHclAttributes(): Given {
    return hclOfAll(this.synthesizeAttributes());
  }
}
