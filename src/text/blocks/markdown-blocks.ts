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
  for (let at = 0; at < text.length;) {
    at = lines.skipBlank(at);
    if (at >= text.length) break;
    const block = blockAt(lines, at);
    const end = lines.skipBlank(block.end);
    found.push({ ...block, start, end });
    if (found.length % blocksPerStep === 0) yield;
    start = end;
    at = end;
  }
  const last = found.pop();
  if (last) return [...found, { ...last, end: text.length }];
  return text === "" ? [] : [{ kind: "paragraph", start: 0, end: text.length }];
}

type Found = Omit<Block, "start">;

function blockAt(lines: Lines, at: number): Found {
  return (
    frontMatter(lines, at) ??
    fence(lines, at) ??
    heading(lines, at) ??
    table(lines, at) ??
    html(lines, at) ??
    prose(lines, at)
  );
}

/** YAML between `---` lines at the very start of the text. */
function frontMatter(lines: Lines, at: number): Found | undefined {
  if (at > 0 || !lines.matches(/\ufeff?---[ \t]*(?=[\r\n])/y, at)) return undefined;
  for (let line = lines.end(at); line < lines.text.length; line = lines.end(line)) {
    if (lines.matches(/(?:---|\.\.\.)[ \t]*(?:$|[\r\n])/y, line)) return { kind: "front-matter", end: lines.end(line) };
  }
  return undefined;
}

// Also inside list items and quotations, whatever their indentation.
const fenceStart = /[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:(`{3,})[^`\r\n]*(?:$|[\r\n])|(~{3,}))/y;

function fence(lines: Lines, at: number): Found | undefined {
  const opening = lines.matches(fenceStart, at);
  if (!opening) return undefined;
  const marker = opening[1] ?? opening[2] ?? "";
  for (let line = lines.end(at); line < lines.text.length; line = lines.end(line)) {
    const closing = lines.matches(/[ \t>]*(`{3,}|~{3,})[ \t]*(?:$|[\r\n])/y, line)?.[1];
    if (closing?.startsWith(marker)) return { kind: "fence", end: lines.end(line) };
  }
  return { kind: "fence", end: lines.text.length };
}

function heading(lines: Lines, at: number): Found | undefined {
  const opening = lines.matches(/ {0,3}(#{1,6})(?=$|[ \t\r\n])/y, at);
  if (!opening) return undefined;
  const end = lines.end(at);
  return {
    kind: "heading",
    end,
    level: opening[1]?.length ?? 1,
    title: headingTitle(lines.text, at + opening[0].length, end),
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
function table(lines: Lines, at: number): Found | undefined {
  const rules = lines.end(at);
  if (!lines.hasBar(at) || !isDelimiterRow(lines.text, rules)) return undefined;
  let end = lines.end(rules);
  while (end < lines.text.length && lines.hasBar(end)) end = lines.end(end);
  return { kind: "table", end, title: lines.text.slice(at, rules).trim() };
}

function isDelimiterRow(text: string, start: number): boolean {
  let dashes = false;
  let bars = false;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
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
function html(lines: Lines, at: number): Found | undefined {
  const opening = lines.matches(/ {0,3}<(?:(!--)|([a-zA-Z][a-zA-Z0-9-]*)|[/!?][a-zA-Z])/y, at);
  if (!opening) return undefined;
  const closing = opening[1] ? /-->/g : rawEnds.get((opening[2] ?? "").toLowerCase());
  if (closing === undefined) {
    // An inline tag such as <a> or an autolink starts a paragraph.
    if (lines.matches(/ {0,3}<[a-zA-Z][a-zA-Z0-9+.-]*[:@]/y, at)) return undefined;
    return { kind: "html", end: lines.paragraphEnd(at, () => false) };
  }
  const found = lines.matches(closing, at + opening[0].length);
  return { kind: "html", end: found ? lines.end(found.index) : lines.text.length };
}

const itemStart = /[ \t]*(?:[-*+•]|\d{1,9}[.)])(?=[ \t])/y;
const setextRule = / {0,3}(=+|-+)[ \t]*(?:$|[\r\n])/y;

/** A paragraph, a list item, or a paragraph that a line of `===` or `---` turns into a heading. */
function prose(lines: Lines, at: number): Found {
  if (isThematicBreak(lines.text, at, lines.end(at))) return { kind: "paragraph", end: lines.end(at) };
  const kind: BlockKind = lines.matches(itemStart, at) ? "item" : "paragraph";
  const end = lines.paragraphEnd(
    at,
    (line) => interrupts(lines, line) || (kind === "paragraph" && isRule(lines, line)),
  );
  if (kind === "paragraph" && end < lines.text.length && isRule(lines, end)) {
    const level = lines.matches(setextRule, end)?.[1]?.startsWith("=") ? 1 : 2;
    return {
      kind: "heading",
      end: lines.end(end),
      level,
      title: headingTitle(lines.text, at, end).replace(/\s+/g, " "),
    };
  }
  return { kind, end };
}

/** Three or more `*`, `-` or `_` and nothing else. A pattern of repeated groups would run out of stack on a long line. */
function isThematicBreak(text: string, start: number, end: number): boolean {
  let marker = "";
  let count = 0;
  for (let at = start; at < end; at++) {
    const found = text.charAt(at);
    if (found === " " || found === "\t" || found === "\r" || found === "\n") continue;
    if (marker === "" && (found === "*" || found === "-" || found === "_")) marker = found;
    if (found !== marker) return false;
    count++;
  }
  return count >= 3;
}

function isRule(lines: Lines, at: number): boolean {
  return lines.matches(setextRule, at) !== undefined;
}

/** Whether a line starts a new block even without a blank line before it. */
function interrupts(lines: Lines, at: number): boolean {
  return Boolean(
    lines.matches(/ {0,3}#{1,6}(?=$|[ \t\r\n])/y, at) ??
    lines.matches(fenceStart, at) ??
    lines.matches(itemStart, at) ??
    lines.matches(/ {0,3}<!--/y, at) ??
    (lines.hasBar(at) && isDelimiterRow(lines.text, lines.end(at)) ? true : undefined),
  );
}

class Lines {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  end(at: number): number {
    return lineEnd(this.text, at);
  }

  /** Matches a sticky expression at `at`, a global one from there on. */
  matches(expression: RegExp, at: number): RegExpExecArray | undefined {
    expression.lastIndex = at;
    return expression.exec(this.text) ?? undefined;
  }

  hasBar(at: number): boolean {
    return this.text.slice(at, this.end(at)).includes("|");
  }

  /** The first line from `at` that is not blank. */
  skipBlank(at: number): number {
    let line = at;
    for (let end = this.end(line); line < this.text.length && isBlank(this.text, line, end); end = this.end(line))
      line = end;
    return line;
  }

  /** The end of the last line before a blank one or one that `ends` the paragraph. */
  paragraphEnd(at: number, ends: (line: number) => boolean): number {
    let line = this.end(at);
    while (line < this.text.length && !isBlank(this.text, line, this.end(line)) && !ends(line)) line = this.end(line);
    return line;
  }
}
