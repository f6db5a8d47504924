import { z } from "zod";
import { asError } from "../errors.js";
import type { TokenCounter } from "../ports.js";
import type { Filter } from "../filter.js";
import { longestStart } from "../text/cut-text.js";
import type { AnyTool, Findings, ToolContext } from "../tool.js";
import type { ToolExchange } from "../types.js";
import type { Approve } from "./answer-options.js";
import { unlessAborted } from "../stream.js";

/** A model's call, read: what to run, or what to tell the model instead. */
export type ReadCall = {
  readonly id: string;
  /** The tool's own name, or what the model wrote when there is no such tool. */
  readonly name: string;
  /** The model's JSON text. */
  readonly arguments: string;
  /** What the schema returned, or else the model's own arguments. */
  readonly input: unknown;
} & ({ readonly tool: AnyTool } | { readonly refusal: string });

/** What came of a call: for the reader as it is, for the model as text. */
export interface RanCall {
  readonly exchange: ToolExchange;
  readonly output?: unknown;
  /** What is to become sources; the exchange has no content then. */
  readonly findings?: Findings;
  readonly error?: string;
  /** What was decided, where it was asked. */
  readonly approved?: boolean;
}

/** Checks a call against the tools on offer and the tool's schema. What is wrong becomes a refusal that the model reads. */
export async function readCall(
  call: { readonly id: string; readonly name: string; readonly arguments: string },
  find: (name: string) => AnyTool | { readonly refusal: string },
): Promise<ReadCall> {
  const found = find(call.name);
  let input: unknown;
  try {
    input = JSON.parse(call.arguments.trim() === "" ? "{}" : call.arguments);
  } catch (error) {
    const refusal = `The arguments are not valid JSON: ${asError(error).message}`;
    return { ...call, input: call.arguments, ...("refusal" in found ? found : { name: found.name, refusal }) };
  }
  if ("refusal" in found) return { ...call, input, ...found };
  const checked = await found.input.safeParseAsync(input);
  if (checked.success) return { ...call, name: found.name, input: checked.data, tool: found };
  const refusal = `The arguments do not fit the tool's schema:\n${z.prettifyError(checked.error)}`;
  return { ...call, name: found.name, input, refusal };
}

export interface RunCallOptions {
  /** Ends when the answer is aborted. */
  readonly signal: AbortSignal;
  /** Time that the run has left, if it has a deadline. */
  readonly deadlineMs?: number;
  /** The question's, for tools that look for something. */
  readonly filter?: Filter;
  readonly approve?: Approve | undefined;
  readonly approvalTimeoutMs: number;
  readonly maxResultTokens: number;
  readonly tokens: TokenCounter;
}

/**
 * Runs a call. Whatever goes wrong is a result that the model reads: refusals, errors, a time-out, a value that is no
 * JSON. Rejects only with the reason of an abort, also when the tool never returns.
 */
export async function runCall(call: ReadCall, options: RunCallOptions): Promise<RanCall> {
  const { id, name, arguments: written } = call;
  const fail = (error: string): RanCall => {
    const told = cut(error, options);
    return { exchange: { id, name, arguments: written, result: { error: told } }, error };
  };
  if ("refusal" in call) return fail(call.refusal);
  const { tool, input } = call;
  let decided: Pick<RanCall, "approved"> = {};
  try {
    if (tool.writes && options.approve) {
      const approved = await isApproved(options.approve, { name, input }, options);
      if (!approved) return { ...fail("The call was not approved; it was not carried out"), approved };
      decided = { approved };
    }
    const output = await runInTime(tool, input, options);
    if (tool.sources) {
      if (!isFindings(output))
        return { ...fail(`${name} did not return { hits }, as a tool with sources has to`), ...decided };
      const exchange = { id, name, arguments: written, result: { content: "" } };
      return { exchange, output, findings: output, ...decided };
    }
    const content = typeof output === "string" ? output : (JSON.stringify(output) ?? "done");
    const exchange = { id, name, arguments: written, result: { content: cut(content, options) } };
    return { exchange, output, ...decided };
  } catch (error) {
    options.signal.throwIfAborted();
    return { ...fail(asError(error).message), ...decided };
  }
}

/** Whether the answer is `true`: an error, another value, and none in time are a no. Rejects only with an abort's reason. */
async function isApproved(
  approve: Approve,
  asked: { readonly name: string; readonly input: unknown },
  { signal, deadlineMs, approvalTimeoutMs }: RunCallOptions,
): Promise<boolean> {
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), Math.min(approvalTimeoutMs, deadlineMs ?? Infinity));
  const either = AbortSignal.any([signal, overdue.signal]);
  try {
    const decision: unknown = await unlessAborted((async () => approve({ ...asked, signal: either }))(), either);
    return decision === true;
  } catch {
    signal.throwIfAborted();
    return false;
  } finally {
    clearTimeout(timer);
  }
}

function isFindings(output: unknown): output is Findings {
  return Array.isArray((output as { readonly hits?: unknown } | null | undefined)?.hits);
}

async function runInTime(
  tool: AnyTool,
  input: unknown,
  { signal, deadlineMs, filter }: RunCallOptions,
): Promise<unknown> {
  const timeoutMs = Math.min(tool.timeoutMs, deadlineMs ?? Infinity);
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(new Error(`The tool did not return within ${timeoutMs} ms`)), timeoutMs);
  const either = AbortSignal.any([signal, overdue.signal]);
  try {
    // The tool's own input type is gone here; what its schema returned is what it takes.
    const run = tool.run as (input: unknown, context: ToolContext) => unknown;
    return await unlessAborted((async () => run(input, { signal: either, ...(filter && { filter }) }))(), either);
  } finally {
    clearTimeout(timer);
  }
}

function cut(content: string, { maxResultTokens, tokens }: RunCallOptions): string {
  if (longestStart(content, (start) => tokens.count(start) <= maxResultTokens) === content) return content;
  const notice = `\n… (cut after ${maxResultTokens} tokens)`;
  return longestStart(content, (start) => tokens.count(start + notice) <= maxResultTokens) + notice;
}
