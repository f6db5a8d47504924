import { z } from "zod";
import { resolve } from "../options.js";
import { mapStage, type Stage } from "../pipeline.js";
import type { ChatModel } from "../ports.js";
import { renderSourcedQuestion } from "../text/prompt.js";
import type { Question, QueryVariant } from "../types.js";
import { askOnce } from "./ask-once.js";
import { afterStep, questionStepTime, shortReplyTokens, withoutStep } from "./question-step.js";
import { objectIn, wording } from "./query-variants.js";

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
  const step = "multi-query";
  const system = `Rewrite the question in <question> as ${count} other search queries that would find passages which answer it: other words for the same, more general, more specific. Keep the language of the question. Do not answer it. Reply with a JSON object: {"queries": ["…"]}`;
  return mapStage(step, async (asked, context) => {
    const started = performance.now();
    const { question } = asked;
    const reply = await askOnce(
      model,
      {
        messages: [
          { role: "system", content: system },
          { role: "user", content: renderSourcedQuestion({ sources: [], question }) },
        ],
        maxTokens: Math.min(shortReplyTokens, model.maxOutputTokens),
        format: "json",
      },
      time,
      context,
    );
    if ("problem" in reply) return withoutStep(asked, { step, started, model, ...reply, usage: reply.usage }, context);
    const { usage } = reply;
    const seen = new Set([wording(question), ...(asked.variants ?? []).map(({ text }) => wording(text))]);
    const variants: QueryVariant[] = [];
    for (const query of objectIn(reply.text, Reply)?.queries ?? []) {
      const words = wording(query);
      if (words === "" || seen.has(words) || query.length > mostCharacters || variants.length === count) continue;
      seen.add(words);
      variants.push({ kind: "question", text: query.trim() });
    }
    if (variants.length === 0) {
      return withoutStep(asked, { step, started, model, usage, problem: "the reply has no other wording" }, context);
    }
    const note = `also asked: ${variants.map(({ text }) => JSON.stringify(text)).join(", ")}`;
    return afterStep(
      asked,
      { variants: [...(asked.variants ?? []), ...variants] },
      { step, started, model, usage, note },
    );
  });
}
