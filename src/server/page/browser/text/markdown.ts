import { Marked, type MarkedExtension, type Tokens } from "marked";
import { withFormulas } from "./math.js";
import { sanitise } from "./sanitise.js";

/** Meaning of a number such as `[1]` in the text. */
export interface Mark {
  readonly number: number;
  /** Label of the place that the mark opens. */
  readonly label: string;
  readonly isSupported: boolean;
}

/** A paragraph, list, table or other block at the top level of the text. */
export interface Block {
  readonly raw: string;
  /** Like `raw`, with the ends of its underlined places marked. */
  readonly remarked: string;
  readonly html: string;
  /** Index of the first mark that may stand in it, and of the first behind it. */
  readonly marksFrom: number;
  readonly marksTo: number;
  /** Whether each number in it has its mark, so that later marks change nothing. */
  readonly isSettled: boolean;
}

/** A place of the text to be underlined. */
export interface Remark {
  /** Offsets into the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

export interface Rendered {
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly blocks: readonly Block[];
}

export const nothingRendered: Rendered = { text: "", marks: [], blocks: [] };

/**
 * Safe HTML of Markdown, block by block. The marks come in the order in which their numbers stand in the text; a number
 * may stand there several times, each time for other words of its source. Blocks of an earlier, shorter text are used
 * again, so that a long answer costs no more at its end than at its beginning.
 */
export function render(
  text: string,
  marks: readonly Mark[],
  copyLabel: string,
  earlier: Rendered,
  remarks: readonly Remark[] = [],
): Rendered {
  const raws = blocksOf(text, earlier);
  const blocks: Block[] = [];
  let end = 0;
  for (const [index, raw] of raws.entries()) {
    const start = end;
    end += raw.length;
    const remarked = underlined(raw, start, remarks);
    const marksFrom = blocks.at(-1)?.marksTo ?? 0;
    const before = earlier.blocks[index];
    const isSame =
      before?.raw === raw &&
      before.marksFrom === marksFrom &&
      (before.isSettled || earlier.marks === marks) &&
      before.remarked === remarked;
    blocks.push(isSame ? before : { ...renderBlock(remarked, marks, marksFrom, copyLabel), raw, remarked });
  }
  return { text, marks, blocks };
}

/** Definitions of links are shown as the text that they are: blocks are read one by one and would not know them. */
const tokenizer = { def: () => undefined };

const lexer = new Marked({ tokenizer });

function blocksOf(text: string, earlier: Rendered): string[] {
  if (!text.startsWith(earlier.text)) return lexer.lexer(text).map(({ raw }) => raw);
  // Only the last block with words in it can change by what follows it; a gap behind it may turn out to be inside it.
  const kept = earlier.blocks.slice(
    0,
    Math.max(
      0,
      earlier.blocks.findLastIndex(({ raw }) => raw.trim() !== ""),
    ),
  );
  const length = kept.reduce((sum, { raw }) => sum + raw.length, 0);
  return [...kept, ...lexer.lexer(text.slice(length))].map(({ raw }) => raw);
}

function renderBlock(
  raw: string,
  marks: readonly Mark[],
  marksFrom: number,
  copyLabel: string,
): Omit<Block, "raw" | "remarked"> {
  let marksTo = marksFrom;
  let isSettled = true;
  /** Index of the mark that a number at this place of the text stands for. */
  const markAt = (number: number): number => {
    const next = marks.findIndex((mark, index) => index >= marksTo && mark.number === number);
    if (next >= 0) marksTo = next + 1;
    else isSettled = false;
    return next >= 0 ? next : marks.findLastIndex((mark) => mark.number === number);
  };
  const marked = new Marked({ tokenizer }, withoutMarkup(copyLabel), withMarks(marks, markAt), withFormulas(escaped));
  const html = sanitise(marked.parse(raw, { async: false }).replaceAll(opening, "<u>").replaceAll(closing, "</u>"));
  return { html, marksFrom, marksTo, isSettled };
}

/** Characters that no text has stand for the ends of an underlined place while Markdown is read. */
const [opening, closing] = ["\ufdd0", "\ufdd1"];

/**
 * A block with the places in it that claim something without support, as far as they lie within one of its lines: a table or
 * code has no place for a line below its words.
 */
function underlined(raw: string, from: number, remarks: readonly Remark[]): string {
  if (/^\s*(?:\||`{3}|~{3})/.test(raw)) return raw;
  let text = raw;
  for (const { start, end } of remarks.toReversed()) {
    const place = raw.slice(Math.max(0, start - from), Math.max(0, end - from));
    if (place === "" || /\n\s*\n/.test(place)) continue;
    const [lead = ""] = /^\s*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})\s+)?/.exec(place) ?? [];
    const [at, to] = [start - from + lead.length, end - from];
    text = `${text.slice(0, at)}${opening}${text.slice(at, to)}${closing}${text.slice(to)}`;
  }
  return text;
}

/** Turns numbers in brackets into buttons. Numbers that no mark has stay text. */
function withMarks(marks: readonly Mark[], markAt: (number: number) => number): MarkedExtension {
  return {
    extensions: [
      {
        name: "mark",
        level: "inline",
        start: (source) => source.indexOf("["),
        tokenizer: (source) => {
          // In front of a bracket or a colon it is a link, or the definition of one, that the source has brought along.
          const [raw, digits] = /^\[(\d+)\](?![(:])/.exec(source) ?? [];
          if (raw === undefined) return undefined;
          const index = markAt(Number(digits));
          return index < 0 ? undefined : { type: "mark", raw, index };
        },
        renderer: (token) => {
          const index = token["index"] as number;
          const { number, label, isSupported } = marks[index]!;
          const kind = isSupported ? "mark" : "mark unsupported";
          const said = escaped(label);
          return `<button type="button" class="${kind}" data-citation="${index}" aria-label="${said}" title="${said}">${number}</button>`;
        },
      },
    ],
  };
}

/** Shows markup as text, images as links, and code with a button that copies it. */
function withoutMarkup(copyLabel: string): MarkedExtension {
  return {
    renderer: {
      ...plainRenderer,
      html: ({ text }) => escaped(text),
      code: ({ text, lang }) => {
        const language = escaped(/^[\w+#.-]+/.exec(lang ?? "")?.[0] ?? "");
        const name = language === "" ? "" : `<span class="language">${language}</span>`;
        const copy = `<button type="button" class="copy-code">${escaped(copyLabel)}</button>`;
        const pre = `<pre tabindex="0" data-language="${language}"><code>${escaped(text)}</code></pre>`;
        return `<div class="code"><div class="code-head">${name}${copy}</div>${pre}</div>`;
      },
    },
  };
}

/**
 * Markdown of a document as it looks; its HTML is left to the sanitiser.
 *
 * @param documentOf address of the document that a link leads to, which opens beside the answers
 */
export function withoutScripts(documentOf: (href: string) => string | undefined): MarkedExtension {
  return {
    renderer: {
      ...plainRenderer,
      // The sanitiser drops these, too, but the browser's policy would report them before.
      html: ({ text }) =>
        text
          .replace(/\s(?:style|on\w+)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, "")
          .replace(/<style\b[^>]*>[^]*?<\/style\s*>|<\/?(?:style|base|link|meta)\b[^>]*>/gi, ""),
      link({ href, tokens }) {
        const html = this.parser.parseInline(tokens);
        const uri = documentOf(href);
        if (uri === undefined) return link(href, html);
        return /^https?:/i.test(uri)
          ? link(uri, html)
          : `<button type="button" data-document="${escaped(uri)}">${html}</button>`;
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>`,
    },
  };
}

const plainRenderer: NonNullable<MarkedExtension["renderer"]> = {
  // A question or the title of a document is the heading above, so those within begin one level below.
  heading({ tokens, depth }) {
    const level = Math.min(depth + 2, 6);
    return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
  },
  link({ href, tokens }) {
    return link(href, this.parser.parseInline(tokens));
  },
  image: ({ href, text }) => link(href, escaped(text || href)),
  checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  table({ header, rows }) {
    const cell = (name: string) => (tableCell: Tokens.TableCell) =>
      `<${name}${tableCell.align ? ` align="${tableCell.align}"` : ""}>${this.parser.parseInline(tableCell.tokens)}</${name}>`;
    const row = (cells: readonly Tokens.TableCell[], name: string) => `<tr>${cells.map(cell(name)).join("")}</tr>`;
    const body = rows.map((currentRow) => row(currentRow, "td")).join("");
    return `<div class="table" tabindex="0"><table><thead>${row(header, "th")}</thead><tbody>${body}</tbody></table></div>`;
  },
};

/** A link that leaves the page where it is. Other schemes than the web's and mail are shown as text. */
function link(href: string, html: string): string {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return html;
  return `<a href="${escaped(href)}" title="${escaped(href)}" target="_blank" rel="noopener noreferrer">${html}</a>`;
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
