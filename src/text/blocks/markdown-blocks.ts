import type { Block, BlockKind } from "./block.js";
import { isBlank, lineEnd } from "./lines.js";

/** Blocks between two pauses: some milliseconds of reading. */
const blocksPerStep = 2048;

/**
 * The blocks of a Markdown text, in one pass over its lines: front matter, ATX and setext headings, fences (an unclosed
 * one runs to the end), tables, list items, HTML blocks and paragraphs, following https://spec.commonmark.org/0.31.2/ and
 * the tables of https://github.github.com/gfm/. Nesting is not resolved: a fence inside a list item is a fence. Yields now
 * and then while a long text is read, so that the caller can let other work run.
 */
export function* markdownBlocks(text: string): Generator<undefined, Block[]> {
  const found: Block[] = [];
  const lines = new Lines(text);
  let start = 0;
  for (let index = 0; index < text.length;) {
    index = lines.skipBlank(index);
    if (index >= text.length) break;
    const block = blockAt(lines, index);
    const end = lines.skipBlank(block.end);
    found.push({ ...block, start, end });
    if (found.length % blocksPerStep === 0) yield;
    start = end;
    index = end;
  }
  const last = found.pop();
  if (last) return [...found, { ...last, end: text.length }];
  return text === "" ? [] : [{ kind: "paragraph", start: 0, end: text.length }];
}

type Found = Omit<Block, "start">;

function blockAt(lines: Lines, index: number): Found {
  return (
    frontMatter(lines, index) ??
    fence(lines, index) ??
    heading(lines, index) ??
    table(lines, index) ??
    html(lines, index) ??
    prose(lines, index)
  );
}

/** YAML between `---` lines at the very start of the text. */
function frontMatter(lines: Lines, index: number): Found | undefined {
  if (index > 0 || !lines.matches(/\ufeff?---[ \t]*(?=[\r\n])/y, index)) return undefined;
  for (let line = lines.end(index); line < lines.text.length; line = lines.end(line)) {
    if (lines.matches(/(?:---|\.\.\.)[ \t]*(?:$|[\r\n])/y, line)) return { kind: "front-matter", end: lines.end(line) };
  }
  return undefined;
}

// Also inside list items and quotations, whatever their indentation.
const fenceStart = /[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:(`{3,})[^`\r\n]*(?:$|[\r\n])|(~{3,}))/y;

function fence(lines: Lines, index: number): Found | undefined {
  const opening = lines.matches(fenceStart, index);
  if (!opening) return undefined;
  const marker = opening[1] ?? opening[2] ?? "";
  for (let line = lines.end(index); line < lines.text.length; line = lines.end(line)) {
    const closing = lines.matches(/[ \t>]*(`{3,}|~{3,})[ \t]*(?:$|[\r\n])/y, line)?.[1];
    if (closing?.startsWith(marker)) return { kind: "fence", end: lines.end(line) };
  }
  return { kind: "fence", end: lines.text.length };
}

function heading(lines: Lines, index: number): Found | undefined {
  const opening = lines.matches(/ {0,3}(#{1,6})(?=$|[ \t\r\n])/y, index);
  if (!opening) return undefined;
  const end = lines.end(index);
  return {
    kind: "heading",
    end,
    level: opening[1]?.length ?? 1,
    title: headingTitle(lines.text, index + opening[0].length, end),
  };
}

/** The words of a heading, cut to 400 characters, without closing `#` and without an `{#id}`. */
function headingTitle(text: string, start: number, end: number): string {
  return text
    .slice(start, Math.min(end, start + 400))
    .trim()
    .replace(/\{[^{}]*\}$/, "")
    .trimEnd()
    .replace(/(^|[ \t])#+$/, "")
    .trim();
}

/** A row with a bar, a row of dashes, then rows up to the first without a bar. */
function table(lines: Lines, offset: number): Found | undefined {
  const rules = lines.end(offset);
  if (!lines.hasBar(offset) || !isDelimiterRow(lines.text, rules)) return undefined;
  let end = lines.end(rules);
  while (end < lines.text.length && lines.hasBar(end)) end = lines.end(end);
  return { kind: "table", end, title: lines.text.slice(offset, rules).trim() };
}

function isDelimiterRow(text: string, start: number): boolean {
  let dashes = false;
  let bars = false;
  for (let offset = start; offset < text.length; offset++) {
    const character = text.charAt(offset);
    if (character === "\r" || character === "\n") break;
    if (character === "-") dashes = true;
    else if (character === "|") bars = true;
    else if (character !== ":" && character !== " " && character !== "\t") return false;
  }
  return dashes && bars;
}

/** Closing tags of elements whose text is not Markdown. */
const rawEnds: ReadonlyMap<string, RegExp> = new Map([
  ["script", /<\/script>/gi],
  ["pre", /<\/pre>/gi],
  ["style", /<\/style>/gi],
  ["textarea", /<\/textarea>/gi],
]);

/** A comment or raw element runs to its end, any other tag to a blank line. */
function html(lines: Lines, position: number): Found | undefined {
  const opening = lines.matches(/ {0,3}<(?:(!--)|([a-zA-Z][a-zA-Z0-9-]*)|[/!?][a-zA-Z])/y, position);
  if (!opening) return undefined;
  const closing = opening[1] ? /-->/g : rawEnds.get((opening[2] ?? "").toLowerCase());
  if (closing === undefined) {
    // An inline tag such as <a> or an autolink starts a paragraph.
    if (lines.matches(/ {0,3}<[a-zA-Z][a-zA-Z0-9+.-]*[:@]/y, position)) return undefined;
    return { kind: "html", end: lines.paragraphEnd(position, () => false) };
  }
  const found = lines.matches(closing, position + opening[0].length);
  return { kind: "html", end: found ? lines.end(found.index) : lines.text.length };
}

const itemStart = /[ \t]*(?:[-*+•]|\d{1,9}[.)])(?=[ \t])/y;
const setextRule = / {0,3}(=+|-+)[ \t]*(?:$|[\r\n])/y;

/** A paragraph, a list item, or a paragraph that a line of `===` or `---` turns into a heading. */
function prose(lines: Lines, index: number): Found {
  if (isThematicBreak(lines.text, index, lines.end(index))) return { kind: "paragraph", end: lines.end(index) };
  const kind: BlockKind = lines.matches(itemStart, index) ? "item" : "paragraph";
  const end = lines.paragraphEnd(
    index,
    (line) => interrupts(lines, line) || (kind === "paragraph" && isRule(lines, line)),
  );
  if (kind === "paragraph" && end < lines.text.length && isRule(lines, end)) {
    const level = lines.matches(setextRule, end)?.[1]?.startsWith("=") ? 1 : 2;
    return {
      kind: "heading",
      end: lines.end(end),
      level,
      title: headingTitle(lines.text, index, end).replace(/\s+/g, " "),
    };
  }
  return { kind, end };
}

/** Three or more `*`, `-` or `_` and nothing else. A pattern of repeated groups would run out of stack on a long line. */
function isThematicBreak(text: string, start: number, end: number): boolean {
  let marker = "";
  let count = 0;
  for (let offset = start; offset < end; offset++) {
    const found = text.charAt(offset);
    if (found === " " || found === "\t" || found === "\r" || found === "\n") continue;
    if (marker === "" && (found === "*" || found === "-" || found === "_")) marker = found;
    if (found !== marker) return false;
    count++;
  }
  return count >= 3;
}

function isRule(lines: Lines, index: number): boolean {
  return lines.matches(setextRule, index) !== undefined;
}

/** Whether a line starts a new block even without a blank line before it. */
function interrupts(lines: Lines, index: number): boolean {
  return Boolean(
    lines.matches(/ {0,3}#{1,6}(?=$|[ \t\r\n])/y, index) ??
    lines.matches(fenceStart, index) ??
    lines.matches(itemStart, index) ??
    lines.matches(/ {0,3}<!--/y, index) ??
    (lines.hasBar(index) && isDelimiterRow(lines.text, lines.end(index)) ? true : undefined),
  );
}

class Lines {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  end(offset: number): number {
    return lineEnd(this.text, offset);
  }

  /** Matches a sticky expression at `at`, a global one from there on. */
  matches(expression: RegExp, offset: number): RegExpExecArray | undefined {
    expression.lastIndex = offset;
    return expression.exec(this.text) ?? undefined;
  }

  hasBar(offset: number): boolean {
    return this.text.slice(offset, this.end(offset)).includes("|");
  }

  /** The first line from `at` that is not blank. */
  skipBlank(index: number): number {
    let line = index;
    for (let end = this.end(line); line < this.text.length && isBlank(this.text, line, end); end = this.end(line))
      line = end;
    return line;
  }

  /** The end of the last line before a blank one or one that `ends` the paragraph. */
  paragraphEnd(index: number, ends: (line: number) => boolean): number {
    let line = this.end(index);
    while (line < this.text.length && !isBlank(this.text, line, this.end(line)) && !ends(line)) line = this.end(line);
    return line;
  }
}
