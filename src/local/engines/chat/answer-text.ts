import type { CitationStyle } from "./reading.js";
import { markupSpans, plainText, proseSentences } from "./plain-text.js";
import type { Statement } from "./statements/statements.js";

/** Statements as the sentences of an answer, each with its citation. */
export function answerText(chosen: readonly Statement[], style: CitationStyle): string {
  return chosen.map((statement) => cited(statement, style)).join(chosen.some(onOwnLine) ? "\n" : " ");
}

function onOwnLine({ kind }: Statement): boolean {
  return kind !== "prose";
}

/** Each sentence with its own marker, so that none claims what only its neighbour's words show. */
function cited({ kind, source, text, passage }: Statement, style: CitationStyle): string {
  if (kind === "code") return withMarker(inlineCode(text.replace(/(?<!\s)\s*\\\n\s*/g, " ")), source, text, style);
  if (kind !== "prose" || style === "none") return withMarker(said(text), source, text, style);
  const parts = proseSentences(text).map(({ start, end }) => text.slice(start, end));
  return parts
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
    .map((part, index) => withMarker(said(part), source, onOneLine(index === 0 ? (passage ?? part) : part), style))
    .join(" ");
}

/** Checkers of quotes normalise white space; a line end within a sentence would cut it short. */
function onOneLine(prose: string): string {
  return prose.replace(/(?<!\s)\s*\n[\s>]*/g, " ");
}

function said(text: string): string {
  return withoutMarkers(withoutOpenCode(plainText(text)));
}

/** A backtick that nothing closes would find its end in the quote behind it, and make code of half the marker. */
function withoutOpenCode(text: string): string {
  return text.replace(/(?<!`)(`+)(?!`)(?:[^]*?(?<!`)\1(?!`))?/g, (code, run: string) => (code === run ? "'" : code));
}

function withMarker(words: string, source: number, text: string, style: CitationStyle): string {
  if (style === "none") return words;
  const quote = style === "quote" ? quotable(text) : "";
  // When links and line ends break up a sentence, one piece says too little: checkers look for the whole sentence.
  return quote.length < words.length / 2 ? `${words} [${source}]` : `${words} [${source}: "${quote}"]`;
}

/** Maximum number of characters of a quote: two long sentences. */
const maxQuoteLength = 800;

/** Where a stretch ends: at a line's end, and behind a double quotation mark with a bracket, which would close the marker. */
const stretchEnd = /\r?\n|(?<=["“”„«»])\s*[\]】]/g;

/**
 * The longest stretch of a statement that stands in a marker as it is: one line, cut between words, and never within a link
 * or another marked-up part.
 */
export function quotable(text: string): string {
  const spans = markupSpans(text);
  const ends = [...text.matchAll(stretchEnd)].map(({ 0: mark, index }) => ({ index, next: index + mark.length }));
  let longest = "";
  let from = 0;
  for (const { index, next } of [...ends, { index: text.length, next: text.length }]) {
    const start = spans.find((span) => span.start < from && span.end > from)?.end ?? from;
    const limit = Math.min(index, start + maxQuoteLength);
    const cut = limit < index ? text.lastIndexOf(" ", limit) : limit;
    const end = spans.find((span) => span.start < cut && span.end > cut)?.start ?? cut;
    const part = trimmed(text.slice(start, end));
    if (lettersIn(part) > lettersIn(longest)) longest = part;
    from = next;
  }
  return longest;
}

/** Without the signs of headings, lists, tables and quotes around it; the end of emphasis stays, and so does the name `#P`. */
function trimmed(part: string): string {
  const inner = part.replace(/^(?:\[\]|#+(?=\s)|[\s>+|-]|\*(?!\*))+|(?<![\s|\\])[\s|\\]+$/g, "");
  return /[\p{L}\p{N}]/u.test(inner) ? inner : "";
}

/** But for those of addresses, which nobody reads. */
function lettersIn(part: string): number {
  return part.replace(/(?<!\w)\w+:\/\/[^\s)]+/g, "").length;
}

/** Numbers in brackets would be read as citations of ours, unless code holds them. */
function withoutMarkers(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[[【](\d{1,3}(?:[,，、 ]+\d{1,3})*)[\]】]/g, "($1)")))
    .join("");
}

function inlineCode(line: string): string {
  const fence = line.includes("`") ? "``" : "`";
  const pad = fence === "``" ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}
