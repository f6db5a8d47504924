import { z } from "zod";
import type { RunContext } from "../pipeline.js";
import type { ChatModel } from "../ports.js";
import type { Question, TraceStep } from "../types.js";
import { addUsage } from "./add-usage.js";
import type { Asked } from "./ask-once.js";
import { modelRequest } from "./model-request.js";

/** Time limits that the stages which put a question to a model first have in common. */
export const questionStepTime = {
  /** Most time for the model, in milliseconds, 1 or more; beyond it the question goes on as it is. Default 10,000. */
  timeoutMs: z.number().min(1).default(10_000),
  /** Time that is left to the stages behind when the run has a deadline, in milliseconds. Default 3,000. */
  reserveMs: z.number().min(0).default(3000),
};

/** Tokens for a short reply, with room for a model that thinks first. */
export const shortReplyTokens = 1024;

interface StepEnd {
  readonly step: string;
  readonly started: number;
  readonly model: ChatModel;
  /** Absent where nothing was answered. */
  readonly usage: Asked["usage"];
}

/** A question behind a step before the search: what the step changed, what it cost, and what is to be said of it. */
export function afterStep(
  asked: Question,
  changes: Partial<Question>,
  { step, started, model, usage, note }: StepEnd & { readonly note: string },
): Question {
  const told: TraceStep = { step, kept: [], dropped: [], note, milliseconds: performance.now() - started };
  return {
    ...asked,
    ...changes,
    ...((asked.usage ?? usage) && { usage: addUsage(asked.usage, usage) }),
    ...(usage && { requests: [...(asked.requests ?? []), modelRequest({ step, by: model, usage, started })] }),
    trace: [...(asked.trace ?? []), told],
  };
}

/** Says in trace and warnings that the question goes on as it came. */
export function withoutStep(
  asked: Question,
  { problem, ...end }: StepEnd & { readonly problem: string },
  context: RunContext,
): Question {
  const note = `${problem}: the question went on as it was`;
  context.report({ type: "warning", message: `${end.step}: ${note}` });
  return afterStep(asked, {}, { ...end, note });
}
