import type { AnswerAccount, ModelRequest, Retrieved, TraceStep } from "../types.js";
import { addUsage } from "./add-usage.js";

export interface AccountParts {
  readonly retrieved: Retrieved;
  /** All steps. */
  readonly trace: readonly TraceStep[];
  /** All requests, in the order in which they ended. */
  readonly requests: readonly ModelRequest[];
  readonly answerMilliseconds: number;
}

/** What an answer came to, as one object that is written as JSON. */
export function answerAccount({ retrieved, trace, requests, answerMilliseconds }: AccountParts): AnswerAccount {
  const { question, asked, filter, history = [] } = retrieved;
  const milliseconds: Record<string, number> = {};
  const add = (step: string, time: number) => (milliseconds[step] = (milliseconds[step] ?? 0) + time);
  for (const { step, milliseconds: time } of trace) if (time !== undefined) add(step, time);
  // A step without an entry in the trace took as long as its requests.
  const timed = new Set([...Object.keys(milliseconds), "answer"]);
  for (const { step, milliseconds: time } of requests) if (!timed.has(step)) add(step, time);
  add("answer", answerMilliseconds);
  const costs = requests.map(({ cost }) => cost);
  return {
    asked: {
      question: asked ?? question,
      ...(asked !== undefined && { standalone: question }),
      ...(filter && { filter }),
      historyTurns: history.length,
    },
    trace: [...trace],
    requests,
    paid: {
      ...requests.reduce(addUsage, { inputTokens: 0, outputTokens: 0 }),
      ...(costs.every((cost) => cost !== undefined) && { cost: costs.reduce((sum, cost) => sum + cost, 0) }),
      failedAttempts: requests.reduce((sum, { failedAttempts = [] }) => sum + failedAttempts.length, 0),
    },
    milliseconds,
  };
}
