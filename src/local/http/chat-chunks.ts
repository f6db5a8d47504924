import { setTimeout as sleep } from "node:timers/promises";
import { defaultTokens } from "../../text/tokens/tokens.js";
import type { Completion } from "./chat-completion.js";
import { pauses } from "../engines/pause.js";
import type { FaultSettings } from "../faults/faults.js";

/** The fields that all chunks of one reply share. */
export interface ReplyFrame {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

export interface ChunkPace {
  readonly eventDelayMs: number;
  readonly signal: AbortSignal;
  readonly style: ChunkStyle;
}

/** The details in which services of this shape differ. */
type ChunkStyle = Pick<FaultSettings["stream"], "usage" | "toolCallFields">;

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Words in one delta. */
const wordsPerDelta = 3;

/**
 * A reply as the chunks of a stream, for each choice: role, thinking, content, calls, finish. Several choices take turns, as those
 * of a model that writes them at once do. Ends early, and quietly, when the caller has gone.
 */
export async function* chatChunks(
  frame: ReplyFrame,
  completions: readonly Completion[],
  usage: Usage,
  { eventDelayMs, signal, style }: ChunkPace,
): AsyncGenerator {
  const pause = pauses(signal);
  const { id, created, model } = frame;
  const chunk = (choices: readonly object[], counted?: Usage) => ({
    id,
    object: "chat.completion.chunk",
    created,
    model,
    choices,
    ...(counted && { usage: counted }),
  });
  const every = style.usage === "every";
  let written = 0;
  try {
    let open = completions.map((completion, index) => ({ completion, index, rest: deltas(completion, style) }));
    while (open.length > 0) {
      const unfinished: typeof open = [];
      for (const [turn, choice] of open.entries()) {
        const { completion, index, rest } = choice;
        const next = rest.next();
        if (!next.done) {
          const { text, delta } = next.value;
          await (eventDelayMs > 0 ? sleep(eventDelayMs, undefined, { signal }) : pause());
          if (every) written = Math.min(usage.completion_tokens, written + defaultTokens.count(text));
          yield chunk([{ index, delta, finish_reason: null }], every ? usageSoFar(usage, written) : undefined);
          unfinished.push(choice);
          continue;
        }
        const last = unfinished.length === 0 && turn === open.length - 1;
        const counted =
          last && (every || style.usage === "last") ? usage : every ? usageSoFar(usage, written) : undefined;
        yield chunk([{ index, delta: {}, finish_reason: completion.finishReason }], counted);
      }
      open = unfinished;
    }
    if (style.usage === "final-empty") yield chunk([], usage);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function usageSoFar({ prompt_tokens }: Usage, completion_tokens: number): Usage {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** The deltas of one choice, each with the text that it adds. */
function* deltas(
  { reasoning, content, toolCalls }: Completion,
  { toolCallFields }: ChunkStyle,
): Generator<{ readonly text: string; readonly delta: object }> {
  yield { text: "", delta: { role: "assistant", content: "" } };
  for (const text of slices(reasoning)) yield { text, delta: { content: null, reasoning_content: text } };
  for (const text of slices(content)) yield { text, delta: { content: text, reasoning_content: null } };
  // JSON leaves out what is undefined.
  const later = { missing: undefined, null: null, empty: "" }[toolCallFields];
  for (const [index, { id, type, function: call }] of toolCalls.entries()) {
    yield { text: "", delta: { tool_calls: [{ index, id, type, function: { name: call.name, arguments: "" } }] } };
    for (const text of slices(call.arguments)) {
      yield { text, delta: { tool_calls: [{ index, id: later, function: { name: later, arguments: text } }] } };
    }
  }
}

function* slices(text: string): Generator<string> {
  const { ends } = defaultTokens.measure(text);
  for (let index = 0, start = 0; start < text.length; index += wordsPerDelta) {
    const end = ends[Math.min(index + wordsPerDelta, ends.length) - 1] ?? text.length;
    yield text.slice(start, end);
    start = end;
  }
}
