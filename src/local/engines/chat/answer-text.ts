import { standInNotice } from "../../../text/prompt/stand-in-notice.js";
import { markerOf } from "../../../text/citations/citation-markers.js";
import { proseSentences, plainText, withoutMarkers } from "../../../text/blocks/plain-text.js";
import { isChinese } from "../../../text/words/chinese.js";
import type { CitationStyle } from "./reading.js";
import { quotationText, type Quotation } from "./passages/quotation.js";
import { textOf, type Unit } from "./passages/units.js";

/** Quotations as a reply: a line that says what it is, then each below its headings, with its own citation. */
export function answerText(chosen: readonly Quotation[], question: string, style: CitationStyle): string {
  const parts = chosen.map((quotation) => {
    const { source, section } = quotation.units[0]!;
    const path = section.path.map((part) => withoutMarkers(part.replaceAll("*", ""))).join(" › ");
    const text = shownText(quotation);
    const cited =
      style === "none"
        ? text
        : withMarker(text, markerOf(source.number, style === "quote" ? quotable(quotation) : undefined));
    return path === "" ? cited : `**${path}**\n\n${cited}`;
  });
  return [standInNotice(isChinese(question)), ...parts].join("\n\n");
}

/** Puts a marker behind the last word, but on a line of its own below code and tables, whose text it would become. */
function withMarker(text: string, marker: string): string {
  const last = text.slice(text.lastIndexOf("\n") + 1);
  return /^\s*(?:`{3,}|~{3,}|\|)/.test(last) ? `${text}\n\n${marker}` : `${text} ${marker}`;
}

/** The words of a quotation for readers: without links' targets and signs that only machines read, its blocks as they stand. */
export function shownText(quotation: Quotation): string {
  const { units } = quotation;
  const blocks: string[] = [];
  for (let from = 0; from < units.length;) {
    let to = from + 1;
    while (to < units.length && units[to]!.block === units[from]!.block && units[to]!.kind === units[from]!.kind) to++;
    blocks.push(shownBlock(units.slice(from, to)));
    from = to;
  }
  return blocks.filter((block) => block !== "").join("\n\n");
}

function shownBlock(units: readonly Unit[]): string {
  const [first] = units;
  const text = textOf({ ...first!, end: units.at(-1)!.end });
  if (first!.kind === "code") return shownCode(units[0]!);
  if (first!.kind === "row")
    return [...(first!.head?.split("\n") ?? []), ...units.map(textOf)]
      .map((row) => withoutMarkers(row.trim()))
      .join("\n");
  if (first!.kind === "item") return units.map((unit) => shownItem(textOf(unit))).join("\n");
  // A term with what it means below it keeps its line.
  const [, term, meaning] = /^(\S[^\n]*)\n:[ \t]+([^]*)$/.exec(text) ?? [];
  const lines = term === undefined ? [text] : [`${term.replace(/¶$/, "")}:`, meaning ?? ""];
  return lines.map((line) => withoutMarkers(closedCode(plainText(line)))).join(" ");
}

function shownItem(text: string): string {
  const [mark = "- "] = /^[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+/.exec(text) ?? [];
  const sign = /\d/.test(mark) ? mark.trim() : "-";
  const [, indent = ""] = /^([ \t]*)/.exec(mark) ?? [];
  return `${indent}${sign} ${withoutMarkers(closedCode(plainText(text)))}`;
}

const fenceLine = /^[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n]*$/;

/** Code in a fence of its own. A source may hold only the end of a block, and a long block is shown as far as it is quoted. */
function shownCode(unit: Unit): string {
  const lines = textOf(unit).split("\n");
  const language = fenceLine.exec(lines[0]!)?.[2] ?? "";
  const inner = lines.filter((line, index) => !((index === 0 || index === lines.length - 1) && fenceLine.test(line)));
  const longest = Math.max(2, ...inner.flatMap((line) => line.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${language}`, ...inner, ...(unit.cut === true ? ["…"] : []), fence].join("\n");
}

/** A backtick that nothing closes would find its end in the quote behind it, and make code of half the marker. */
function closedCode(text: string): string {
  return text.replace(/(?<!`)(`+)(?!`)(?:[^]*?(?<!`)\1(?!`))?/g, (code, run: string) => (code === run ? "'" : code));
}

/** The telling sentence of a quotation by itself, or a block as a whole. */
export function briefText(quotation: Quotation): string {
  const { telling } = quotation;
  return telling.kind === "sentence" ? shownText({ ...quotation, units: [telling] }) : shownText(quotation);
}

/** The words of a quotation as its citation gives them: as they stand in the source, sentence by sentence up to the limit of a marker. */
export function quotable(quotation: Quotation): string {
  return quotationText(quotation).trim();
}

/** The sentences of a quotation, the telling one first, for values that are looked for in them. */
export function tellingTexts({ units, telling }: Quotation): readonly string[] {
  return [telling, ...units.filter((unit) => unit !== telling)]
    .map(textOf)
    .flatMap((text) => proseSentences(text).map(({ start, end }) => text.slice(start, end)));
}
