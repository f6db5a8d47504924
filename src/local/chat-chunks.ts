import { setTimeout as sleep } from "node:timers/promises";
import { wordBounds, type Completion } from "./chat-completion.js";
import { pauses } from "./pause.js";

/** What all chunks of one reply share. */
export interface ReplyFrame {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

export interface ChunkPace {
  readonly eventDelayMs: number;
  readonly signal: AbortSignal;
}

/** Words in one delta. */
const wordsPerDelta = 3;

/**
 * A reply as the chunks of a stream, choice after choice: role, thinking, content, calls, finish. The last chunk that
 * has choices carries the usage. Ends early, and quietly, when the caller has gone.
 */
export async function* chatChunks(
  frame: ReplyFrame,
  completions: readonly Completion[],
  usage: unknown,
  { eventDelayMs, signal }: ChunkPace,
): AsyncGenerator {
  const pause = pauses(signal);
  try {
    for (const [index, completion] of completions.entries()) {
      for (const delta of deltas(completion)) {
        await (eventDelayMs > 0 ? sleep(eventDelayMs, undefined, { signal }) : pause());
        yield chunk(frame, { index, delta, finish_reason: null });
      }
      const last = index === completions.length - 1;
      const finish = chunk(frame, { index, delta: {}, finish_reason: completion.finishReason });
      yield last ? { ...finish, usage } : finish;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function chunk({ id, created, model }: ReplyFrame, choice: unknown): Readonly<Record<string, unknown>> {
  return { id, object: "chat.completion.chunk", created, model, choices: [choice] };
}

function* deltas({ reasoning, content, toolCalls }: Completion): Generator {
  yield { role: "assistant", content: "" };
  for (const text of slices(reasoning)) yield { content: null, reasoning_content: text };
  for (const text of slices(content)) yield { content: text, reasoning_content: null };
  for (const [index, call] of toolCalls.entries()) {
    const { name } = call.function;
    yield { tool_calls: [{ index, id: call.id, type: call.type, function: { name, arguments: "" } }] };
    for (const text of slices(call.function.arguments)) {
      yield { tool_calls: [{ index, function: { arguments: text } }] };
    }
  }
}

function* slices(text: string): Generator<string> {
  const { ends } = wordBounds(text);
  for (let at = 0, start = 0; start < text.length; at += wordsPerDelta) {
    const end = ends[Math.min(at + wordsPerDelta, ends.length) - 1] ?? text.length;
    yield text.slice(start, end);
    start = end;
  }
}
