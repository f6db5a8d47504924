import { createHash } from "node:crypto";
import { terms } from "../../text/terms.js";

/** Differs when words are told apart differently than they were: by another version of us, or of Node's Unicode data. */
export function analyzerFingerprint(): string {
  const sample =
    "Running the café's HNSW-index v2.0 naïvely: 检索增强生成，不到 50 毫秒。 Ελληνικά, русский, 한국어, かな ﬁne";
  return createHash("sha256")
    .update(JSON.stringify(terms(sample)))
    .digest("hex")
    .slice(0, 16);
}
