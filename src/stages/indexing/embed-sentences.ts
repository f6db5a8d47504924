import type { RunContext } from "../../core/pipeline.js";
import type { Budget, Embedder } from "../../core/ports.js";
import { batch, collect } from "../../core/stream.js";
import { vectorKey } from "../../text/chunking/chunk-identity.js";
import type { EmbedTexts } from "../../text/chunking/semantic-cuts.js";
import { embedTexts } from "../calls/embed-texts.js";
import { RefusalIsolator } from "./batches/refusal-isolator.js";

/** How many recent sentences a run remembers the vectors of: headers and phrases that recur in many documents. */
const maxRemembered = 2048;

interface Sentence {
  readonly text: string;
  readonly tokens: number;
  vector?: Float32Array;
}

/**
 * Embeds sentences that are only compared with each other, one batch at a time: a long document has more of them than
 * should be in flight at once. They are paid for like chunks, from `budget`, and reported as `requests` and
 * `tokens`. Equal sentences of a document are sent once, and those of recent documents not again. A sentence that the
 * service refuses gets a zero vector, similar to nothing.
 */
export function sentenceEmbedding(
  embedder: Embedder,
  context: Pick<RunContext, "signal" | "deadlineAt" | "report">,
  budget?: Budget,
): EmbedTexts {
  const send = async (sentences: readonly Sentence[]) => {
    const texts = sentences.map(({ text }) => text);
    const countedTokens = sentences.reduce((sum, { tokens }) => sum + tokens, 0);
    const { vectors } = await embedTexts(embedder, texts, { purpose: "document", countedTokens }, context, budget);
    for (const [index, sentence] of sentences.entries()) sentence.vector = vectors[index]!;
  };
  const isolator = new RefusalIsolator(send, { maxItems: embedder.maxBatchTexts });
  const limits = {
    count: embedder.maxBatchTexts,
    weight: embedder.maxBatchTokens ?? Infinity,
    weigh: ({ tokens }: Sentence) => tokens,
  };
  const remembered = new Map<string, Float32Array>();
  const remember = (key: string, vector: Float32Array) => {
    // Moves the key to the end of the map, so that the sentences that recur are dropped last.
    remembered.delete(key);
    remembered.set(key, vector);
    if (remembered.size > maxRemembered) remembered.delete(remembered.keys().next().value!);
  };
  return async (texts) => {
    const keys = texts.map((text) => vectorKey({ context: "", text }));
    const sentences = new Map<string, Sentence>();
    for (const [index, text] of texts.entries()) {
      const key = keys[index]!;
      if (sentences.has(key)) continue;
      const vector = remembered.get(key);
      sentences.set(key, vector ? { text, tokens: 0, vector } : { text, tokens: embedder.tokens.count(text) });
    }
    const unknown = [...sentences.values()].filter(({ vector }) => !vector);
    for (const group of await collect(batch(unknown, limits))) await isolator.send(group);
    for (const [key, { vector }] of sentences) if (vector) remember(key, vector);
    const length = [...sentences.values()].find(({ vector }) => vector)?.vector?.length ?? 1;
    return keys.map((key) => sentences.get(key)!.vector ?? new Float32Array(length));
  };
}
