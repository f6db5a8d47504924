import { z } from "zod";
import { resolve } from "../options.js";
import { mapStage, type Stage } from "../pipeline.js";
import type { ChatModel } from "../ports.js";
import type { Question, QueryVariant } from "../types.js";
import { objectIn, wording } from "./query-variants.js";
import { jsonRequest, type Made, questionStep, questionStepTime } from "./question-step.js";

export const MultiQueryOptions = z.strictObject({
  /** Most other wordings, 1 to 8. Default: 3. */
  count: z.int().min(1).max(8).default(3),
  ...questionStepTime,
});
export type MultiQueryOptions = z.input<typeof MultiQueryOptions>;

const Reply = z.object({ queries: z.array(z.string()) });

const mostCharacters = 1000;

/**
 * Has a model put the question in other words, for passages that say the same in words the asker did not think of. Each
 * wording is searched for beside the question, which is always among them, and all ranks are fused; all wordings together
 * weigh as much as the question alone. When the model fails, is out of time or has nothing else to say, the question goes
 * on alone, and the trace says so.
 */
export function multiQuery(model: ChatModel, options: MultiQueryOptions = {}): Stage<Question, Question> {
  const { count, ...time } = resolve("multiQuery", MultiQueryOptions, options);
  const system = `Rewrite the question in <question> as ${count} other search queries that would find passages which answer it: other words for the same, more general, more specific. Keep the language of the question. Do not answer it. Reply with a JSON object: {"queries": ["…"]}`;
  return mapStage("multi-query", (asked, context) => {
    const read = (reply: string): Made => {
      const before = asked.variants ?? [];
      const seen = new Set([wording(asked.question), ...before.map(({ text }) => wording(text))]);
      const variants: QueryVariant[] = [];
      for (const query of objectIn(reply, Reply)?.queries ?? []) {
        const words = wording(query);
        if (words === "" || seen.has(words) || query.length > mostCharacters || variants.length === count) continue;
        seen.add(words);
        variants.push({ kind: "question", text: query.trim() });
      }
      if (variants.length === 0) return { problem: "the reply has no other wording" };
      const note = `also asked: ${variants.map(({ text }) => JSON.stringify(text)).join(", ")}`;
      return { changes: { variants: [...before, ...variants] }, note };
    };
    const request = jsonRequest(system, asked.question);
    return questionStep(asked, { step: "multi-query", model, time, request, read }, context);
  });
}
