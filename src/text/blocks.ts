import type { Anchor, Document } from "../types.js";
import type { Block } from "./block.js";
import { beginsCode } from "./code-lines.js";
import { markdownBlocks } from "./markdown-blocks.js";
import { isBlank, lineEnd } from "./lines.js";

/** In UTF-16 code units. */
const longestTitle = 400;

type Sectioned = Pick<Document, "text" | "mediaType" | "anchors">;

/** The blocks of a document, which together are its whole text. */
export function blocks(document: Sectioned): Block[] {
  const steps = blocksInSteps(document);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** As `blocks`, with `undefined` now and then while a long Markdown text is read, so that the caller can let others work. */
export function* blocksInSteps({ text, mediaType, anchors = [] }: Sectioned): Generator<undefined, Block[]> {
  if (mediaType === "text/markdown") return yield* markdownBlocks(text);
  return mediaType?.startsWith("text/x-") ? codeBlocks(text) : withHeadings(paragraphs(text), text, anchors);
}

/** Paragraphs that start at the anchor of a heading as headings. */
function withHeadings(found: readonly Block[], text: string, anchors: readonly Anchor[]): Block[] {
  const levels = new Map(anchors.flatMap(({ start, heading }) => (heading === undefined ? [] : [[start, heading]])));
  if (levels.size === 0) return [...found];
  return found.map((block): Block => {
    const level = levels.get(block.start);
    if (level === undefined) return block;
    // Not at any length: an anchor may be set where no heading is.
    const title = text
      .slice(block.start, Math.min(block.end, block.start + longestTitle))
      .replace(/\s+/gu, " ")
      .trim();
    return { ...block, kind: "heading", level, title };
  });
}

/** Parts of a plain text between blank lines. */
function paragraphs(text: string): Block[] {
  const found: Block[] = [];
  let start = 0;
  let written = false;
  let behindBlank = false;
  for (let at = 0; at < text.length;) {
    const end = lineEnd(text, at);
    const blank = isBlank(text, at, end);
    if (!blank && behindBlank && written) {
      found.push({ kind: "paragraph", start, end: at });
      start = at;
    }
    written ||= !blank;
    behindBlank = blank;
    at = end;
  }
  if (text.length > 0) found.push({ kind: "paragraph", start, end: text.length });
  return found;
}

/** Parts of source code that begin behind a blank line and without indentation: functions, classes, groups of statements. */
function codeBlocks(text: string): Block[] {
  const found: Block[] = [];
  let start = 0;
  let written = false;
  for (let at = 0; at < text.length;) {
    const end = lineEnd(text, at);
    const blank = isBlank(text, at, end);
    if (!blank && written && beginsCode(text, at)) {
      found.push({ kind: "code", start, end: at });
      start = at;
    }
    written ||= !blank;
    at = end;
  }
  if (text.length > 0) found.push({ kind: "code", start, end: text.length });
  return found;
}
