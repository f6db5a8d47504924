/** Query parameters that are numbers. */
const numbers: ReadonlySet<string> = new Set(["page_num", "page_size"]);
/** Query parameters that may stand more than once. */
const lists: ReadonlySet<string> = new Set(["filter.task_ids"]);

/**
 * A query as the fields of a request. What is no number stays the text that it is, and a parameter that stands twice a
 * list, so that the operation's own checks refuse them by name.
 */
export function queryFields(query: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(query).map(([name, values]) => [name, fieldValue(name, values)]));
}

function fieldValue(name: string, values: readonly string[]): unknown {
  if (lists.has(name)) return values;
  const [value = "", ...more] = values;
  if (more.length > 0) return values;
  return numbers.has(name) && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}
