export type BlockKind =
  | "front-matter"
  | "heading"
  | "paragraph"
  /** One item of a list, with what is indented below it up to a blank line. */
  | "item"
  | "fence"
  /** Of a source file: what stands between blank lines that no indented line follows. */
  | "code"
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
