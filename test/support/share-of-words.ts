/** Words of a text in any script, in lower case; each Han character is one. */
export const words = (text: string): readonly string[] =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? [];

/** Share of the words of `expected` that `text` has, each as often: recall, or precision the other way round. */
export function shareOfWords(expected: string, text: string): number {
  const left = new Map<string, number>();
  for (const word of words(text)) left.set(word, (left.get(word) ?? 0) + 1);
  let found = 0;
  for (const word of words(expected)) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    found++;
  }
  return found / words(expected).length;
}

/** Words of `part` that `whole` does not have. One that begins a word of `whole` counts as there: it is the one that was cut. */
export function wordsBeyond(part: string, whole: string): readonly string[] {
  const known = [...new Set(words(whole))];
  const beyond = words(part).filter((word) => !known.includes(word));
  const cut = beyond.findIndex((word) => known.some((one) => one.startsWith(word)));
  return cut < 0 ? beyond : beyond.toSpliced(cut, 1);
}
