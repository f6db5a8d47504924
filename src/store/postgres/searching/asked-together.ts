/**
 * Combines the look-ups of one moment into one request: a hundred documents looked up side by side cost one round trip.
 *
 * @param find the values of those keys that have one.
 */
export function askedTogether<Value>(
  find: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  let keys: string[] = [];
  let found: Promise<ReadonlyMap<string, Value>> | undefined;
  return async (key) => {
    keys.push(key);
    found ??= Promise.resolve().then(() => {
      const asked = keys;
      [keys, found] = [[], undefined];
      return find(asked);
    });
    return (await found).get(key);
  };
}
