import { createHash } from "node:crypto";
import { eachTerm, terms } from "../../text/terms.js";

/**
 * Adds each of a chunk's words, words of its context (title and headings) with `contextWeight`. As whole numbers: in BM25
 * with weighted fields the frequencies are added before they saturate (Robertson, Zaragoza and Taylor, "Simple BM25
 * extension to multiple weighted fields", 2004).
 */
export function countWords(
  context: string,
  text: string,
  contextWeight: number,
  add: (word: string, weight: number) => void,
): void {
  eachTerm(text, (word) => add(word, 1));
  if (contextWeight > 0) eachTerm(context, (word) => add(word, contextWeight));
}

/** Differs when words are told apart differently than they were: by another version of us, or of Node's Unicode data. */
export function analyzerFingerprint(): string {
  const sample =
    "Running the café's HNSW-index v2.0 naïvely: 检索增强生成，不到 50 毫秒。 Ελληνικά, русский, 한국어, かな ﬁne";
  return createHash("sha256")
    .update(JSON.stringify(terms(sample)))
    .digest("hex")
    .slice(0, 16);
}
