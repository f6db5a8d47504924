import type { Span } from "../../core/types.js";

/** Abbreviations: a full stop after one ends no sentence. */
const abbreviations = new Set(
  "e.g i.e cf vs viz dr mr mrs ms prof st fig figs eq no nos vol pp ed eds approx resp incl al lit esp orig ca abbr pron sec ch jr sr".split(
    " ",
  ),
);

/**
 * Sentences of a text in order, without the white space around them. Blank lines, headings, list items and table rows
 * also end a sentence; a line that merely wraps, perhaps before an address in angle brackets, does not. Chinese and other full stops need no space after them. The
 * rules are our own because the answers of `Intl.Segmenter`, and chunks with them, would change with the ICU data of the
 * Node build. Linear time; no bound is inside a surrogate pair.
 */
export function sentences(text: string): Span[] {
  const found: Span[] = [];
  const push = (start: number, end: number) => {
    const span = trimmed(text, start, end);
    if (span) found.push(span);
  };
  const stop = /[\p{Sentence_Terminal}\r\n]/gu;
  let start = 0;
  let lineStart = 0;
  for (let match = stop.exec(text); match; match = stop.exec(text)) {
    const offset = match.index;
    if (match[0] === "\n" || match[0] === "\r") {
      const next = offset + (text.startsWith("\r\n", offset) ? 2 : 1);
      if (endsBlock(text, lineStart, next)) {
        push(start, offset);
        start = next;
      }
      lineStart = next;
      stop.lastIndex = next;
      continue;
    }
    const closed = endOfClosers(text, offset + match[0].length);
    const ascii = match[0] <= "?";
    const end = ascii ? closed : beforeOpening(text, start, closed);
    stop.lastIndex = end;
    if (ascii && !endsSentence(text, lineStart, offset, end)) continue;
    push(start, end);
    start = end;
  }
  push(start, text.length);
  return found;
}

const closers = /[\p{Sentence_Terminal}…"'”’»)\]}）】」』》〉*_`]*/uy;

/** The end of the quotes, brackets and further stops that belong to a stop. */
function endOfClosers(text: string, offset: number): number {
  closers.lastIndex = offset;
  closers.test(text);
  return Math.max(offset, closers.lastIndex);
}

const marksAtEnd = /(`+|\*+|_+)$/u;

/**
 * The end without the marks of code or emphasis that open the next sentence: those right before a letter that close nothing
 * in this one. Only a stop that needs no space behind it can have them.
 */
function beforeOpening(text: string, start: number, end: number): number {
  if (!/[\p{L}\p{N}]/u.test(String.fromCodePoint(text.codePointAt(end) ?? 0))) return end;
  const sentence = text.slice(start, end);
  const [marks] = marksAtEnd.exec(sentence) ?? [];
  if (marks === undefined) return end;
  const before = sentence.slice(0, -marks.length).split(marks).length - 1;
  return before % 2 === 1 ? end : end - marks.length;
}

const blockStart =
  /[ \t]*(?:$|[\r\n]|[-*+•·][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||>|`{3}|~{3}|<(?![\w+.-]+[:@])[a-zA-Z/!])/y;
const singleLineBlock = /[ \t]*(?:#{1,6}[ \t]|\||`{3}|~{3})/y;

/** Whether the line break before `next` ends a block rather than wraps a line. */
function endsBlock(text: string, lineStart: number, next: number): boolean {
  blockStart.lastIndex = next;
  if (blockStart.test(text)) return true;
  singleLineBlock.lastIndex = lineStart;
  return singleLineBlock.test(text);
}

/** Whether the `.`, `?` or `!` at `at`, with its closers up to `end`, ends a sentence. */
function endsSentence(text: string, lineStart: number, offset: number, end: number): boolean {
  if (end < text.length && !/\s/.test(text.charAt(end))) return false;
  const next = firstNonSpace(text, end);
  if (next < text.length && /\p{Ll}/u.test(String.fromCodePoint(text.codePointAt(next) ?? 0))) return false;
  if (text.charAt(offset) !== ".") return true;
  const before = text.slice(Math.max(lineStart, offset - 12), offset);
  const word = /(?:^|[^\p{L}.])((?:\p{L}\.)*\p{L}+)$/u.exec(before)?.[1];
  if (word !== undefined) return !/^\p{Lu}$/u.test(word) && !abbreviations.has(word.toLowerCase());
  // Not after the number of a list item.
  return !(lineStart + before.length === offset && /^[ \t>]*\d+$/.test(before));
}

function firstNonSpace(text: string, index: number): number {
  let next = index;
  while (next < text.length && /\s/.test(text.charAt(next))) next++;
  return next;
}

/** The span without white space at its ends; `undefined` if nothing is left. */
function trimmed(text: string, start: number, end: number): Span | undefined {
  let from = start;
  let to = end;
  while (from < to && /\s/.test(text.charAt(from))) from++;
  while (to > from && /\s/.test(text.charAt(to - 1))) to--;
  return from < to ? { start: from, end: to } : undefined;
}
