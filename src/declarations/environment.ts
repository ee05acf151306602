// The environment of the process, which may hold a thousand secrets. Only names and single values are read, because any
// other access (`Object.hasOwn`, `Object.entries`) makes the system read all of it: 50 ms for a thousand.
export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a variable; undefined where it is not set, also under a name that every object has. */
export function variableIn(environment: Environment, name: string): string | undefined {
  const value: unknown = environment[name];
  return typeof value === 'string' ? value : undefined;
}

/** Values of the variables whose names begin with the prefix, by the rest of the name. */
export const variablesBelow = (
  environment: Environment,
  prefix: string,
): readonly (readonly [name: string, value: string])[] =>
  Object.keys(environment).flatMap((name) => {
    const value = name.startsWith(prefix) ? variableIn(environment, name) : undefined;
    return value === undefined ? [] : [[name.slice(prefix.length), value] as const];
  });

/** What a variable of the environment counts as among the variables that are used. */
export const ofEnvironment = (name: string): string => `env.${name}`;
