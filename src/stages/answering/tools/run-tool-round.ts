import pLimit from "p-limit";
import type { Filter } from "../../../core/filter.js";
import type { RunContext } from "../../../core/pipeline.js";
import type { AnswerEvent, ModelRequest, ToolExchange } from "../../../core/types.js";
import { remainingTime } from "../../calls/timed-calls.js";
import type { ResolvedAnswerOptions } from "../answer-options.js";
import type { AnswerSources } from "../answer-sources.js";
import { type FinishedCall, type ResultLimits, runTool, type RunToolOptions, type ToolOutcome } from "./run-tool.js";
import type { ModelCall, Toolbox } from "./toolbox.js";

export interface ToolRoundOptions extends ResultLimits {
  readonly tools: Toolbox;
  readonly settings: ResolvedAnswerOptions;
  /** The question's filter. */
  readonly filter: Filter | undefined;
  readonly context: RunContext;
}

/** A call of a round that has run. */
export interface RoundCall {
  /** The exchange as the model reads it in this answer. */
  readonly exchange: ToolExchange;
  /** Exchange for later turns: without the sources it brought, whose numbers mean nothing there. */
  readonly remembered: ToolExchange;
  /** Whether everything it returned can be cited. */
  readonly citable: boolean;
  /** The requests to models that it made. */
  readonly requests: readonly ModelRequest[];
}

export type RoundEvent = Extract<
  AnswerEvent,
  { readonly type: "tool-call" | "approval" | "approval-needed" | "tool-result" }
>;

/**
 * Runs the calls of one reply; yields calls and results in the order of the calls.
 *
 * @param untrusted whether the model had read text from documents or tools when it made these calls.
 */
export async function* runToolRound(
  modelCalls: readonly ModelCall[],
  untrusted: boolean,
  options: ToolRoundOptions,
): AsyncGenerator<RoundEvent, ToolOutcome[]> {
  const checked = await Promise.all(modelCalls.map(options.tools.check));
  // The calls of a reply run side by side: one that writes counts as made after those that read.
  const reads = checked.some((call) => "tool" in call && !call.tool.writes);
  const calls = checked.map((call) => ({ ...call, untrusted: untrusted || reads }));
  for (const { id, name, input } of calls) yield { type: "tool-call", id, name, input };
  return yield* runSideBySide(calls, options, (call, limits) => runTool(call, limits, options.context.tracing));
}

/** Carries calls out concurrently, as many at once as allowed; yields their outcomes in the order of the calls. */
export async function* runSideBySide<Call extends { readonly input: unknown }, Outcome extends ToolOutcome>(
  calls: readonly Call[],
  { settings, filter, context, maxResultTokens, tokens }: ToolRoundOptions,
  carryOut: (call: Call, options: RunToolOptions) => Promise<Outcome>,
): AsyncGenerator<RoundEvent, Outcome[]> {
  const leaving = new AbortController();
  const options = {
    signal: AbortSignal.any([context.signal, leaving.signal]),
    ...remainingTime(context),
    ...(filter && { filter }),
    approve: settings.approve,
    approvalTimeoutMs: settings.approvalTimeoutMs,
    maxResultTokens,
    tokens,
  };
  try {
    const limit = pLimit(settings.toolConcurrency);
    const running = calls.map((call) => limit(carryOut, call, options));
    // A call that an abort rejects while an earlier one is awaited must not be an unhandled rejection.
    for (const run of running) run.catch(() => {});
    const outcomes: Outcome[] = [];
    for (const [index, pending] of running.entries()) {
      const outcome = await pending;
      outcomes.push(outcome);
      yield* eventsOf(outcome, calls[index]?.input);
    }
    return outcomes;
  } finally {
    leaving.abort(new DOMException("The answer was left", "AbortError"));
  }
}

function* eventsOf(outcome: ToolOutcome, input: unknown): Generator<RoundEvent> {
  if ("waiting" in outcome) {
    yield { type: "approval-needed", ...outcome.waiting };
    return;
  }
  const { exchange, output, error, approved } = outcome;
  const { id, name } = exchange;
  if (approved !== undefined) yield { type: "approval", id, name, input, approved };
  yield { type: "tool-result", id, name, ...(error === undefined ? { output } : { error }) };
}

/**
 * Adds the findings of a round's calls to the sources, in the order of the calls: numbers do not depend on which ends
 * first.
 */
export function settleRound(
  outcomes: readonly FinishedCall[],
  sources: AnswerSources,
  { maxResultTokens: maxTokens, tokens }: ResultLimits,
): RoundCall[] {
  return outcomes.map(({ exchange, findings }) => {
    if (!findings) return { exchange, remembered: exchange, citable: false, requests: [] };
    const { name } = exchange;
    const { content, summary } = sources.add(findings.hits, { step: name, maxTokens, tokens });
    return {
      exchange: { ...exchange, result: { content } },
      remembered: { ...exchange, result: { content: summary } },
      citable: true,
      requests: (findings.requests ?? []).map((request) => ({ ...request, step: `${name} > ${request.step}` })),
    };
  });
}

/** Gives an id to each call that has none, or one that was used before. */
export function withIds(calls: readonly ModelCall[], used: ReadonlySet<string>): ModelCall[] {
  const taken = new Set(used);
  return calls.map((call) => {
    let { id } = call;
    for (let count = taken.size + 1; id === "" || taken.has(id); count++) id = `call_${count}`;
    taken.add(id);
    return { ...call, id };
  });
}
