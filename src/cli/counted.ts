/** `1,204`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** `1 request`, `1,204 requests`; `many` where it is not `one` with an s. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${Math.round(value) === 1 ? one : many}`;
}
