/** A word with its place, in UTF-16 code units. */
export interface WordSpan {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

const cjk = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}";
const wordLetter = `(?:(?![${cjk}])[\\p{L}\\p{N}])`;
const wordPattern = new RegExp(`[${cjk}]|${wordLetter}+(?:'${wordLetter}+|[.,]\\p{N}+)*`, "gu");
const cjkCharacter = new RegExp(`^[${cjk}]$`, "u");

/** Source of a pattern: one letter or digit of a script that puts spaces between its words. */
export const spacedLetter = `(?![${cjk}\\p{Script=Thai}])[\\p{L}\\p{N}]`;

/** Words of a comparable text, `don't` and `1,500` being one each; so is every Chinese or Japanese character. */
export function wordsOf(text: string): WordSpan[] {
  return Array.from(text.matchAll(wordPattern), ({ 0: word, index }) => ({
    word,
    start: index,
    end: index + word.length,
  }));
}

/** Chinese and Japanese characters as pairs of neighbours: out of order, single ones say almost nothing. */
export function pairCharacters(words: readonly WordSpan[]): WordSpan[] {
  return words.flatMap((word, index) => {
    if (!cjkCharacter.test(word.word)) return [word];
    const next = words[index + 1];
    const paired = next?.start === word.end && cjkCharacter.test(next.word);
    return paired ? [{ word: word.word + next.word, start: word.start, end: next.end }] : [];
  });
}
