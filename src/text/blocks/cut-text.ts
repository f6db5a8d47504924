/** `text` cut to at most `maxCharacters` UTF-16 units, the `…` included; never inside a surrogate pair. */
export function shorten(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, safeEnd(text, Math.max(0, maxCharacters - 1)))}…`;
}

/** Length of the first try: most texts are shorter, so that one call is enough. */
const firstTry = 4096;

/**
 * The longest prefix of `text` that `fits`, found by doubling and halving; where a prefix fits, every shorter one must.
 * `fits` is never called with more than twice the length that fits: counting the tokens of a megabyte of Base64 takes
 * seconds.
 */
export function longestStart(text: string, fits: (start: string) => boolean): string {
  let fitting = 0;
  let tooLong = Math.min(firstTry, text.length);
  while (fits(text.slice(0, safeEnd(text, tooLong)))) {
    if (tooLong === text.length) return text;
    fitting = tooLong;
    tooLong = Math.min(2 * tooLong, text.length);
  }
  while (tooLong - fitting > 1) {
    const middle = (fitting + tooLong) >> 1;
    if (fits(text.slice(0, safeEnd(text, middle)))) fitting = middle;
    else tooLong = middle;
  }
  return text.slice(0, safeEnd(text, fitting));
}

/** `end`, or one less where it would split a surrogate pair. */
export function safeEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end - 1 : end;
}
