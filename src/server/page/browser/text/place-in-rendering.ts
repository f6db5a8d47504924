/** A stretch of a text, in UTF-16 code units. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Letters that have to agree before a gap in the source counts as markup that the rendering leaves out. */
const certainLetters = 6;
/** Most letters of markup in one place, such as a fence's language or an entity. */
const maxSkipped = 200;
/** Share of a stretch's letters that may be markup, and how many may be in any case: the number of an item, an entity. */
const maxMissing = { share: 0.1, letters: 4 };

/**
 * Finds where words of a block's source stand in its rendering, also where markup stands between them. The letters and digits
 * of both are the same but for those of markup, so they are aligned one by one. `undefined` when too few of them agree.
 */
export function placeInRendering(source: string, rendered: string, { start, end }: Stretch): Stretch | undefined {
  const from = lettersOf(withoutAddresses(source));
  const to = lettersOf(rendered);
  const placed = aligned(from, to);
  const wanted = from.offsets.flatMap((offset, index) => (offset >= start && offset < end ? [index] : []));
  const found = wanted.filter((index) => placed[index] !== undefined);
  if (found.length === 0 || isTooMuch(wanted.length - found.length, wanted.length)) return undefined;
  const [first, last] = [placed[found[0]!]!, placed[found.at(-1)!]!];
  if (isTooMuch(last - first + 1 - found.length, found.length)) return undefined;
  let behind = to.offsets[last]! + 1;
  // Punctuation behind the last letter belongs to the stretch, with markup in between.
  for (const sign of source.slice(from.offsets[found.at(-1)!]! + 1, end)) {
    if (sign === rendered[behind]) behind++;
    else if (!/[\s*_~`[\]]/.test(sign)) break;
  }
  return { start: to.offsets[first]!, end: behind };
}

/** Whether a stretch has letters, without which there is nothing to find. */
export function hasLetters(source: string, { start, end }: Stretch): boolean {
  return /[\p{L}\p{N}]/u.test(source.replace(fences, (found) => " ".repeat(found.length)).slice(start, end));
}

function isTooMuch(missing: number, of: number): boolean {
  return missing > Math.max(of * maxMissing.share, Math.min(maxMissing.letters, of / 2));
}

interface Letters {
  readonly text: string;
  /** Offset of each letter in the text that it is from. */
  readonly offsets: readonly number[];
}

function lettersOf(text: string): Letters {
  let letters = "";
  const offsets: number[] = [];
  for (const { 0: letter, index } of text.matchAll(/[\p{L}\p{N}]/gu)) {
    for (let unit = 0; unit < letter.length; unit++) offsets.push(index + unit);
    letters += letter;
  }
  return { text: letters, offsets };
}

const fences = /^[ \t]*(?:`{3,}|~{3,}).*$/gm;
const addresses =
  /(`+)[^`]*\1|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:\s+"[^"]*")?\)|<!--[\s\S]*?-->|<\/?[a-z][^<>]*>/gi;

/** Blanks out fences, comments, tags and addresses of links, except in code. */
function withoutAddresses(source: string): string {
  const blank = (found: string) => " ".repeat(found.length);
  return source
    .replace(fences, blank)
    .replace(addresses, (found) => (/^`|^<(?:https?|mailto):/i.test(found) ? found : blank(found)));
}

/** Index of each letter's counterpart; `undefined` for letters of markup. */
function aligned(from: Letters, to: Letters): readonly (number | undefined)[] {
  const placed: (number | undefined)[] = [];
  let at = 0;
  for (let index = 0; index < from.text.length && at < to.text.length;) {
    if (from.text[index] === to.text[at]) {
      placed[index++] = at++;
      continue;
    }
    const next = to.text.slice(at, at + certainLetters);
    // Within that reach alone, so that the steps grow with the length of the text and not with its square.
    const ahead = from.text.slice(index, index + maxSkipped + next.length).indexOf(next);
    if (ahead >= 0) index += ahead;
    // A letter that only the rendering has, such as that of an entity.
    else at++;
  }
  return placed;
}
