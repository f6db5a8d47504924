import { sentences } from "../../../text/blocks/sentences.js";
import type { CitationStyle } from "./reading.js";
import { plainText } from "./plain-text.js";
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
  if (kind === "code") return withMarker(inlineCode(text.replace(/\s*\\\n\s*/g, " ")), source, text, style);
  if (kind !== "prose" || style === "none") return withMarker(said(text), source, text, style);
  const parts = sentences(text).map(({ start, end }) => text.slice(start, end));
  return parts
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
    .map((part, index) => withMarker(said(part), source, onOneLine(index === 0 ? (passage ?? part) : part), style))
    .join(" ");
}

/** Checkers of quotes normalise white space; a line end within a sentence would cut it short. */
function onOneLine(prose: string): string {
  return prose.replace(/\s*\n[\s>]*/g, " ");
}

function said(text: string): string {
  return withoutMarkers(plainText(text));
}

function withMarker(words: string, source: number, text: string, style: CitationStyle): string {
  if (style === "none") return words;
  const quote = style === "quote" ? quotable(text) : "";
  // When links and line ends break up a sentence, one piece says too little: checkers look for the whole sentence.
  return quote.length < words.length / 2 ? `${words} [${source}]` : `${words} [${source}: "${quote}"]`;
}

/** Most characters of a quote: two long sentences. */
const maxQuoteLength = 800;

/**
 * The longest stretch of a statement that stands in a marker as it is: one line, without a bracket behind a quotation
 * mark, which would close the marker, and cut between words.
 */
export function quotable(text: string): string {
  const stretches = text
    .split(/\r?\n|(?<=["'“”„«»「」『』‘’`])\s*[\]】]/)
    .map((part) => part.replace(/^(?:\[\]|[\s>#+|-]|\*(?!\*))+|[\s|*\\]+$/g, ""))
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
  const longest = stretches.reduce((best, part) => (lettersIn(part) > lettersIn(best) ? part : best), "");
  if (longest.length <= maxQuoteLength) return longest;
  const cut = longest.slice(0, maxQuoteLength);
  const space = cut.lastIndexOf(" ");
  return (space > maxQuoteLength / 2 ? cut.slice(0, space) : cut).replace(/[\ud800-\udbff]$/, "");
}

/** But for those of addresses, which nobody reads. */
function lettersIn(part: string): number {
  return part.replace(/\w+:\/\/[^\s)]+/g, "").length;
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
