import { setTimeout as sleep } from "node:timers/promises";
import { defaultTokens } from "../text/tokens.js";
import { wordBounds, type Completion } from "./chat-completion.js";
import { pauses } from "./pause.js";

/** What all chunks of one reply share. */
export interface ReplyFrame {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** What services of this shape do differently from one another. */
export interface ChunkStyle {
  /** Which chunks carry the usage; `last` is the last that has choices. */
  readonly usage: "last" | "every" | "final-empty" | "none";
  /** What stands for id and name in later deltas of a tool call. */
  readonly toolCallFields: "missing" | "null" | "empty";
}

export interface ChunkPace {
  readonly eventDelayMs: number;
  readonly signal: AbortSignal;
  readonly style: ChunkStyle;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Words in one delta. */
const wordsPerDelta = 3;

/**
 * A reply as the chunks of a stream, choice after choice: role, thinking, content, calls, finish. Ends early, and
 * quietly, when the caller has gone.
 */
export async function* chatChunks(
  frame: ReplyFrame,
  completions: readonly Completion[],
  usage: Usage,
  { eventDelayMs, signal, style }: ChunkPace,
): AsyncGenerator {
  const pause = pauses(signal);
  let written = 0;
  try {
    for (const [index, completion] of completions.entries()) {
      for (const delta of deltas(completion, style)) {
        await (eventDelayMs > 0 ? sleep(eventDelayMs, undefined, { signal }) : pause());
        const one = chunk(frame, [{ index, delta, finish_reason: null }]);
        if (style.usage === "every") {
          written = Math.min(usage.completion_tokens, written + deltaTokens(delta));
          yield { ...one, usage: usageSoFar(usage, written) };
        } else yield one;
      }
      const last = index === completions.length - 1;
      const finish = chunk(frame, [{ index, delta: {}, finish_reason: completion.finishReason }]);
      const reported = style.usage === "every" || (last && style.usage === "last");
      yield reported ? { ...finish, usage: last ? usage : usageSoFar(usage, written) } : finish;
    }
    if (style.usage === "final-empty") yield { ...chunk(frame, []), usage };
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function usageSoFar(usage: Usage, completionTokens: number): Usage {
  return {
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: completionTokens,
    total_tokens: usage.prompt_tokens + completionTokens,
  };
}

function deltaTokens(delta: Delta): number {
  const { content, reasoning_content: reasoning, tool_calls: calls } = delta;
  return defaultTokens.count(`${reasoning ?? ""}${content ?? ""}${calls?.[0]?.function.arguments ?? ""}`);
}

function chunk({ id, created, model }: ReplyFrame, choices: readonly unknown[]): Readonly<Record<string, unknown>> {
  return { id, object: "chat.completion.chunk", created, model, choices };
}

interface Delta {
  readonly role?: "assistant";
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly ToolCallDelta[];
}

function* deltas({ reasoning, content, toolCalls }: Completion, { toolCallFields }: ChunkStyle): Generator<Delta> {
  yield { role: "assistant", content: "" };
  for (const text of slices(reasoning)) yield { content: null, reasoning_content: text };
  for (const text of slices(content)) yield { content: text, reasoning_content: null };
  const stand = toolCallFields === "null" ? null : "";
  for (const [index, call] of toolCalls.entries()) {
    const { name } = call.function;
    yield { tool_calls: [{ index, id: call.id, type: call.type, function: { name, arguments: "" } }] };
    for (const text of slices(call.function.arguments)) {
      const later: ToolCallDelta =
        toolCallFields === "missing"
          ? { index, function: { arguments: text } }
          : { index, id: stand, function: { name: stand, arguments: text } };
      yield { tool_calls: [later] };
    }
  }
}

interface ToolCallDelta {
  readonly index: number;
  readonly id?: string | null;
  readonly type?: "function";
  readonly function: { readonly name?: string | null; readonly arguments: string };
}

function* slices(text: string): Generator<string> {
  const { ends } = wordBounds(text);
  for (let at = 0, start = 0; start < text.length; at += wordsPerDelta) {
    const end = ends[Math.min(at + wordsPerDelta, ends.length) - 1] ?? text.length;
    yield text.slice(start, end);
    start = end;
  }
}
