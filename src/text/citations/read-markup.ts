/** Trait bits of a unit of a text. */
export const traits = {
  /** Markup, which is not shown. */
  silent: 1,
  /** Code, in which every sign counts. */
  code: 2,
  /** Struck out. */
  struck: 4,
  /** Part of the target of a link. */
  target: 8,
  /** A line break that ends a paragraph, heading, list item or table row. */
  blockEnd: 16,
  heading: 32,
  /** The border of two cells of a table. */
  cell: 64,
  /** The tag that raises a number. */
  raised: 128,
  /** The tag that breaks a line. */
  lineBreak: 256,
} as const;

/**
 * The traits of each unit of a text, read as Markdown with the tags of HTML. Linear: whatever opens is looked for within
 * its paragraph or a bounded distance.
 *
 * @param cut whether marks without a partner are markup, as they are where a quote begins or ends within theirs.
 */
export function readMarkup(text: string, cut = false): Uint16Array {
  const found = new Uint16Array(text.length);
  readInline(text, readBlocks(text, found), found, cut);
  return found;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function add(found: Uint16Array, start: number, end: number, trait: number): void {
  for (let index = start; index < end; index++) found[index]! |= trait;
}

const fence = /^[ \t>]*(`{3,}|~{3,})([^`\n]*)$/u;
const quoteMark = /^[ \t]*(?:>[ \t]?)+(?!\d)/u;
const heading = /^[ \t]{0,3}#{1,6}(?:[^\S\n]+|$)/u;
const underline = /^[ \t]{0,3}(?:=+|-{2,})[ \t]*$/u;
const rule = /^[ \t]{0,3}(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/u;
const bullet = /^[ \t]*[-*+•·–][ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)/u;
const ordered = /^[ \t]*(?:\d{1,9}|[a-zA-Z])[.)][ \t]+/u;
const tableRule = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$/u;

/** Reads the marks at the beginnings of lines, and gives the ranges between the ends of blocks. */
function readBlocks(text: string, found: Uint16Array): Range[] {
  const paragraphs: Range[] = [];
  let paragraph = 0;
  let open: string | undefined;
  let afterBlank = true;
  let before: Range | undefined;
  const endBlock = (position: number) => {
    if (position > paragraph) paragraphs.push({ start: paragraph, end: position });
    if (position < text.length) add(found, position, position + 1, traits.blockEnd);
    paragraph = position;
  };
  for (let start = 0; start <= text.length;) {
    const next = text.indexOf("\n", start);
    const end = next < 0 ? text.length : next;
    const line = text.slice(start, end);
    const [, marks, info = ""] = fence.exec(line) ?? [];
    const lineBefore = start - 1;
    if (open !== undefined) {
      const closes = marks?.startsWith(open) === true && info.trim() === "";
      add(found, start, end, closes ? traits.silent : traits.code);
      // A backslash continues a command on the next line.
      if (line.endsWith("\\")) add(found, end - 1, end, traits.silent);
      if (!closes) add(found, end, Math.min(end + 1, text.length), traits.code);
      else {
        open = undefined;
        paragraph = end;
        if (end < text.length) add(found, end, end + 1, traits.blockEnd);
      }
    } else if (marks !== undefined) {
      if (lineBefore >= 0) endBlock(lineBefore);
      open = marks;
      add(found, start, Math.min(end + 1, text.length), traits.silent);
    } else {
      const quoted = quoteMark.exec(line)?.[0].length ?? 0;
      add(found, start, start + quoted, traits.silent);
      const rest = line.slice(quoted);
      const isBlank = rest.trim() === "";
      const offset = start + quoted;
      const starts = (length: number) => {
        if (lineBefore >= 0) endBlock(lineBefore);
        add(found, offset, offset + length, traits.silent);
      };
      const isRow = rest.trimStart().startsWith("|");
      let ends = isBlank;
      if (isBlank) {
        if (lineBefore >= 0) endBlock(lineBefore);
      } else if (tableRule.test(rest) || rule.test(rest)) {
        starts(rest.length);
        ends = true;
      } else if (underline.test(rest) && before && !afterBlank) {
        add(found, before.start, before.end, traits.heading);
        starts(rest.length);
        ends = true;
      } else if (heading.test(rest) && afterBlank) {
        starts(heading.exec(rest)![0].length);
        const closing = /[ \t]+#+[ \t]*$/u.exec(rest);
        if (closing) add(found, offset + closing.index, end, traits.silent);
        add(found, offset, end, traits.heading);
        ends = true;
      } else if (isRow) {
        starts(0);
        for (let place = offset; place < end; place++) {
          if (text[place] === "|" && text[place - 1] !== "\\") found[place]! |= traits.cell;
        }
        ends = true;
      } else if (bullet.test(rest)) starts(bullet.exec(rest)![0].length);
      else if (ordered.test(rest)) starts(0);
      if (ends) endBlock(end);
      afterBlank = ends;
      before = { start: offset, end };
    }
    start = end + 1;
  }
  if (open === undefined && text.length > paragraph) paragraphs.push({ start: paragraph, end: text.length });
  return paragraphs;
}

const attributes = `(?:\\s+[\\w:-]+=(?:"[^"\\n]{0,500}"|'[^'\\n]{0,500}'|[^\\s"'<>]{1,500}))*\\s*/?`;
const tagNames =
  "a abbr b big blockquote br center cite code dd del details dfn div dl dt em font h[1-6] hr i img ins kbd li mark ol p pre q s samp small span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var wbr"
    .split(" ")
    .join("|");
const parts = new RegExp(
  [
    `(?<escape>\\\\[!-/:-@[-\`{-~])`,
    "(?<hardBreak>\\\\(?=\\n)|(?<=\\s)\\\\(?= ))",
    "(?<ticks>`+)",
    "(?<comment><!--)",
    `(?<tag><(?<closing>/?)(?<name>${tagNames})${attributes}>)`,
    "(?<address><(?:[a-z][a-z0-9+.-]{1,20}:[^\\s<>]{1,500}|[^\\s<>@]{1,100}@[^\\s<>@]{1,100})>)",
    "(?<strike>~~)",
    "(?<open>!?\\[)",
    "(?<close>\\])",
    "(?<run>\\*{1,3}|_{1,3})",
    "(?<pipe>(?<=\\s)\\|(?=\\s))",
  ].join("|"),
  "giu",
);
const strikingTags = /^(?:del|s|strike)$/iu;
const target = /\(([^()\n]{0,500}(?:\([^()\n]{0,100}\)[^()\n]{0,100})?)\)|\[[^\][\n]{0,100}\]/uy;

/** A mark that waits for its partner. */
interface OpenMark extends Range {
  readonly mark: string;
}

/** Reads the marks within paragraphs, in one pass over all of them. */
function readInline(text: string, paragraphs: readonly Range[], found: Uint16Array, cut: boolean): void {
  const silence = ({ start, end }: Range) => add(found, start, end, traits.silent);
  const open: OpenMark[] = [];
  const brackets: Range[] = [];
  const ticksWithoutPartner = new Set<number>();
  let paragraph = 0;
  const endParagraph = () => {
    if (cut) for (const mark of [...open, ...brackets]) silence(mark);
    open.length = 0;
    brackets.length = 0;
    ticksWithoutPartner.clear();
    paragraph++;
  };
  parts.lastIndex = 0;
  for (let match = parts.exec(text); match; match = parts.exec(text)) {
    const groups = match.groups!;
    const start = match.index;
    while (paragraph < paragraphs.length && start >= paragraphs[paragraph]!.end) endParagraph();
    const to = paragraphs[paragraph]?.end;
    if (to === undefined) break;
    if (start < paragraphs[paragraph]!.start) continue;
    const end = start + match[0].length;
    const span = { start, end };
    if (found[start]! & traits.silent) continue;
    const resumeAt = (offset: number) => (parts.lastIndex = offset);
    const { ticks, tag, run } = groups;
    if (groups["escape"] !== undefined) add(found, start, start + 1, traits.silent);
    else if (groups["hardBreak"] !== undefined) {
      // In a quote its line break may have become a space.
      if (cut || text[end] === "\n") silence(span);
    } else if (ticks !== undefined) {
      const closing = ticksWithoutPartner.has(ticks.length) ? -1 : closingTicks(text, end, to, ticks.length);
      if (closing < 0) {
        ticksWithoutPartner.add(ticks.length);
        if (cut) silence(span);
        continue;
      }
      silence(span);
      add(found, end, closing, traits.code);
      // Writers of Markdown escape underscores in code too, though nothing asks for it.
      for (
        let position = text.indexOf("\\_", end);
        position >= 0 && position < closing;
        position = text.indexOf("\\_", position + 2)
      )
        silence({ start: position, end: position + 1 });
      silence({ start: closing, end: closing + ticks.length });
      resumeAt(closing + ticks.length);
    } else if (groups["comment"] !== undefined) {
      const closing = text.slice(end, Math.min(to, end + 2000)).indexOf("-->");
      if (closing < 0) continue;
      silence({ start, end: end + closing + 3 });
      resumeAt(end + closing + 3);
    } else if (tag !== undefined) {
      const name = groups["name"]!.toLowerCase();
      silence(span);
      if (name === "br") found[start]! |= traits.lineBreak;
      else if (name === "td" || name === "th") found[start]! |= traits.cell;
      else if (/^(?:p|div|li|tr|dd|dt|h\d|hr)$/u.test(name)) found[start]! |= traits.blockEnd;
      else if (name === "sup" && groups["closing"] === "" && /[-−+\d]/u.test(text[end] ?? "")) {
        found[start]! |= traits.raised;
      }
      if (!strikingTags.test(name)) continue;
      if (groups["closing"] === "") open.push({ ...span, mark: name });
      else closeStriking(name, span);
    } else if (groups["address"] !== undefined) {
      silence({ start, end: start + 1 });
      silence({ start: end - 1, end });
    } else if (groups["strike"] !== undefined) {
      if (!closeStriking("~~", span)) open.push({ ...span, mark: "~~" });
    } else if (groups["open"] !== undefined) brackets.push(span);
    else if (groups["close"] !== undefined) {
      const bracket = brackets.pop();
      target.lastIndex = end;
      const goal = target.exec(text);
      if (!goal || target.lastIndex > to) {
        if (cut && !bracket) silence(span);
        continue;
      }
      if (bracket) silence(bracket);
      silence({ start, end: target.lastIndex });
      if (goal[1] !== undefined) add(found, end + 1, target.lastIndex - 1, traits.target);
      resumeAt(target.lastIndex);
    } else if (run !== undefined) readRun(run, span);
    else if (cut) found[start]! |= traits.cell;
  }
  endParagraph();

  /** Takes the partner of a mark, and what was opened in between, from those that wait. */
  function partnerOf(mark: string): OpenMark | undefined {
    // Marks further back have lost their partner; looking at few keeps the time linear.
    const position = open.findLastIndex((opened, index) => opened.mark === mark || index < open.length - 8);
    const partner = open[position];
    if (partner?.mark !== mark) return undefined;
    open.length = position;
    return partner;
  }

  function closeStriking(mark: string, span: Range): boolean {
    const partner = partnerOf(mark);
    if (!partner) return false;
    silence(partner);
    silence(span);
    add(found, partner.end, span.start, traits.struck);
    return true;
  }

  function readRun(run: string, span: Range): void {
    const before = text[span.start - 1] ?? " ";
    const after = text[span.end] ?? " ";
    const inWord = isAlphanumeric(before) && isAlphanumeric(after);
    if (inWord && (run.length === 1 || run.startsWith("_") || /\d/u.test(before + after))) return;
    const closes = !/\s/u.test(before) && (run.length > 1 || !isAlphanumeric(after));
    const partner = closes ? partnerOf(run) : undefined;
    if (partner) {
      // The underscores of a name such as __init__ are its own.
      if (run === "__" && /^[a-z\d_]+$/u.test(text.slice(partner.end, span.start))) return;
      silence(partner);
      silence(span);
    } else if (!/\s/u.test(after) && (run.length > 1 || !isAlphanumeric(before))) open.push({ ...span, mark: run });
    else if (cut && closes) silence(span);
  }
}

function isAlphanumeric(unit: string): boolean {
  return /[\p{L}\p{N}\p{M}\ud800-\udfff]/u.test(unit);
}

/** Offset of the run of backticks that closes one of that length, or -1. */
function closingTicks(text: string, from: number, to: number, length: number): number {
  const runs = /`+/gu;
  runs.lastIndex = from;
  for (let match = runs.exec(text); match && match.index < to; match = runs.exec(text)) {
    if (match[0].length === length) return match.index;
  }
  return -1;
}
