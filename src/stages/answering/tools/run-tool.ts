import { randomUUID } from "node:crypto";
import type { WaitingCall } from "../../../core/approval.js";
import { asError } from "../../../core/errors.js";
import type { Filter } from "../../../core/filter.js";
import { parsedJson } from "../../../core/json.js";
import { jsonMetadata } from "../../../core/metadata.js";
import type { TokenCounter } from "../../../core/ports.js";
import { unlessAborted } from "../../../core/stream.js";
import type { AnyTool, Findings, ToolContext } from "../../../core/tool.js";
import type { Tracing } from "../../../core/tracing.js";
import type { ExtraContent, ToolExchange } from "../../../core/types.js";
import { longestStart } from "../../../text/blocks/cut-text.js";
import type { ApprovalRequest, Approve } from "../answer-options.js";
import type { CheckedCall } from "./toolbox.js";

/** The result of a call: for the reader as a value, for the model as text. */
export interface FinishedCall {
  readonly exchange: ToolExchange;
  readonly output?: unknown;
  /** Hits that are to become sources; the exchange has no content then. */
  readonly findings?: Findings;
  readonly error?: string;
  /** The decision, if approval was asked for. */
  readonly approved?: boolean;
}

/** A call that was not run, since its approval comes later. */
export interface PausedCall {
  readonly waiting: WaitingCall;
  /** Arguments as the model wrote them. */
  readonly arguments: string;
  readonly extraContent?: ExtraContent;
}

export type ToolOutcome = FinishedCall | PausedCall;

/** A checked call with what an approver should know about it. */
export type ApprovableCall = CheckedCall & Pick<ApprovalRequest, "untrusted">;

/** How much of a result the model reads. */
export interface ResultLimits {
  readonly maxResultTokens: number;
  readonly tokens: TokenCounter;
}

export interface RunToolOptions extends ResultLimits {
  /** Aborts when the answer is aborted. */
  readonly signal: AbortSignal;
  /** The run's remaining time, if it has a deadline. */
  readonly deadlineMs?: number;
  /** The question's filter, for tools that search. */
  readonly filter?: Filter;
  readonly approve?: Approve | undefined;
  readonly approvalTimeoutMs: number;
}

/** Asks for approval if the call needs it, and runs it if it may. Rejects only with the reason of an abort. */
export async function runTool(
  call: ApprovableCall,
  options: RunToolOptions,
  tracing: Tracing | undefined,
): Promise<ToolOutcome> {
  if (!("tool" in call) || !call.tool.writes) return carryOut(call, options, tracing);
  const { id, name, arguments: writtenArguments, extraContent, untrusted } = call;
  const approved = await decisionOn({ name, input: copied(call), untrusted }, options);
  if (approved !== "later") return carryOut(call, { ...options, approved }, tracing);
  const waiting = { approvalId: randomUUID(), id, name, input: inputInJson(call), untrusted };
  return { waiting, arguments: writtenArguments, ...(extraContent && { extraContent }) };
}

type Checked = Pick<CheckedCall, "input" | "arguments">;

/** The input for an approver, as a copy: the call runs with what its schema has checked, whatever is done to the copy. */
function copied(call: Checked): unknown {
  try {
    return structuredClone(call.input);
  } catch {
    // It has functions, for example.
    return inputInJson(call);
  }
}

/**
 * The input of a call as it waits: what the schema returned or, where JSON would lose a part of that, what the model wrote.
 * Whoever approves a call with a Map must not be shown an empty object.
 */
export function inputInJson({ input, arguments: writtenArguments }: Checked): unknown {
  try {
    return jsonMetadata("input", input);
  } catch {
    return parsedJson(writtenArguments.trim() === "" ? "{}" : writtenArguments);
  }
}

/**
 * Carries out a call, in a span of its own if tracing is enabled. The names are those of the semantic conventions:
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
 *
 * Every failure becomes a result that the model reads: a refusal, an error, a timeout, a value that is not JSON.
 * Rejects only with the reason of an abort, even if the tool never returns.
 */
export async function carryOut(
  call: CheckedCall,
  options: RunToolOptions & Pick<FinishedCall, "approved">,
  tracing: Tracing | undefined,
): Promise<FinishedCall> {
  // Calls that waited for their turn must not begin when the answer is over.
  options.signal.throwIfAborted();
  const { approved } = options;
  const run = async () => ({
    ...(await (approved === false ? refusedCall(call, options) : resultOf(call, options))),
    ...(approved !== undefined && { approved }),
  });
  if (!tracing) return run();
  const span = tracing.step(`execute_tool ${call.name}`, {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": call.name,
    "gen_ai.tool.call.id": call.id,
    "gen_ai.tool.type": "function",
  });
  span.start();
  let failure: unknown;
  try {
    const outcome = await span.within(run);
    failure = outcome.error;
    return outcome;
  } finally {
    span.end({ failure });
  }
}

async function resultOf(call: CheckedCall, options: RunToolOptions): Promise<FinishedCall> {
  if ("refusal" in call) return failedCall(call, call.refusal, options);
  try {
    const output = await callTool(call.tool, call.input, options);
    if (!call.tool.sources) {
      const content = typeof output === "string" ? output : (JSON.stringify(output) ?? "done");
      return { exchange: { ...written(call), result: { content: cut(content, options) } }, output };
    }
    if (!isFindings(output)) throw new TypeError(`${call.name} must return { hits }, since it has sources: true`);
    return { exchange: { ...written(call), result: { content: "" } }, output, findings: output };
  } catch (error) {
    options.signal.throwIfAborted();
    return failedCall(call, asError(error).message, options);
  }
}

type Called = Omit<ToolExchange, "result">;

/** The part of a call that goes back to the model. */
function written({ id, name, arguments: json, extraContent }: Called): Called {
  return { id, name, arguments: json, ...(extraContent && { extraContent }) };
}

export function failedCall(call: Called, error: string, limits: ResultLimits): FinishedCall {
  return { exchange: { ...written(call), result: { error: cut(error, limits) } }, error };
}

export function refusedCall(call: Called, limits: ResultLimits): FinishedCall {
  return { ...failedCall(call, "The call was not approved; it was not carried out", limits), approved: false };
}

/**
 * Only `true` approves, and only "later" waits: an error, any other value, no answer in time or no approver counts as a
 * refusal. Rejects only with an abort's reason.
 */
async function decisionOn(
  asked: Omit<ApprovalRequest, "signal">,
  { approve, signal, deadlineMs = Infinity, approvalTimeoutMs }: RunToolOptions,
): Promise<boolean | "later"> {
  const limit = { signal, timeoutMs: Math.min(approvalTimeoutMs, deadlineMs), what: "The approval" };
  try {
    const decision: unknown = await withinTime(limit, (either) => approve?.({ ...asked, signal: either }));
    return decision === "later" ? decision : decision === true;
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

function cut(content: string, { maxResultTokens, tokens }: ResultLimits): string {
  if (longestStart(content, (start) => tokens.count(start) <= maxResultTokens) === content) return content;
  const notice = `\n… (cut after ${maxResultTokens} tokens)`;
  return longestStart(content, (start) => tokens.count(start + notice) <= maxResultTokens) + notice;
}
