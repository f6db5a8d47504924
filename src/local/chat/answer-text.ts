import type { CitationStyle } from "./reading.js";
import { plainText } from "./plain-text.js";
import type { Statement } from "./statements.js";

/** Statements as the sentences of an answer, each with its citation. */
export function answerText(chosen: readonly Statement[], style: CitationStyle): string {
  return chosen.map((statement) => cited(statement, style)).join(chosen.some(onOwnLine) ? "\n" : " ");
}

function onOwnLine({ kind }: Statement): boolean {
  return kind !== "prose";
}

function cited(statement: Statement, style: CitationStyle): string {
  const words =
    statement.kind === "code"
      ? inlineCode(statement.text.replace(/\s*\\\n\s*/g, " "))
      : withoutMarkers(plainText(statement.text));
  return style === "none" ? words : `${words} ${marker(statement, style)}`;
}

function marker({ source, text }: Statement, style: CitationStyle): string {
  const quote = style === "quote" ? quotable(text) : "";
  return quote === "" ? `[${source}]` : `[${source}: "${quote}"]`;
}

/** Most characters of a quote: enough to be found again, short enough to be read. */
const longestQuote = 160;

/**
 * The longest stretch of a statement that stands in a marker as it is: without quotation marks, brackets, addresses of
 * links and line breaks, cut between words.
 */
export function quotable(text: string): string {
  const stretches = text
    .split(/["“”\r\n]|\]\([^()]*\)|[\][【】]/)
    .map((part) => part.replace(/^[\s>#*+|-]+|[\s|*\\]+$/g, ""))
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
  const longest = stretches.reduce((best, part) => (part.length > best.length ? part : best), "");
  if (longest.length <= longestQuote) return longest;
  const cut = longest.slice(0, longestQuote);
  const space = cut.lastIndexOf(" ");
  return (space > longestQuote / 2 ? cut.slice(0, space) : cut).replace(/[\ud800-\udbff]$/, "");
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
