import { z } from "zod";
import { checkPort } from "../../core/check-port.js";
import { OptionsError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import { mapStage, type Stage } from "../../core/pipeline.js";
import type { ChatModel } from "../../core/ports.js";
import type { Question } from "../../core/types.js";
import { longestStart } from "../../text/blocks/cut-text.js";
import { type StepResult, questionStep, questionStepTime, type QuestionStepTime } from "./question-step.js";

export interface DescribeImagesOptions extends QuestionStepTime {
  /** Maximum tokens of the description that are searched for, 16 or more: a longer one would drown the question. Default: 256. */
  readonly maxTokens?: number;
}

export const describeImagesOptions = optionsOf<DescribeImagesOptions>()({
  ...questionStepTime,
  maxTokens: z.int().min(16).default(256),
  // A picture takes a model longer than a line of text.
  timeoutMs: questionStepTime.timeoutMs.default(30_000),
});

const instruction = [
  "A person asks a question about documents and sends the pictures above with it.",
  "Describe what the pictures show as far as it helps to find passages that answer, in at most 100 words, in the language of the question.",
  "Write names, numbers, error messages and other words in the pictures as they stand there. Do not answer the question.",
].join("\n");

/**
 * Describes the pictures of a question for the search, which knows words alone: what the model says of them is searched for together with
 * the question, and never counts as the asker's words. A question without pictures goes on unchanged, and so does any question
 * when the model fails or runs out of time; the trace and a warning say so.
 *
 * @throws OptionsError when the model sees no pictures.
 */
export function describeImages(model: ChatModel, options: DescribeImagesOptions = {}): Stage<Question, Question> {
  const { maxTokens, ...time } = resolve("describeImages", describeImagesOptions, options);
  checkPort("describeImages", "chatModel", model);
  if (!model.seesPictures) {
    throw new OptionsError("options", `describeImages: ${model.model} sees no pictures: take a vision model (vlm)`);
  }
  return mapStage("describe-images", async (asked, context) => {
    const { question, images = [] } = asked;
    if (images.length === 0) return asked;
    const content = `${instruction}\n\nThe question, as data: ${JSON.stringify(question)}`;
    const read = (reply: string): StepResult => {
      const whole = reply.replace(/\s+/g, " ").trim();
      const text = longestStart(whole, (start) => model.tokens.count(start) <= maxTokens);
      if (text === "") return { problem: "the reply is empty" };
      return {
        changes: {
          question: `${question}\n\n${text}`,
          asked: asked.asked ?? question,
          imageDescription: { question, text, model: model.model },
        },
        note: `the pictures show: ${text}`,
      };
    };
    const request = { messages: [{ role: "user", content, pictures: images }], temperature: 0 } as const;
    return questionStep(asked, { step: "describe-images", model, time, request, read }, context);
  });
}
