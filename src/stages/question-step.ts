import { z } from "zod";
import type { RunContext } from "../pipeline.js";
import type { ChatModel, ChatRequest } from "../ports.js";
import { renderSourcedQuestion } from "../text/prompt.js";
import type { Question, TraceStep } from "../types.js";
import { addUsage } from "./add-usage.js";
import { askOnce, type StepTime } from "./ask-once.js";
import { modelRequest } from "./model-request.js";

/** Time limits that the stages which put a question to a model first have in common. */
export const questionStepTime = {
  /** Most time for the model, in milliseconds, 1 or more; beyond it the question goes on as it is. Default 10,000. */
  timeoutMs: z.number().min(1).default(10_000),
  /** Time that is left to the stages behind when the run has a deadline, in milliseconds. Default 3,000. */
  reserveMs: z.number().min(0).default(3000),
};

/** Tokens for a short reply, with room for a model that thinks first. */
const shortReplyTokens = 1024;

/** What a reply makes of a question, with what is to be said of it, or why it is of no use. */
export type Made = { readonly changes: Partial<Question>; readonly note: string } | { readonly problem: string };

export interface QuestionStep {
  /** Its name in the trace. */
  readonly step: string;
  readonly model: ChatModel;
  readonly time: StepTime;
  readonly request: Omit<ChatRequest, "maxTokens">;
  readonly read: (reply: string) => Made;
}

/** The request that puts a question to a model beneath instructions, for a JSON object. */
export function jsonRequest(system: string, question: string): QuestionStep["request"] {
  return {
    messages: [
      { role: "system", content: system },
      { role: "user", content: renderSourcedQuestion({ sources: [], question }) },
    ],
    format: "json",
  };
}

/**
 * A question behind a step before the search that asks a model. When the model fails, is out of time or says nothing of
 * use, the question goes on as it came, and trace and warnings say so.
 */
export async function questionStep(
  asked: Question,
  { step, model, time, request, read }: QuestionStep,
  context: RunContext,
): Promise<Question> {
  const started = performance.now();
  const maxTokens = Math.min(shortReplyTokens, model.maxOutputTokens);
  const reply = await askOnce(model, { ...request, maxTokens }, time, context);
  const { usage, failedAttempts = [] } = reply;
  const made = "problem" in reply ? reply : read(reply.text);
  const { changes, note } =
    "problem" in made ? { changes: {}, note: `${made.problem}: the question went on as it was` } : made;
  if ("problem" in made) context.report({ type: "warning", message: `${step}: ${note}` });
  const told: TraceStep = { step, kept: [], dropped: [], note, milliseconds: performance.now() - started };
  return {
    ...asked,
    ...changes,
    ...((asked.usage ?? usage) && { usage: addUsage(asked.usage, usage) }),
    ...((usage || failedAttempts.length > 0) && {
      requests: [...(asked.requests ?? []), modelRequest({ step, by: model, usage, started, failedAttempts })],
    }),
    trace: [...(asked.trace ?? []), told],
  };
}
