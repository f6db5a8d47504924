import { asError } from "../../../core/errors.js";
import type { Filter } from "../../../core/filter.js";
import type { TokenCounter } from "../../../core/ports.js";
import { unlessAborted } from "../../../core/stream.js";
import type { AnyTool, Findings, ToolContext } from "../../../core/tool.js";
import type { Tracing } from "../../../core/tracing.js";
import type { ToolExchange } from "../../../core/types.js";
import { longestStart } from "../../../text/blocks/cut-text.js";
import type { ApprovalRequest, Approve } from "../answer-options.js";
import type { CheckedCall } from "./toolbox.js";

/** The result of a call: for the reader as a value, for the model as text. */
export interface ToolOutcome {
  readonly exchange: ToolExchange;
  readonly output?: unknown;
  /** Hits that are to become sources; the exchange has no content then. */
  readonly findings?: Findings;
  readonly error?: string;
  /** The decision, if approval was asked for. */
  readonly approved?: boolean;
}

/** A checked call with what an approver should know about it. */
export type ApprovableCall = CheckedCall & Pick<ApprovalRequest, "untrusted">;

export interface RunToolOptions {
  /** Aborts when the answer is aborted. */
  readonly signal: AbortSignal;
  /** The run's remaining time, if it has a deadline. */
  readonly deadlineMs?: number;
  /** The question's filter, for tools that search. */
  readonly filter?: Filter;
  readonly approve?: Approve | undefined;
  readonly approvalTimeoutMs: number;
  readonly maxResultTokens: number;
  readonly tokens: TokenCounter;
}

/**
 * Runs a call in a span of its own if anybody is tracing. The names are those of the semantic conventions:
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
 *
 * Whatever goes wrong is a result that the model reads: a refusal, an error, a timeout, a value that is not JSON. Rejects
 * only with the reason of an abort, even if the tool never returns.
 */
export async function runTool(
  call: ApprovableCall,
  options: RunToolOptions,
  tracing: Tracing | undefined,
): Promise<ToolOutcome> {
  if (!tracing) return run(call, options);
  const span = tracing.step(`execute_tool ${call.name}`, {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": call.name,
    "gen_ai.tool.call.id": call.id,
    "gen_ai.tool.type": "function",
  });
  span.start();
  let failure: unknown;
  try {
    const outcome = await span.within(() => run(call, options));
    failure = outcome.error;
    return outcome;
  } finally {
    span.end({ failure });
  }
}

async function run(call: ApprovableCall, options: RunToolOptions): Promise<ToolOutcome> {
  const { id, name, arguments: written } = call;
  const failed = (error: string): ToolOutcome => {
    return { exchange: { id, name, arguments: written, result: { error: cut(error, options) } }, error };
  };
  if ("refusal" in call) return failed(call.refusal);
  const { tool, input, untrusted } = call;
  let decision: Pick<ToolOutcome, "approved"> = {};
  try {
    if (tool.writes) {
      const approved = await isApproved(options.approve, { name, input, untrusted }, options);
      if (!approved) return { ...failed("The call was not approved; it was not carried out"), approved };
      decision = { approved };
    }
    const output = await callTool(tool, input, options);
    if (!tool.sources) {
      const content = typeof output === "string" ? output : (JSON.stringify(output) ?? "done");
      const exchange = { id, name, arguments: written, result: { content: cut(content, options) } };
      return { exchange, output, ...decision };
    }
    if (!isFindings(output))
      return { ...failed(`${name} must return { hits }, since it has sources: true`), ...decision };
    const exchange = { id, name, arguments: written, result: { content: "" } };
    return { exchange, output, findings: output, ...decision };
  } catch (error) {
    options.signal.throwIfAborted();
    return { ...failed(asError(error).message), ...decision };
  }
}

/** Only `true` approves: an error, another value, no answer in time or nobody to ask is a no. Rejects only with an abort's reason. */
async function isApproved(
  approve: Approve | undefined,
  asked: Omit<ApprovalRequest, "signal">,
  { signal, deadlineMs = Infinity, approvalTimeoutMs }: RunToolOptions,
): Promise<boolean> {
  const limit = { signal, timeoutMs: Math.min(approvalTimeoutMs, deadlineMs), what: "The approval" };
  try {
    const decision: unknown = await withinTime(limit, (either) => approve?.({ ...asked, signal: either }));
    return decision === true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

function callTool(
  tool: AnyTool,
  input: unknown,
  { signal, deadlineMs = Infinity, filter }: RunToolOptions,
): Promise<unknown> {
  // The tool's input type is lost here; its schema has checked the value.
  const callable = tool.run as (input: unknown, context: ToolContext) => unknown;
  const limit = { signal, timeoutMs: Math.min(tool.timeoutMs, deadlineMs), what: "The tool" };
  return withinTime(limit, (either) => callable(input, { signal: either, ...(filter && { filter }) }));
}

/** Rejects with the signal's reason or when the time is up, even if the work ignores its signal. */
async function withinTime<T>(
  { signal, timeoutMs, what }: { readonly signal: AbortSignal; readonly timeoutMs: number; readonly what: string },
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(new Error(`${what} did not return within ${timeoutMs} ms`)), timeoutMs);
  const either = AbortSignal.any([signal, overdue.signal]);
  try {
    return await unlessAborted((async () => work(either))(), either);
  } finally {
    clearTimeout(timer);
  }
}

function isFindings(output: unknown): output is Findings {
  return Array.isArray((output as { readonly hits?: unknown } | null | undefined)?.hits);
}

function cut(content: string, { maxResultTokens, tokens }: RunToolOptions): string {
  if (longestStart(content, (start) => tokens.count(start) <= maxResultTokens) === content) return content;
  const notice = `\n… (cut after ${maxResultTokens} tokens)`;
  return longestStart(content, (start) => tokens.count(start + notice) <= maxResultTokens) + notice;
}
