import { TransportError } from "../errors.js";
import type { RunContext } from "../pipeline.js";
import type { Embedder } from "../ports.js";
import { batch, collect } from "../stream.js";
import { vectorKey } from "../text/chunk-identity.js";
import type { EmbedTexts } from "../text/semantic-cuts.js";
import { RefusalIsolator } from "./refused-texts.js";
import { remainingTime } from "./remaining-time.js";
import { withEmbed } from "./with-embed.js";

/** Vectors of the latest sentences that a run remembers: headers and phrases that document after document repeats. */
const mostRemembered = 2048;

interface Sentence {
  readonly text: string;
  readonly tokens: number;
  vector?: Float32Array;
}

/**
 * Embeds sentences that are only to be compared, a batch after the other: a long document has more of them than should be
 * on their way at once. They are paid for like chunks: from the run's budget, and reported as `requests` and `tokens`.
 * Equal sentences of a document are sent once, and those that stood in a document shortly before not again. A sentence that
 * the service refuses is like no other.
 */
export function sentenceEmbedding(
  embedder: Embedder,
  context: Pick<RunContext, "signal" | "deadlineAt" | "report" | "budget">,
): EmbedTexts {
  const { signal, report, budget } = context;
  const send = async (sentences: readonly Sentence[]) => {
    const texts = sentences.map(({ text }) => text);
    const countedTokens = sentences.reduce((sum, { tokens }) => sum + tokens, 0);
    const call = () => {
      signal.throwIfAborted();
      report({ type: "progress", what: "requests", count: 1 });
      return embedder.embed(texts, { ...remainingTime(context), purpose: "document", signal, countedTokens });
    };
    const { vectors, tokens } = await (budget ? budget.spend(countedTokens, call) : call());
    if (vectors.length !== texts.length) {
      throw new TransportError(
        "reply",
        `Sent ${texts.length} texts to ${embedder.space}, got ${vectors.length} vectors`,
      );
    }
    report({ type: "progress", what: "tokens", count: tokens });
    for (const [at, sentence] of sentences.entries()) sentence.vector = vectors[at]!;
  };
  const pending = (text: string): Sentence => ({ text, tokens: embedder.tokens.count(text) });
  const isolator = new RefusalIsolator(send, { mostItems: embedder.maxBatchTexts });
  const limits = {
    count: embedder.maxBatchTexts,
    weight: embedder.maxBatchTokens ?? Infinity,
    weigh: ({ tokens }: Sentence) => tokens,
  };
  const remembered = new Map<string, Float32Array>();
  const remember = (key: string, vector: Float32Array) => {
    // Behind all others, so that what is still met is not the next to go.
    remembered.delete(key);
    remembered.set(key, vector);
    if (remembered.size > mostRemembered) remembered.delete(remembered.keys().next().value!);
  };
  return async (texts) => {
    const keys = texts.map((text) => vectorKey({ context: "", text }));
    const sentences = new Map<string, Sentence>();
    for (const [at, text] of texts.entries()) {
      const key = keys[at]!;
      const vector = remembered.get(key);
      if (!sentences.has(key)) sentences.set(key, vector ? { text, tokens: 0, vector } : pending(text));
    }
    const unknown = [...sentences.values()].filter(({ vector }) => !vector);
    for (const group of await collect(batch(unknown, limits))) await isolator.send(group);
    for (const [key, { vector }] of sentences) if (vector) remember(key, vector);
    const length = [...sentences.values()].find(({ vector }) => vector)?.vector?.length ?? 1;
    return keys.map((key) => sentences.get(key)!.vector ?? new Float32Array(length));
  };
}

/** In place of an embedder where nothing is to be sent: every text has as many tokens as we count, and is like no other. */
export function dryEmbedder<Space extends string>(embedder: Embedder<Space>): Embedder<Space> {
  return withEmbed(embedder, async (texts, { countedTokens } = {}) => ({
    vectors: texts.map(() => new Float32Array(1)),
    tokens: countedTokens ?? texts.reduce((sum, text) => sum + embedder.tokens.count(text), 0),
  }));
}
