import { mapStage, type Stage } from "../../core/pipeline.js";
import { parseQuery } from "../../text/words/query-syntax.js";
import type { Question } from "../../core/types.js";

/**
 * Reads `"exact phrase"`, `-word` and `-"phrase"` in a question. From here on `question` holds the plain words, for
 * embedding, searching and reranking, and `search()` returns only hits that meet the conditions. Leave it out where
 * questions are sentences, which use quotes and dashes for other reasons.
 */
export function parseSyntax(): Stage<Question, Question> {
  return mapStage("parse-syntax", (asked) => {
    const { plain, phrases, not } = parseQuery(asked.question);
    return {
      ...asked,
      question: plain,
      ...(phrases.length > 0 && { phrases: [...(asked.phrases ?? []), ...phrases] }),
      ...(not.length > 0 && { not: [...(asked.not ?? []), ...not] }),
    };
  });
}
