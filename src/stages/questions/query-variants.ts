import { checkPort } from "../../core/check-port.js";
import { z } from "zod";
import { jsonSchemaOf } from "../../core/json.js";
import { optionsOf, resolve } from "../../core/options.js";
import { mapStage, type Stage } from "../../core/pipeline.js";
import type { ChatModel } from "../../core/ports.js";
import type { Question, QueryVariant } from "../../core/types.js";
import { shorten } from "../../text/blocks/cut-text.js";
import { renderSourcedQuestion } from "../../text/prompt/prompt.js";
import { objectIn } from "../../text/prompt/structured-reply.js";
import { questionStep, questionStepTime, type QuestionStepTime, type StepResult } from "./question-step.js";

export interface MultiQueryOptions extends QuestionStepTime {
  /** Maximum number of other wordings, 1 to 8. Default: 3. */
  readonly count?: number;
}

export const multiQueryOptions = optionsOf<MultiQueryOptions>()({
  count: z.int().min(1).max(8).default(3),
  ...questionStepTime,
});

export type HydeOptions = QuestionStepTime;

export const hydeOptions = optionsOf<HydeOptions>()(questionStepTime);

const WordingsReply = z.object({ queries: z.array(z.string()) });
const PassageReply = z.object({ passage: z.string() });

const maxWordingCharacters = 1000;
const maxPassageCharacters = 2000;

/**
 * Has a model rephrase the question, to find passages that say the same in words the asker did not think of. The
 * question itself is always searched for too, and all ranks are fused; the wordings together weigh as much as the
 * question alone. When the model fails, runs out of time or adds nothing, the question goes on alone, and the trace says so.
 *
 * @example
 * ```ts
 * import { multiQuery, Pipeline, search, type ChatModel, type Question, type Store } from "citewell";
 * export const searching = (chat: ChatModel, store: Store) =>
 *   Pipeline.from<Question>().pipe(multiQuery(chat, { count: 3 })).pipe(search(store, { mode: "lexical" }));
 * ```
 */
export function multiQuery(model: ChatModel, options: MultiQueryOptions = {}): Stage<Question, Question> {
  const { count, ...time } = resolve("multiQuery", multiQueryOptions, options);
  checkPort("multiQuery", "chatModel", model);
  const system = `Rewrite the question in <question> as ${count} other search queries that would find passages which answer it: other words for the same, more general, more specific. Keep the language of the question. Do not answer it. Reply with a JSON object: {"queries": ["…"]}`;
  const schema = jsonSchemaOf(WordingsReply);
  return mapStage("multi-query", (asked, context) => {
    const read = (reply: string): StepResult => {
      const before = asked.variants ?? [];
      const seen = new Set([normalized(asked.question), ...before.map(({ text }) => normalized(text))]);
      const variants: QueryVariant[] = [];
      for (const query of objectIn(reply, WordingsReply)?.queries ?? []) {
        const words = normalized(query);
        if (words === "" || seen.has(words) || query.length > maxWordingCharacters || variants.length === count)
          continue;
        seen.add(words);
        variants.push({ kind: "question", text: query.trim() });
      }
      if (variants.length === 0) return { problem: "the reply has no other wording" };
      const note = `also asked: ${variants.map(({ text }) => JSON.stringify(text)).join(", ")}`;
      return { changes: { variants: [...before, ...variants] }, note };
    };
    const request = { ...jsonRequest(system, asked.question), schema };
    return questionStep(asked, { step: "multi-query", model, time, request, read }, context);
  });
}

const hydeSystem = `Write a short passage, of two to four sentences, as it could stand in a document that answers the question in <question>. It is used to find real passages like it and is never shown: it may be wrong, but it must be specific. Write in the language of the question. Reply with a JSON object: {"passage": "…"}`;

/**
 * Has a model invent a passage that could answer the question; passages near it in the vector space are found beside
 * those near the question. Only dense and hybrid searches use it: a lexical search ignores invented passages. When the
 * model fails, runs out of time or invents nothing, the question goes on alone, and the trace says so. After Gao, Ma,
 * Lin and Callan, "Precise Zero-Shot Dense Retrieval without Relevance Labels", ACL 2023, with ranks fused instead of
 * vectors averaged.
 *
 * @example
 * ```ts
 * import { embedQuestion, hyde, Pipeline, search, type ChatModel, type Embedder, type Question, type Store } from "citewell";
 * export const searching = (chat: ChatModel, embedder: Embedder<"my-model">, store: Store<"my-model">) =>
 *   Pipeline.from<Question>().pipe(hyde(chat)).pipe(embedQuestion(embedder)).pipe(search(store));
 * ```
 */
export function hyde(model: ChatModel, options: HydeOptions = {}): Stage<Question, Question> {
  const time = resolve("hyde", hydeOptions, options);
  checkPort("hyde", "chatModel", model);
  const schema = jsonSchemaOf(PassageReply);
  return mapStage("hyde", (asked, context) => {
    const read = (reply: string): StepResult => {
      const passage = objectIn(reply, PassageReply)?.passage.trim() ?? "";
      if (passage === "") return { problem: "the reply holds no passage" };
      const text = shorten(passage, maxPassageCharacters);
      return {
        changes: { variants: [...(asked.variants ?? []), { kind: "passage", text }] },
        note: `also looked for passages like: ${JSON.stringify(shorten(text, 300))}`,
      };
    };
    const request = { ...jsonRequest(hydeSystem, asked.question), schema };
    return questionStep(asked, { step: "hyde", model, time, request, read }, context);
  });
}

function jsonRequest(system: string, question: string) {
  return {
    messages: [
      { role: "system", content: system },
      { role: "user", content: renderSourcedQuestion({ sources: [], question }) },
    ],
    format: "json",
  } as const;
}

/** Two wordings with the same letters and digits count as the same. */
function normalized(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
