import { checkPort } from "../../core/check-port.js";
import { AnswerError, TransportError } from "../../core/errors.js";
import { mapStage, type RunContext, type Stage } from "../../core/pipeline.js";
import type { Embedder } from "../../core/ports.js";
import type { Embedded, FailedAttempt, ModelRequest, Question } from "../../core/types.js";
import { embedTexts } from "../calls/embed-texts.js";
import { inputUsage, modelRequest } from "../calls/model-request.js";

/**
 * Embeds a question and its variants, to search with the vectors.
 *
 * @throws AnswerError (`question-too-long`) when it has more tokens than the embedder takes; nothing is sent then.
 * @example
 * ```ts
 * import { collect, embedQuestion, Pipeline, type Embedder, type Question } from "citewell";
 * export const embedded = (embedder: Embedder, question: string) =>
 *   collect(Pipeline.from<Question>().pipe(embedQuestion(embedder)).stream([{ question }]));
 * ```
 */
export function embedQuestion<Space extends string>(
  embedder: Embedder<Space>,
): Stage<Question, Embedded<Question, Space>> {
  checkPort("embedQuestion", "embedder", embedder);
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
      // Models made the variants up, so leaving out one that is too long loses nothing.
      const variants = (asked.variants ?? []).filter(({ text }) => embedder.tokens.count(text) <= maxInputTokens);
      const wordings = variants.filter(({ kind }) => kind === "question");
      const passages = variants.filter(({ kind }) => kind === "passage");
      const texts = (group: typeof variants) => group.map(({ text }) => text);
      const [[vector, ...ofWordings], ofPassages] = await Promise.all([
        embed([asked.question, ...texts(wordings)], "query", requests, context),
        embed(texts(passages), "document", requests, context),
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
    const by = { model: space, ...(embedder.price && { price: embedder.price }) };
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += embedder.maxBatchTexts) {
      const started = performance.now();
      const failedAttempts: FailedAttempt[] = [];
      const onFailedAttempt = (attempt: FailedAttempt) => void failedAttempts.push(attempt);
      const batch = texts.slice(from, from + embedder.maxBatchTexts);
      const reply = await embedTexts(embedder, batch, { purpose, onFailedAttempt }, context);
      const broken = reply.vectors.findIndex((vector) => !vector.every(Number.isFinite));
      if (broken >= 0) {
        const message = `${space} returned a vector with a number that is not finite for ${JSON.stringify(batch[broken])}`;
        throw new TransportError("reply", message);
      }
      const usage = inputUsage(reply.tokens);
      requests.push(modelRequest({ step: "embed-question", by, answered: true, usage, started, failedAttempts }));
      vectors.push(...reply.vectors);
    }
    return vectors;
  }
}
