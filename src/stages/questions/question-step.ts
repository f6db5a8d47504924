import { z } from "zod";
import type { RunContext } from "../../core/pipeline.js";
import type { ChatModel, ChatRequest } from "../../core/ports.js";
import type { Question, TraceStep } from "../../core/types.js";
import { addUsage, modelRequest } from "../calls/model-request.js";
import { askOnce, type StepTime } from "../calls/timed-calls.js";

/** The time options shared by stages that ask a model about the question before the search. */
export interface QuestionStepTime {
  /** Maximum time for the model, in milliseconds, at least 1; after that the question goes on unchanged. Default 10,000. */
  readonly timeoutMs?: number;
  /** Time reserved for later stages when the run has a deadline, in milliseconds, 0 or more. Default 3,000. */
  readonly reserveMs?: number;
}

export const questionStepTime = {
  timeoutMs: z.number().min(1).default(10_000),
  reserveMs: z.number().min(0).default(3000),
};

/** Enough for a short reply, and for a model that thinks first. */
const maxReplyTokens = 1024;

/** How a reply changes the question, with a note for the trace, or why the reply is useless. */
export type StepResult = { readonly changes: Partial<Question>; readonly note: string } | { readonly problem: string };

/** @internal */
export interface QuestionStep {
  /** The step's name in the trace. */
  readonly step: string;
  readonly model: ChatModel;
  readonly time: StepTime;
  readonly request: Omit<ChatRequest, "maxTokens">;
  readonly read: (reply: string) => StepResult;
}

/**
 * Asks a model about a question before the search. When the model fails, runs out of time or gives a useless reply, the
 * question goes on unchanged, and the trace and a warning say so.
 * @internal
 */
export async function questionStep(
  asked: Question,
  { step, model, time, request, read }: QuestionStep,
  context: RunContext,
): Promise<Question> {
  const started = performance.now();
  const maxTokens = Math.min(maxReplyTokens, model.maxOutputTokens);
  const reply = await askOnce(model, { ...request, maxTokens }, time, context);
  const { answered, usage, failedAttempts } = reply;
  const result = "problem" in reply ? reply : read(reply.text);
  const { changes, note } =
    "problem" in result ? { changes: {}, note: `${result.problem}: the question was left unchanged` } : result;
  const warning = "problem" in result ? `${step}: ${note}` : undefined;
  if (warning !== undefined) context.report({ type: "warning", message: warning });
  const traced: TraceStep = { step, kept: [], dropped: [], note, milliseconds: performance.now() - started };
  return {
    ...asked,
    ...changes,
    ...(warning !== undefined && { warnings: [...(asked.warnings ?? []), warning] }),
    ...((asked.usage ?? usage) && { usage: addUsage(asked.usage, usage)! }),
    ...((answered || failedAttempts.length > 0) && {
      requests: [
        ...(asked.requests ?? []),
        modelRequest({ step, by: model, answered, usage, started, failedAttempts }),
      ],
    }),
    trace: [...(asked.trace ?? []), traced],
  };
}
