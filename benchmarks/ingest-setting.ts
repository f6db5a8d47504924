import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Document } from "citewell";

// Settings that are the same for all libraries in the comparison.
export const concurrency = 8;
export const batchTexts = 32;
export const maxTokens = 256;
export const overlapTokens = 32;

/** All Markdown files in a folder and its subfolders. */
export function markdownIn(folder: string): Document[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => ({ uri: name, text: readFileSync(join(folder, name), "utf8"), mediaType: "text/markdown" }));
}
