import { shown } from "../../core/check-port.js";
import { OptionsError, TransportError } from "../../core/errors.js";
import { isRecord } from "../../core/json.js";
import type { CallOptions, ChatEvent, ChatModel, ChatRequest } from "../../core/ports.js";
import { endUnlessAborted, unlessAborted } from "../../core/stream.js";

/** Fields of each event that hold text. */
const textFields: Readonly<Record<ChatEvent["type"], readonly string[]>> = {
  "text-delta": ["text"],
  "reasoning-delta": ["text"],
  "tool-call": ["id", "name", "arguments"],
  finish: ["model"],
};

const reasons: Readonly<Record<Extract<ChatEvent, { type: "finish" }>["reason"], true>> = {
  stop: true,
  length: true,
  "tool-calls": true,
  "content-filter": true,
  other: true,
};

/**
 * Streams one reply of a model, each event checked: a model of the caller's may yield anything where nothing checks its types.
 *
 * @throws OptionsError that names the event and the field that is not what `ChatEvent` says.
 */
export async function* chatEvents(
  model: ChatModel,
  request: ChatRequest,
  call: CallOptions & { readonly signal: AbortSignal },
): AsyncGenerator<ChatEvent> {
  const events: unknown = model.stream(request, call);
  if (!isAsyncIterable(events)) {
    throw refusal(model, `must return a stream of events, such as an async generator does (got ${shown(events)})`);
  }
  const iterator: unknown = events[Symbol.asyncIterator]();
  if (!isRecord(iterator) || typeof iterator["next"] !== "function") {
    throw refusal(model, `returned a stream whose iterator is ${shown(iterator)} without next()`);
  }
  const steps = iterator as unknown as AsyncIterator<unknown>;
  const overdue = new AbortController();
  const timer = limitTime(model, call, overdue);
  const signal = AbortSignal.any([call.signal, overdue.signal]);
  let hasEnded = false;
  try {
    // A loop by for await would not end before the model does, and its errors about bad results would name no port.
    for (;;) {
      const result: unknown = await unlessAborted(Promise.resolve(steps.next()), signal);
      if (!isRecord(result)) {
        throw refusal(model, `returned a stream whose next() gave ${shown(result)}, not { value, done }`);
      }
      hasEnded = Boolean(result["done"]);
      if (hasEnded) return;
      const event = result["value"];
      const problem = problemOf(event);
      if (problem !== undefined) throw refusal(model, problem);
      yield event as ChatEvent;
    }
  } finally {
    try {
      if (!hasEnded) await endUnlessAborted(steps, signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A model that keeps to its deadline says more about its failure than that it is late. */
const graceMs = 500;
/** Longer timers fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Ends a model that does not keep to the deadline of its call. */
function limitTime({ model }: ChatModel, { deadlineMs }: CallOptions, overdue: AbortController) {
  if (deadlineMs === undefined || deadlineMs + graceMs > maxTimerMs) return undefined;
  const message = `${model} did not end its reply within the ${Math.round(deadlineMs)} ms that were left`;
  return setTimeout(() => overdue.abort(new TransportError("timeout", message)), Math.max(0, deadlineMs) + graceMs);
}

function refusal({ model }: ChatModel, problem: string): OptionsError {
  return new OptionsError("options", `chatModel.stream of ${model} ${problem}`, { option: "chatModel" });
}

function problemOf(event: unknown): string | undefined {
  const types = Object.keys(textFields);
  if (!isRecord(event)) return `yielded ${shown(event)}, not an event: { type: "text-delta", text }`;
  const { type } = event;
  if (typeof type !== "string" || !types.includes(type)) {
    return `yielded an event of the type ${shown(type)}; there are: ${types.join(", ")}`;
  }
  const bad = textFields[type as ChatEvent["type"]].find((field) => typeof event[field] !== "string");
  if (bad !== undefined) return `yielded a ${type} event whose ${bad} is ${shown(event[bad])}, not a text`;
  if (type !== "finish") return undefined;
  const { reason, usage, refusal: declined } = event;
  if (typeof reason !== "string" || !Object.hasOwn(reasons, reason)) {
    return `yielded a finish event whose reason is ${shown(reason)}; there are: ${Object.keys(reasons).join(", ")}`;
  }
  if (declined !== undefined && typeof declined !== "string") {
    return `yielded a finish event whose refusal is ${shown(declined)}, not a text`;
  }
  if (usage === undefined) return undefined;
  const counts = isRecord(usage) ? [usage["inputTokens"], usage["outputTokens"]] : [usage];
  const uncounted = counts.findIndex((count) => typeof count !== "number" || !Number.isFinite(count));
  if (uncounted < 0) return undefined;
  return `yielded a finish event whose usage is not { inputTokens, outputTokens } of numbers (got ${shown(counts[uncounted])})`;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
