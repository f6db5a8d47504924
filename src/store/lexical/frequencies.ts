import { createHash } from "node:crypto";
import { terms } from "../../text/terms.js";

/**
 * How often a chunk's words occur, words of its context (title and headings) counted `contextWeight` times over. As
 * whole numbers: in BM25 with weighted fields the frequencies are added before they saturate (Robertson, Zaragoza and
 * Taylor, "Simple BM25 extension to multiple weighted fields", 2004).
 */
export function frequencies(context: string, text: string, contextWeight: number): Map<string, number> {
  const counted = new Map<string, number>();
  const add = (words: readonly string[], weight: number) => {
    for (const word of words) counted.set(word, (counted.get(word) ?? 0) + weight);
  };
  add(terms(text), 1);
  if (contextWeight > 0) add(terms(context), contextWeight);
  return counted;
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
