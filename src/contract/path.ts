/** Values of one operation's parameters; a list is written once for each of its items. */
export type Parameters = Readonly<Record<string, string | number | readonly (string | number)[] | undefined>>;

/**
 * A path with its `{names}` filled in, URL-encoded; parameters that the path does not name become the query. Pure.
 *
 * @throws RangeError when a name in the path has no value, or one that would change the path (`.`, `..`, nothing).
 */
export function fillPath(template: string, parameters?: Parameters): string {
  if (parameters === undefined && !template.includes("{")) return template;
  const rest = new Map(Object.entries(parameters ?? {}));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    if ((typeof value !== "string" && typeof value !== "number") || /^\.{0,2}$/.test(String(value))) {
      throw new RangeError(`${template} needs ${name}, which is ${JSON.stringify(value)}`);
    }
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of rest) {
    for (const item of [value].flat()) if (item !== undefined) query.append(name, String(item));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
