import { sentences } from "../../../text/blocks/sentences.js";

const entities: ReadonlyMap<string, string> = new Map([
  ["&mdash;", "—"],
  ["&ndash;", "–"],
  ["&nbsp;", " "],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&amp;", "&"],
]);

/** A tag of HTML or of a component. Addresses in angle brackets, which readers see, have other signs in their names. */
const tag = /<\/?[a-z][\w.:-]*(?:\s[^<>]{0,300})?\/?>/gi;

/**
 * Markdown as it is read: list and quote marks, heading signs, emphasis, link targets, tags, shortcodes, footnote and
 * speaker marks taken off; white space to single spaces. Code between backticks stays as it is, and so do addresses in
 * angle brackets, which say where the address ends.
 */
export function plainText(text: string): string {
  return text
    .replace(/^[ \t>]*(?:#{1,6}|[-*+•]|\d{1,3}[.)])[ \t]+/gm, "")
    .replace(/^[ \t]*>[ \t]?/gm, "")
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : withoutSigns(part)))
    .join("")
    .replace(/(\*\*|__)(?=\S)([\s\S]{0,1000}?\S)\1/g, "$2")
    .replace(/(^|[^\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g, "$1$2")
    .replace(/\s+/g, " ")
    .replace(/^(?:[AQ]|[问答])[:：][ \t]*/, "")
    .replace(/(\p{Script=Han}) (?=\p{Script=Han})/gu, "$1")
    .trim();
}

function withoutSigns(text: string): string {
  return text
    .replace(/\{\{[<%][\s\S]{0,1000}?[%>]\}\}/g, "")
    .replace(/<br\s*\/?>/gi, " ")
    .replace(tag, "")
    .replace(/(?<!\s)\s*\{#[^}\s]{1,100}\}/g, "")
    .replace(/\[\^[^\]]{1,30}\]/g, "")
    .replace(/!?\[((?:[^\][]|\[[^\][]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\][]*\])/g, "$1")
    .replace(/!?\[([^\][]*)$/, "$1")
    .replace(/^([^\][]*)\](?:\([^()]*\)|\[[^\][]*\])/, "$1")
    .replace(/&[a-z]+;/g, (entity) => entities.get(entity) ?? entity);
}

/** Links, addresses, code, emphasis and tags: half of one is no text. Bounded, so that many open ones take linear time. */
const markup =
  /!?\[(?:[^\][]|\[[^\][]*\])*\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\][]*\])|(?<!`)(`+)[^`][\s\S]{0,1000}?\1|(\*\*|__)(?=\S)[\s\S]{0,1000}?\S\2|<\/?[a-z][^<>]{0,300}>/gi;

/** Where the marked-up parts of a text stand. */
export function markupSpans(text: string): readonly { readonly start: number; readonly end: number }[] {
  return [...text.matchAll(markup)].map(({ 0: part, index }) => ({ start: index, end: index + part.length }));
}

/** A line of a block quote that begins no block of its own, such as an item. */
const quotedLine = /^>[ \t]*(?!(?:[-*+•·]|\d{1,9}[.)]|#{1,6})[ \t]|\||>|`{3}|~{3})\S/;
/** The end of a sentence, or of a line that leads up to a block. */
const lineEnded = /[\p{Sentence_Terminal}:：][\p{Pe}\p{Pf}"'*_`]*$/u;

/** Whether a line of a block quote goes on with the sentence of the line before, which also is of the quote. */
function wrapsInQuote(text: string, last: { readonly start: number; readonly end: number }, start: number): boolean {
  if (!/^[ \t]*\n[ \t]*$/.test(text.slice(last.end, start))) return false;
  const before = text.slice(text.lastIndexOf("\n", last.end - 1) + 1, last.end);
  if (!/^[ \t]*>[^]*[\p{L}\p{N}]/u.test(before) || lineEnded.test(before)) return false;
  return quotedLine.test(text.slice(start, start + 20));
}

/** The sentences of a text; none ends within a link or another marked-up part, nor where a line of a block quote wraps. */
export function proseSentences(text: string): readonly { readonly start: number; readonly end: number }[] {
  const spans = markupSpans(text);
  const joined: { start: number; end: number }[] = [];
  let passed = 0;
  for (const { start, end } of sentences(text)) {
    const last = joined.at(-1) ?? { start: 0, end: 0 };
    while (passed < spans.length && spans[passed]!.end <= last.end) passed++;
    const isCut = (spans[passed]?.start ?? last.end) < last.end;
    if (isCut || wrapsInQuote(text, last, start)) last.end = end;
    else joined.push({ start, end });
  }
  return joined;
}

/** Lines at which a chunk may have begun inside front matter. */
const maxFrontMatterLines = 40;

/**
 * Prose without what is in it for machines: front matter, link reference definitions, comments, and lines that hold
 * only tags, shortcodes or images. Each leaves an empty line behind, so that nothing joins across it.
 */
export function withoutMachineLines(prose: string): string {
  const body = withoutFrontMatter(prose).replace(/<!--[\s\S]*?(?:-->|$)/g, "\n\n");
  let definition = false;
  return body
    .split(/\r?\n/)
    .map((line) => {
      // The target of a definition may stand on the line below its label.
      const continued = definition && /^[ \t]+\S+[ \t]*$/.test(line);
      definition = /^[ \t]*\[[^\]^][^\]]*\]:[ \t]*$/.test(line);
      return continued || isForMachines(line) ? "" : line;
    })
    .join("\n");
}

function isForMachines(line: string): boolean {
  if (/^[ \t>]*\[[^\]^][^\]]*\]:(?:[ \t]|$)/.test(line)) return true;
  if (/^[ \t>]*\[![A-Z]+\][ \t]*$/.test(line)) return true;
  if (!/[<{!]/.test(line)) return false;
  const rest = line
    .replace(/\{\{[<%][\s\S]{0,1000}?[%>]\}\}/g, "")
    .replace(tag, "")
    .replace(/!\[[^\]]{0,500}\](?:\([^)]{0,1000}\)|\[[^\]]{0,500}\])/g, "");
  return rest !== line && !/[\p{L}\p{N}]/u.test(rest);
}

/** Front matter stands between lines of three dashes; a chunk may hold only its end. */
function withoutFrontMatter(text: string): string {
  const lines = text.split("\n");
  const opens = /^-{3}\s*$/.test(lines[0] ?? "");
  const close = lines.findIndex((line, at) => at > 0 && /^-{3}\s*$/.test(line));
  if (close < 0) return opens && lines.slice(1).every(isSetting) ? "" : text;
  if (!opens && (close > maxFrontMatterLines || !lines.slice(0, close).every(isSetting))) return text;
  return lines.slice(close + 1).join("\n");
}

/** `key: value`, or what belongs to one: an indented line, an item, a comment, nothing. */
function isSetting(line: string): boolean {
  return /^(?:[\w-]+:(?:\s|$)|[ \t]+\S|- |#|\s*$)/.test(line);
}
