import { OptionsError } from "../../core/errors.js";
import { mapStage, type Stage } from "../../core/pipeline.js";
import { parseQuery } from "../../text/words/query-syntax.js";
import type { Question } from "../../core/types.js";

/**
 * Reads `"exact phrase"`, `-word` and `-"phrase"` in a question. From here on `question` holds the plain words, for
 * embedding, searching and reranking, and `search()` returns only hits that meet the conditions. Leave it out where
 * questions are sentences, which use quotes and dashes for other reasons.
 *
 * A question that only excludes leaves nothing to rank documents by: running it throws an `OptionsError`.
 *
 * @example
 * ```ts
 * import { parseSyntax, Pipeline, search, type Question, type Store } from "citewell";
 * export const searching = (store: Store) =>
 *   Pipeline.from<Question>().pipe(parseSyntax()).pipe(search(store, { mode: "lexical" }));
 * ```
 */
export function parseSyntax(): Stage<Question, Question> {
  return mapStage("parse-syntax", (asked) => {
    const { plain, phrases, not } = parseQuery(asked.question);
    if (plain === "" && not.length > 0) {
      const message = `${JSON.stringify(asked.question)} only excludes. Add a word to look for; to look for ${not[0]} itself, put it in quotes`;
      throw new OptionsError("options", message, { call: "search", option: "question" });
    }
    return {
      ...asked,
      question: plain,
      ...(phrases.length > 0 && { phrases: [...(asked.phrases ?? []), ...phrases] }),
      ...(not.length > 0 && { not: [...(asked.not ?? []), ...not] }),
    };
  });
}
