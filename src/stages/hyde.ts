import { z } from "zod";
import { resolve } from "../options.js";
import { mapStage, type Stage } from "../pipeline.js";
import type { ChatModel } from "../ports.js";
import { shorten } from "../text/cut-text.js";
import { renderSourcedQuestion } from "../text/prompt.js";
import type { Question } from "../types.js";
import { askOnce } from "./ask-once.js";
import { afterStep, questionStepTime, shortReplyTokens, withoutStep } from "./question-step.js";
import { objectIn } from "./query-variants.js";

export const HydeOptions = z.strictObject({ ...questionStepTime });
export type HydeOptions = z.input<typeof HydeOptions>;

const Reply = z.object({ passage: z.string() });

const mostCharacters = 2000;

const system = `Write a short passage, of two to four sentences, as it could stand in a document that answers the question in <question>. It is used to find real passages like it and is never shown: it may be wrong, but it must be specific. Write in the language of the question. Reply with a JSON object: {"passage": "…"}`;

/**
 * Has a model make up a passage that could answer the question; passages near it in the vector space are found beside
 * those near the question. For dense and hybrid searches: by words it is not searched for. When the model fails, is out of
 * time or makes nothing up, the question goes on alone, and the trace says so. After Gao, Ma, Lin and Callan, "Precise
 * Zero-Shot Dense Retrieval without Relevance Labels", ACL 2023, with ranks fused in place of vectors averaged.
 */
export function hyde(model: ChatModel, options: HydeOptions = {}): Stage<Question, Question> {
  const time = resolve("hyde", HydeOptions, options);
  const step = "hyde";
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
    const passage = objectIn(reply.text, Reply)?.passage.trim() ?? "";
    if (passage === "") {
      return withoutStep(asked, { step, started, model, usage, problem: "the reply holds no passage" }, context);
    }
    const text = shorten(passage, mostCharacters);
    return afterStep(
      asked,
      { variants: [...(asked.variants ?? []), { kind: "passage", text }] },
      { step, started, model, usage, note: `also looked for passages like: ${JSON.stringify(shorten(text, 300))}` },
    );
  });
}
