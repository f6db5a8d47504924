/**
 * A function that remembers what it answered for up to `2 × capacity` texts: when one generation is full it becomes the
 * old one, and the old one is forgotten. Texts in use move on, and nothing is tracked per call.
 */
export function remember<Value>(
  capacity: number,
  answer: (text: string) => Value & NonNullable<unknown>,
): (text: string) => Value {
  let recent = new Map<string, Value>();
  let old = new Map<string, Value>();
  return (text) => {
    const known = recent.get(text);
    if (known !== undefined) return known;
    // V8's slices keep the whole string they were cut from alive; what is kept here has to be a string of its own.
    const own = ` ${text}`.slice(1);
    const value = old.get(text) ?? answer(own);
    if (recent.size >= capacity) {
      old = recent;
      recent = new Map();
    }
    recent.set(own, value);
    return value;
  };
}
