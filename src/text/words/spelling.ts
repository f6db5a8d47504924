/** Maximum words of a corrected text; a longer one is a sentence, in which a rare word is rarely a slip. */
const maxWords = 6;

/** A word of a question that may not be as its typist meant it. */
export interface TypedWord {
  /** In lower case. */
  readonly word: string;
  /** Offset of the word in the question. */
  readonly start: number;
  /** Whether it is the last one, which may not have been typed to its end. */
  readonly isLast: boolean;
  /** Whether it is written as a name in a sentence is: with a capital, after a word without one. */
  readonly isName: boolean;
}

/**
 * The words of a short question that may be misspelt or unfinished: plain words of an alphabet with two cases. Names in capitals,
 * identifiers, versions and codes are meant as they are.
 */
export function typedWords(question: string): readonly TypedWord[] {
  const words = [...question.matchAll(/\S+/gu)];
  if (words.length > maxWords) return [];
  return words.flatMap(({ 0: written, index }, at) => {
    const [, before = "", word = ""] = /^([("']*)(\p{L}\p{Ll}*)[)"'.,;:!?]*$/u.exec(written) ?? [];
    const isLast = at === words.length - 1 && written.endsWith(word);
    const isName = /^\p{Lu}/u.test(word) && /^[("']*\p{Ll}/u.test(words[at - 1]?.[0] ?? "");
    return word === "" ? [] : [{ word: word.toLowerCase(), start: index + before.length, isLast, isName }];
  });
}

/** The lower-case words of a text, each once. */
export function plainWords(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/\p{Ll}+/gu));
}

/** The lower-case forms of those words of a text that are written with a capital somewhere in it. */
export function capitalizedWords(text: string): ReadonlySet<string> {
  return plainWords(text.match(/(?<!\p{L})\p{Lu}\p{L}*/gu)?.join(" ") ?? "");
}
