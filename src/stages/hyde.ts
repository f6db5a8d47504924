import { z } from "zod";
import { resolve } from "../options.js";
import { mapStage, type Stage } from "../pipeline.js";
import type { ChatModel } from "../ports.js";
import { shorten } from "../text/cut-text.js";
import type { Question } from "../types.js";
import { objectIn } from "./query-variants.js";
import { jsonRequest, type Made, questionStep, questionStepTime } from "./question-step.js";

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
  return mapStage("hyde", (asked, context) => {
    const read = (reply: string): Made => {
      const passage = objectIn(reply, Reply)?.passage.trim() ?? "";
      if (passage === "") return { problem: "the reply holds no passage" };
      const text = shorten(passage, mostCharacters);
      return {
        changes: { variants: [...(asked.variants ?? []), { kind: "passage", text }] },
        note: `also looked for passages like: ${JSON.stringify(shorten(text, 300))}`,
      };
    };
    const request = jsonRequest(system, asked.question);
    return questionStep(asked, { step: "hyde", model, time, request, read }, context);
  });
}
