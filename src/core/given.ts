type Optional<Fields> = { [Name in keyof Fields]: undefined extends Fields[Name] ? Name : never }[keyof Fields];

/** Fields with a value. Those that were not given are absent, so that they can be spread into options. */
export function given<Fields extends object>(
  fields: Fields,
): Omit<Fields, Optional<Fields>> & { [Name in Optional<Fields>]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
