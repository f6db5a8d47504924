import type { Anchor, Document } from "../../core/types.js";
import type { Block } from "./block.js";
import { cutCost, isBlank, lineEnd } from "./lines.js";
import { markdownBlocks } from "./markdown-blocks.js";

/** In UTF-16 code units. */
const maxTitleLength = 400;

type WithBlocks = Pick<Document, "text" | "mediaType" | "anchors">;

/** The blocks of a document, which together are its whole text. */
export function blocks(document: WithBlocks): Block[] {
  const steps = blocksInSteps(document);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** Like `blocks`, but yields `undefined` now and then while it reads a long Markdown text, so that other work can run. */
export function* blocksInSteps({ text, mediaType, anchors = [] }: WithBlocks): Generator<undefined, Block[]> {
  if (mediaType === "text/markdown") return yield* markdownBlocks(text);
  // A line that is not indented and stands after a blank one begins a function, a class or a group of statements.
  if (mediaType?.startsWith("text/x-")) return partsOf(text, "code", (index) => cutCost(text, index) === 0);
  const paragraphs = partsOf(text, "paragraph", (_, afterBlank) => afterBlank);
  return withHeadings(paragraphs, text, anchors);
}

/** Turns paragraphs that start at the anchor of a heading into headings. */
function withHeadings(paragraphs: Block[], text: string, anchors: readonly Anchor[]): Block[] {
  const levels = new Map(anchors.flatMap(({ start, heading }) => (heading === undefined ? [] : [[start, heading]])));
  return paragraphs.map((block): Block => {
    const level = levels.get(block.start);
    if (level === undefined) return block;
    // An anchor may be set without a heading, so the length of the title is limited.
    const title = text
      .slice(block.start, Math.min(block.end, block.start + maxTitleLength))
      .replace(/\s+/gu, " ")
      .trim();
    return { ...block, kind: "heading", level, title };
  });
}

/** Cuts a text before each line that is not blank and `begins` a part. */
function partsOf(
  text: string,
  kind: "paragraph" | "code",
  begins: (lineStart: number, afterBlank: boolean) => boolean,
): Block[] {
  const parts: Block[] = [];
  let start = 0;
  let hasText = false;
  let afterBlank = false;
  for (let offset = 0; offset < text.length;) {
    const end = lineEnd(text, offset);
    const blank = isBlank(text, offset, end);
    if (!blank && hasText && begins(offset, afterBlank)) {
      parts.push({ kind, start, end: offset });
      start = offset;
    }
    hasText ||= !blank;
    afterBlank = blank;
    offset = end;
  }
  if (text.length > 0) parts.push({ kind, start, end: text.length });
  return parts;
}
