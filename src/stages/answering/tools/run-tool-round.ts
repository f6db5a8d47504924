import pLimit from "p-limit";
import type { Filter } from "../../../core/filter.js";
import type { RunContext } from "../../../core/pipeline.js";
import type { TokenCounter } from "../../../core/ports.js";
import type { AnswerEvent, ModelRequest, ToolExchange } from "../../../core/types.js";
import { remainingTime } from "../../calls/timed-calls.js";
import type { ResolvedAnswerOptions } from "../answer-options.js";
import type { AnswerSources } from "../answer-sources.js";
import { runTool } from "./run-tool.js";
import type { ModelCall, Toolbox } from "./toolbox.js";

export interface ToolRoundOptions {
  readonly tools: Toolbox;
  /** Whether the model had read text from documents or tools when it made these calls. */
  readonly untrusted: boolean;
  readonly settings: ResolvedAnswerOptions;
  /** Maximum tokens of all results together. */
  readonly roundTokens: number;
  readonly tokens: TokenCounter;
  /** Takes in the hits that tools return. */
  readonly sources: AnswerSources;
  /** The question's filter. */
  readonly filter: Filter | undefined;
  readonly context: RunContext;
}

/** A call of a round that has run. */
export interface RoundCall {
  /** The exchange as the model reads it in this answer. */
  readonly exchange: ToolExchange;
  /** The exchange as later turns read it: without the sources it brought, whose numbers mean nothing then. */
  readonly remembered: ToolExchange;
  /** Whether everything it returned can be cited. */
  readonly citable: boolean;
  /** The requests to models that it made. */
  readonly requests: readonly ModelRequest[];
}

type RoundEvent = Extract<AnswerEvent, { readonly type: "tool-call" | "approval" | "tool-result" }>;

/** Runs the calls of one reply concurrently, as many at once as allowed; yields calls and results in the order of the calls. */
export async function* runToolRound(
  modelCalls: readonly ModelCall[],
  { tools, untrusted, settings, roundTokens, tokens, sources, filter, context }: ToolRoundOptions,
): AsyncGenerator<RoundEvent, RoundCall[]> {
  const leaving = new AbortController();
  const maxResultTokens = Math.min(settings.toolResultTokens, Math.floor(roundTokens / modelCalls.length));
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
    const checked = await Promise.all(modelCalls.map(tools.check));
    // The calls of a reply run side by side: one that writes counts as made after those that read.
    const reads = checked.some((call) => "tool" in call && !call.tool.writes);
    const calls = checked.map((call) => ({ ...call, untrusted: untrusted || reads }));
    for (const { id, name, input } of calls) yield { type: "tool-call", id, name, input };
    const limit = pLimit(settings.toolConcurrency);
    const running = calls.map((call) => limit(runTool, call, options, context.tracing));
    // A call that an abort rejects while an earlier one is awaited must not be an unhandled rejection.
    for (const each of running) each.catch(() => {});
    const round: RoundCall[] = [];
    for (const [index, each] of running.entries()) {
      const { exchange, output, findings, error, approved } = await each;
      const { id, name } = exchange;
      if (findings) {
        // Sources are added in the order of the calls, so their numbers do not depend on which search ends first.
        const { content, summary } = sources.add(findings.hits, { step: name, maxTokens: maxResultTokens, tokens });
        round.push({
          exchange: { ...exchange, result: { content } },
          remembered: { ...exchange, result: { content: summary } },
          citable: true,
          requests: (findings.requests ?? []).map((request) => ({ ...request, step: `${name} > ${request.step}` })),
        });
      } else round.push({ exchange, remembered: exchange, citable: false, requests: [] });
      if (approved !== undefined) yield { type: "approval", id, name, input: calls[index]?.input, approved };
      yield { type: "tool-result", id, name, ...(error === undefined ? { output } : { error }) };
    }
    return round;
  } finally {
    leaving.abort(new DOMException("The answer was left", "AbortError"));
  }
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
