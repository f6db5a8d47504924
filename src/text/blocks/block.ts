export type BlockKind =
  | "front-matter"
  | "heading"
  | "paragraph"
  /** One list item with the indented lines below it, up to a blank line. */
  | "item"
  | "fence"
  /** A part of a source file: lines between blank lines after which no indented line comes. */
  | "code"
  | "table"
  | "html";

/** A part of a document that is best kept whole. Blocks touch: each ends where the next starts, blank lines included. */
export interface Block {
  readonly kind: BlockKind;
  readonly start: number;
  readonly end: number;
  /** Level of a heading, 1 to 6. */
  readonly level?: number;
  /** The words of a heading, or the header row of a table. */
  readonly title?: string;
}
