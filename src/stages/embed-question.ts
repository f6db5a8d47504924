import { AnswerError, TransportError } from "../errors.js";
import { mapStage, type Stage } from "../pipeline.js";
import type { Embedder } from "../ports.js";
import type { Embedded, Question } from "../types.js";
import { remainingTime } from "./remaining-time.js";

/**
 * Gives a question the vector to search with.
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
      const { vectors, tokens: counted } = await embedder.embed([asked.question], {
        ...remainingTime(context),
        purpose: "query",
        signal: context.signal,
      });
      const [vector] = vectors;
      if (!vector) throw new TransportError("reply", `Sent a question to ${space}, got no vector`);
      context.report({ type: "progress", what: "tokens", count: counted });
      context.report({ type: "progress", what: "requests", count: 1 });
      return { ...asked, vector, space };
    },
    { gives: dimension === undefined ? { space } : { space, dimension } },
  );
}
