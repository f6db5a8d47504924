import { sentences } from "../../text/sentences.js";
import type { ReadSource } from "./reading.js";

/** The smallest part of a source that answers by itself: a sentence, a list item, a table row, a line of code. */
export interface Statement {
  /** As it stands in the source. */
  readonly text: string;
  readonly kind: "prose" | "row" | "code" | "heading";
  /** Number of its source. */
  readonly source: number;
  /** Title and headings above it, and for a row the row of column names. */
  readonly context: string;
  /** Statements of one source are numbered in its order. */
  readonly order: number;
}

/** A source as statements, in its order. */
export function statements({ number, title, text }: ReadSource): readonly Statement[] {
  const found: Statement[] = [];
  const headings: string[] = [];
  let header = "";
  const add = (kind: Statement["kind"], statement: string) => {
    const above = [title, ...headings, kind === "row" ? header : ""].filter((part) => part !== "").join("\n");
    found.push({ kind, text: statement, source: number, context: above, order: found.length });
  };
  for (const block of blocks(text)) {
    if (block.kind === "code") {
      for (const line of block.text.split(/(?<!\\)\n/)) if (line.trim() !== "") add("code", line.trim());
      continue;
    }
    for (const statement of rowsAndSentences(block.text)) {
      const level = /^(#{1,6})[ \t]/.exec(statement)?.[1]?.length;
      if (level !== undefined) {
        headings.length = Math.min(headings.length, level - 1);
        while (headings.length < level - 1) headings.push("");
        headings.push(plainText(statement));
        add("heading", statement);
      } else if (!statement.startsWith("|")) {
        header = "";
        if (/[\p{L}\p{N}]/u.test(statement)) add("prose", statement);
      } else if (/[\p{L}\p{N}]/u.test(statement)) {
        if (header === "") header = statement;
        else add("row", statement);
      }
    }
  }
  return found;
}

/** Rows of tables, each whole, and the sentences between them. */
function rowsAndSentences(text: string): readonly string[] {
  return text
    .split(/^([ \t]*\|.*)$/m)
    .flatMap((part, index) =>
      index % 2 === 1 ? [part.trim()] : sentences(part).map(({ start, end }) => part.slice(start, end)),
    );
}

/** Fenced code and what is around it. An unclosed fence goes on to the end. */
function blocks(text: string): readonly { readonly kind: "prose" | "code"; readonly text: string }[] {
  const parts = text.split(/^[ \t>]*(?:`{3}|~{3}).*$/m);
  return parts.map((part, index) => ({ kind: index % 2 === 0 ? ("prose" as const) : ("code" as const), text: part }));
}

/** Markdown's signs taken off: list marks, heading signs, emphasis, link targets; white space to single spaces. */
export function plainText(text: string): string {
  return text
    .replace(/^[ \t>]*(?:#{1,6}|[-*+•]|\d{1,3}[.)])[ \t]+/gm, "")
    .replace(/!?\[([^\][]*)\](?:\([^()]*\)|\[[^\][]*\])/g, "$1")
    .replace(/(\*\*|__)(?=\S)([\s\S]*?\S)\1/g, "$2")
    .replace(/\s+/g, " ")
    .trim();
}
