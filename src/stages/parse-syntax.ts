import { mapStage, type Stage } from "../pipeline.js";
import { parseQuery } from "../text/query-syntax.js";
import type { Question } from "../types.js";

/**
 * Reads `"exact phrase"`, `-word` and `-"phrase"` in a question: from here on `question` holds the plain words, for
 * embedding, searching and reranking, and `search()` gives only hits that meet the signs. Leave it out where questions
 * are sentences, which quote and use dashes for other reasons.
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
