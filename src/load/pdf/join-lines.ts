import type { Break } from "./paragraphs.js";

const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u;
const cutWord = /(\p{L}+)[-\u2010]$/u;
const restOfWord = /^(\p{Ll}+)/u;

/** Words of a text, in lower case, those with a hyphen in one piece. */
export type Vocabulary = ReadonlySet<string>;

/** The words that stand whole in lines, without the halves around line ends: what a hyphen there is judged by. */
export function vocabularyOf(lines: Iterable<string>): Vocabulary {
  const words = new Set<string>();
  let cut = false;
  for (const line of lines) {
    const whole = line.replace(cut ? restOfWord : cutWord, "").replace(cutWord, "");
    for (const [word] of whole.matchAll(/\p{L}+(?:[-\u2010]\p{L}+)*/gu)) {
      words.add(word.toLowerCase().replaceAll("\u2010", "-"));
    }
    cut = cutWord.test(line);
  }
  return words;
}

/** Lines as text. `breaks[i]` stands between line `i` and the next. */
export function joinLines(lines: readonly string[], breaks: readonly Break[], known: Vocabulary): string {
  let text = lines[0] ?? "";
  for (const [index, kind] of breaks.entries()) {
    const next = lines[index + 1]!;
    if (kind === "paragraph") text += `\n\n${next}`;
    else if (kind === "line") text += `\n${next}`;
    else text = flowOn(text, next, known);
  }
  return text;
}

function flowOn(text: string, next: string, known: Vocabulary): string {
  const start = cutWord.exec(text.slice(-80))?.[1];
  const rest = restOfWord.exec(next)?.[1];
  if (start !== undefined && rest !== undefined) {
    return hyphenStays(start.toLowerCase(), rest, known) ? text + next : text.slice(0, -1) + next;
  }
  // A hyphen before a capital or a number belongs to the name it stands in.
  if (/[\p{L}\p{N}][-\u2010]$/u.test(text) && /^[\p{L}\p{N}]/u.test(next)) return text + next;
  const together = wide.test(text.at(-1)!) && wide.test(next[0]!);
  return together ? text + next : `${text} ${next}`;
}

/**
 * Whether the hyphen at a line's end is part of the word. The document itself is asked first: how the word is written
 * elsewhere, and whether its halves are words of their own.
 */
function hyphenStays(start: string, rest: string, known: Vocabulary): boolean {
  if (known.has(start + rest)) return false;
  return known.has(`${start}-${rest}`) || (known.has(start) && known.has(rest));
}
