/** Methods that read a text character by character or search in it. */
const readings = [
  [String.prototype, ["charAt", "charCodeAt", "codePointAt", "slice", "startsWith", "indexOf"]],
  [RegExp.prototype, ["exec", "test"]],
] as const satisfies readonly (readonly [object, readonly string[]])[];

type Reading = (this: unknown, ...values: unknown[]) => unknown;

/**
 * How often `work` reads from texts, a reading of any length being one: what takes time, counted instead of timed, so that
 * a busy machine changes nothing.
 */
export function countedSteps(work: () => void): number {
  let steps = 0;
  const undo: (() => void)[] = [];
  for (const [owner, names] of readings) {
    for (const name of names) {
      const original = Object.getOwnPropertyDescriptor(owner, name)!;
      const read = original.value as Reading;
      const counting: Reading = function (...values) {
        steps++;
        return Reflect.apply(read, this, values);
      };
      Object.defineProperty(owner, name, { ...original, value: counting });
      undo.push(() => Object.defineProperty(owner, name, original));
    }
  }
  try {
    work();
  } finally {
    for (const restore of undo) restore();
  }
  return steps;
}
