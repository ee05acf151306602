// The form of an ajv validator, as far as it is used; the same for generated ones and for those compiled at run time.

export interface SchemaError {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface Validator {
  (data: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}
