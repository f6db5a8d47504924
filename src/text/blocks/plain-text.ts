import { sentences } from "./sentences.js";

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

const frontMatter = /^---[ \t]*\n(?:[^\n]*\n)*?---[ \t]*(?:\n|$)/;

/**
 * Markdown as it is read: front matter, list and quote marks, heading signs, emphasis, link targets, tags, shortcodes, footnote and
 * speaker marks taken off; white space to single spaces. Code between backticks stays as it is, and so do addresses in
 * angle brackets, which say where the address ends.
 */
export function plainText(text: string): string {
  return text
    .replace(frontMatter, "")
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

/** Spans of the marked-up parts of a text. */
function markupSpans(text: string): readonly { readonly start: number; readonly end: number }[] {
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

/** Numbers in brackets would be read as citations of ours, unless code holds them. */
export function withoutMarkers(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[[【](\d{1,3}(?:[,，、 ]+\d{1,3})*)[\]】]/g, "($1)")))
    .join("");
}
