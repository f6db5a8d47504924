import { parentPort } from "node:worker_threads";
import { split } from "../../text/split.js";
import { defaultTokens } from "../../text/tokens.js";
import { sent } from "../../thread/sent-error.js";
import { serveCalls } from "../../thread/serve-calls.js";
import type { Chunk } from "../../types.js";
import { packed } from "./packed-chunks.js";
import type { SentDocument, SplitCalls, SplitDocument, SplitSettings } from "./split-calls.js";

// The splitting thread: texts in, spans out. It is stopped from outside, at any time.

serveCalls<SplitCalls>(parentPort!, {
  split: ({ documents, settings }) => documents.map((document) => splitDocument(document, settings)),
});

// Loads the vocabulary, for which the first texts would have to wait.
defaultTokens.count("");

function splitDocument(document: SentDocument, { strategy, ...options }: SplitSettings): SplitDocument {
  const chunks: Chunk[] = [];
  try {
    for (const chunk of split(document, { ...options, tokens: defaultTokens }, strategy)) chunks.push(chunk);
    return { chunks: packed(chunks) };
  } catch (error) {
    return { chunks: packed(chunks), error: sent(error) };
  }
}
