import pLimit from "p-limit";
import type { Filter } from "../filter.js";
import type { RunContext } from "../pipeline.js";
import type { TokenCounter } from "../ports.js";
import type { AnswerEvent, ModelRequest, ToolExchange } from "../types.js";
import type { Approve } from "./answer-options.js";
import type { AnswerSources } from "./answer-sources.js";
import type { ModelCall } from "./model-reply.js";
import { remainingTime } from "./remaining-time.js";
import { readCall } from "./tool-run.js";
import type { Toolbox } from "./toolbox.js";
import { runTracedCall } from "./traced-call.js";

export interface ToolRoundOptions {
  readonly tools: Toolbox;
  /** Whether the conversation so far holds text from untrusted sources. */
  readonly untrusted: boolean;
  readonly approve: Approve | undefined;
  readonly approvalTimeoutMs: number;
  /** Most tools that run at once. */
  readonly concurrency: number;
  /** Most tokens of all results together, and of one. */
  readonly roundTokens: number;
  readonly resultTokens: number;
  readonly tokens: TokenCounter;
  /** Takes in what tools found. */
  readonly sources: AnswerSources;
  /** The question's. */
  readonly filter: Filter | undefined;
  readonly context: RunContext;
}

/** One call of a round, run. */
export interface RoundCall {
  /** As the model reads it in this answer. */
  readonly exchange: ToolExchange;
  /** As later turns read it: without the sources that it brought, whose numbers mean nothing then. */
  readonly remembered: ToolExchange;
  /** Whether all that it brought can be cited. */
  readonly citable: boolean;
  /** What models it asked. */
  readonly requests: readonly ModelRequest[];
}

type Told = Extract<AnswerEvent, { readonly type: "tool-call" | "approval" | "tool-result" }>;

/** Runs the calls of one reply side by side, as many at once as allowed; tells of calls and results in the order of the calls. */
export async function* runToolRound(
  modelCalls: readonly ModelCall[],
  {
    tools,
    untrusted,
    approve,
    approvalTimeoutMs,
    concurrency,
    roundTokens,
    resultTokens,
    tokens,
    sources,
    filter,
    context,
  }: ToolRoundOptions,
): AsyncGenerator<Told, RoundCall[]> {
  const leaving = new AbortController();
  const maxResultTokens = Math.min(resultTokens, Math.floor(roundTokens / modelCalls.length));
  const options = {
    signal: AbortSignal.any([context.signal, leaving.signal]),
    ...remainingTime(context),
    ...(filter && { filter }),
    approve,
    approvalTimeoutMs,
    maxResultTokens,
    tokens,
  };
  try {
    const calls = await Promise.all(modelCalls.map((call) => readCall(call, (name) => tools.find(name, untrusted))));
    for (const { id, name, input } of calls) yield { type: "tool-call", id, name, input };
    const limit = pLimit(concurrency);
    const running = calls.map((call) => limit(runTracedCall, call, options, context.tracing));
    // One that an abort rejects while an earlier one is awaited is no unhandled rejection.
    for (const each of running) each.catch(() => {});
    const round: RoundCall[] = [];
    for (const [index, each] of running.entries()) {
      const { exchange, output, findings, error, approved } = await each;
      const { id, name } = exchange;
      if (findings) {
        // In the order of the calls, so that sources have the same numbers whichever search ends first.
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

/** The calls with ids that are there and differ from all that were used before. */
export function withIds(calls: readonly ModelCall[], used: ReadonlySet<string>): ModelCall[] {
  const taken = new Set(used);
  return calls.map((call) => {
    let { id } = call;
    for (let count = taken.size + 1; id === "" || taken.has(id); count++) id = `call_${count}`;
    taken.add(id);
    return { ...call, id };
  });
}
