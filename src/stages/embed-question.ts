import { AnswerError, TransportError } from "../errors.js";
import { mapStage, type RunContext, type Stage } from "../pipeline.js";
import type { Embedder } from "../ports.js";
import type { Embedded, FailedAttempt, ModelRequest, Question } from "../types.js";
import { modelRequest } from "./model-request.js";
import { remainingTime } from "./remaining-time.js";

/**
 * Gives a question, and its variants, the vectors to search with.
 *
 * @throws AnswerError (`question-too-long`) when it has more tokens than the embedder takes; nothing is sent then.
 */
export function embedQuestion<Space extends string>(
  embedder: Embedder<Space>,
): Stage<Question, Embedded<Question, Space>> {
  const { space, dimension, maxInputTokens } = embedder;
  return mapStage(
    "embed-question",
    async (asked, context) => {
      context.signal.throwIfAborted();
      const tokens = embedder.tokens.count(asked.question);
      if (tokens > maxInputTokens) {
        throw new AnswerError(
          "question-too-long",
          `The question has ${tokens} tokens, and ${space} takes ${maxInputTokens}: shorten it`,
        );
      }
      const requests: ModelRequest[] = [...(asked.requests ?? [])];
      // Made up by a model: one that is too long is no loss.
      const variants = (asked.variants ?? []).filter(({ text }) => embedder.tokens.count(text) <= maxInputTokens);
      const wordings = variants.filter(({ kind }) => kind === "question");
      const passages = variants.filter(({ kind }) => kind === "passage");
      const [[vector, ...ofWordings], ofPassages] = await Promise.all([
        embed([asked.question, ...wordings.map(({ text }) => text)], "query", requests, context),
        embed(
          passages.map(({ text }) => text),
          "document",
          requests,
          context,
        ),
      ]);
      const embedded = [
        ...wordings.map((variant, index) => ({ ...variant, vector: ofWordings[index]! })),
        ...passages.map((variant, index) => ({ ...variant, vector: ofPassages[index]! })),
      ];
      return { ...asked, ...(embedded.length > 0 && { variants: embedded }), requests, vector: vector!, space };
    },
    { gives: dimension === undefined ? { space } : { space, dimension } },
  );

  async function embed(
    texts: readonly string[],
    purpose: "query" | "document",
    requests: ModelRequest[],
    context: RunContext,
  ) {
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += embedder.maxBatchTexts) {
      const batch = texts.slice(from, from + embedder.maxBatchTexts);
      const started = performance.now();
      const failedAttempts: FailedAttempt[] = [];
      const reply = await embedder.embed(batch, {
        ...remainingTime(context),
        purpose,
        signal: context.signal,
        onFailedAttempt: (attempt) => failedAttempts.push(attempt),
      });
      if (reply.vectors.length !== batch.length) {
        throw new TransportError(
          "reply",
          `Sent ${batch.length} texts of a question to ${space}, got ${reply.vectors.length} vectors`,
        );
      }
      context.report({ type: "progress", what: "tokens", count: reply.tokens });
      context.report({ type: "progress", what: "requests", count: 1 });
      const usage = { inputTokens: reply.tokens, outputTokens: 0 };
      const by = { model: space, ...(embedder.price && { price: embedder.price }) };
      requests.push(modelRequest({ step: "embed-question", by, usage, started, failedAttempts }));
      vectors.push(...reply.vectors);
    }
    return vectors;
  }
}
