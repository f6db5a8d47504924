import type { Document } from "../types.js";
import { markdownBlocks } from "./markdown-blocks.js";
import { isBlank, lineEnd } from "./lines.js";

export type BlockKind =
  | "front-matter"
  | "heading"
  | "paragraph"
  /** One item of a list, with what is indented below it up to a blank line. */
  | "item"
  | "fence"
  | "table"
  | "html";

/** A part of a document that is best left whole. Blocks touch: each ends where the next starts, blank lines included. */
export interface Block {
  readonly kind: BlockKind;
  readonly start: number;
  readonly end: number;
  /** 1 to 6. Of headings alone. */
  readonly level?: number;
  /** The heading's words; of a table, its header row. */
  readonly title?: string;
}

/** The blocks of a document, which together are its whole text. */
export function blocks({ text, mediaType }: Pick<Document, "text" | "mediaType">): Block[] {
  return mediaType === "text/markdown" ? markdownBlocks(text) : paragraphs(text);
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
