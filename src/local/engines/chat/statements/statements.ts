import { plainText, proseSentences, withoutMachineLines } from "../plain-text.js";
import type { ReadSource } from "../reading.js";

/** The smallest part of a source that answers by itself: a sentence, a short list item, a table row, a line of code. */
export interface Statement {
  /** As it stands in the source. */
  readonly text: string;
  readonly kind: "prose" | "row" | "code" | "heading";
  /** Number of its source. */
  readonly source: number;
  /** Words of its address, title and headings above it, and for a row the row of column names. */
  readonly context: string;
  /** The nearest heading above it, else the last part of the title. */
  readonly heading: string;
  /** Whether it is the first of its section to say something. */
  readonly opens: boolean;
  /** The text that joins it to the sentence before it in one quote; `undefined` when more than white space separates them. */
  readonly joint: "" | " " | undefined;
  /** The text that its citation quotes, when that is more than the statement. */
  readonly passage?: string;
}

/** A list item up to this length stays whole, in UTF-16 units: its sentences lean on the name it begins with. */
const maxItemLength = 360;

/** A source as statements, in its order. */
export function statements({ number, uri = "", title = "", text }: ReadSource): readonly Statement[] {
  const found: Statement[] = [];
  const place = placeWords(uri);
  const headings: string[] = [];
  let heading = title.split(" > ").at(-1) ?? "";
  let header = "";
  // Text before the first heading may be the middle of a section.
  let opens = false;
  const add = (kind: Statement["kind"], statement: string, joint?: Statement["joint"]) => {
    const above = [place, title, ...headings, kind === "row" ? header : ""].filter((part) => part !== "").join("\n");
    const first = opens && kind === "prose" && isSentence(statement);
    found.push({
      kind,
      text: statement,
      source: number,
      context: above,
      heading,
      opens: first,
      joint,
    });
    if (first || kind === "row") opens = false;
  };
  for (const block of codeBlocks(text)) {
    if (block.kind === "code") {
      for (const line of block.text.split(/(?<!\\)\n/)) if (/[\p{L}\p{N}]/u.test(line)) add("code", line.trim());
      continue;
    }
    const parts = rowsAndSentences(withoutMachineLines(block.text));
    for (const [index, { text: statement, joint }] of parts.entries()) {
      const level = /^(#{1,6})[ \t]/.exec(statement)?.[1]?.length;
      if (level !== undefined) {
        headings.length = Math.min(headings.length, level - 1);
        while (headings.length < level - 1) headings.push("");
        heading = plainText(statement);
        headings.push(heading);
        opens = true;
        add("heading", statement);
      } else if (!statement.startsWith("|")) {
        header = "";
        const code = loneCode.exec(statement)?.[1];
        if (code !== undefined) add("code", code);
        else if (saysSomething(statement)) add("prose", statement, joint);
      } else if (/[\p{L}\p{N}]/u.test(statement)) {
        // A chunk may begin in the middle of a table, whose first row there names no columns.
        if (header === "" && isDelimiterRow(parts.slice(index + 1))) header = statement;
        else add("row", statement);
      }
    }
  }
  return found;
}

/** A paragraph that is one piece of code, such as a command. */
const loneCode = /^`([^`\n]*[\p{L}\p{N}][^`\n]* [^`\n]*)`$/u;

/** The folders and the name of a document, which often say what a text leaves out: `languages/ruby/sampling.md`. */
function placeWords(uri: string): string {
  return uri
    .replace(/^\w+:\/\/[^/]*|[?#].*$|\.\w{1,5}(?=$|[?#])/g, "")
    .replace(/[^\p{L}\p{N}.]+/gu, " ")
    .trim();
}

/** Whether what follows, line ends aside, is the line between the names of the columns and the rows. */
function isDelimiterRow(following: readonly Sentence[]): boolean {
  const next = following.find(({ text }) => text.trim() !== "");
  return next !== undefined && /^\|[\s:|-]*$/.test(next.text);
}

/** Whether a text ends as a sentence does, and is no item of a list. */
export function isSentence(statement: string): boolean {
  return /[.。!！:：…][)"'”’）*_`]*$/.test(statement) && !item.test(statement) && !/^\S+:\s+\S+$/.test(statement);
}

/** Not a line of links alone, nor an anchor or a shortcode that stands by itself. */
function saysSomething(statement: string): boolean {
  const plain = plainText(statement);
  if (!/[\p{L}\p{N}]/u.test(plain)) return false;
  const unlinked = statement.replace(/!?\[[^\][]*\](?:\([^()]*\)|\[[^\][]*\])/g, "");
  return unlinked === statement || /[\p{L}\p{N}]/u.test(plainText(unlinked));
}

interface Sentence {
  readonly text: string;
  readonly joint: Statement["joint"];
}

/** Rows of tables, each whole, and the sentences between them. */
function rowsAndSentences(text: string): readonly Sentence[] {
  return text
    .split(/^([ \t]*\|.*)$/m)
    .flatMap((part, index) => (index % 2 === 1 ? [{ text: part.trim(), joint: undefined }] : itemsAndSentences(part)));
}

const item = /^[ \t]*[-*+•][ \t]+/;

/** Sentences, those of a short list item together. */
function itemsAndSentences(text: string): readonly Sentence[] {
  const joined: { start: number; end: number; readonly item: boolean }[] = [];
  for (const { start, end } of proseSentences(text)) {
    const last = joined.at(-1);
    const sameItem =
      last?.item === true &&
      !/\n[ \t]*(?:\n|[-*+•#|>]|\d+[.)])/.test(text.slice(last.end, start) + text.slice(start, start + 3));
    if (last !== undefined && sameItem && end - last.start <= maxItemLength) last.end = end;
    else joined.push({ start, end, item: item.test(text.slice(start, end)) });
  }
  return joined.map(({ start, end, item: ofList }, index) => {
    const before = joined[index - 1];
    // A lone sign, as in an empty line of a quote, is left out, and nothing may be quoted across it.
    const follows = before !== undefined && /[\p{L}\p{N}]/u.test(text.slice(before.start, before.end));
    const gap = !follows || ofList || before.item ? undefined : text.slice(before.end, start);
    const joint = gap === undefined || !/^[ \t]*\n?[ \t]*$/.test(gap) ? undefined : gap === "" ? "" : " ";
    return { text: text.slice(start, end), joint };
  });
}

/** A stretch of a source: fenced code without its fences, or what stands around it. */
export interface Block {
  readonly kind: "prose" | "code";
  readonly text: string;
}

const fence = /^[ \t>]*(?:`{3,}|~{3,})[ \t]*([^\s`]*).*$/gm;

/** Code and prose in turn. A source may begin or end in the middle of code. */
export function codeBlocks(text: string): readonly Block[] {
  const fences = [...text.matchAll(fence)];
  const found: Block[] = [];
  let kind: Block["kind"] = beginsInCode(fences.map(([, language = ""]) => language)) ? "code" : "prose";
  let start = 0;
  for (const { index, 0: line } of fences) {
    found.push({ kind, text: text.slice(start, index) });
    kind = kind === "code" ? "prose" : "code";
    start = index + line.length;
  }
  found.push({ kind, text: text.slice(start) });
  return found.filter((block) => block.text.trim() !== "");
}

/** Closing fences name no language: a bare one closes when an opening one comes next, or when none is left to close it. */
function beginsInCode(languages: readonly string[]): boolean {
  if (languages[0] !== "") return false;
  return languages.length % 2 === 1 || (languages[1] ?? "") !== "";
}

/** Whether a statement is an item of a list. */
export function isItem({ text, kind }: Statement): boolean {
  return kind === "prose" && (item.test(text) || /^[ \t]*\d{1,3}[.)][ \t]/.test(text));
}

/** Whether a statement ends in a colon, leading up to what follows. */
export function announces({ text, kind }: Statement): boolean {
  return kind === "prose" && /[:：][*_\s]*$/.test(text);
}
