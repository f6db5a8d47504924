import { onTestFinished } from "vitest";
import { type Transport, createTransport } from "../../src/transport/transport.js";
import type { TransportOptions } from "../../src/transport/options.js";
import { type ScriptedReply, type ScriptedUpstream, scriptedUpstream } from "./scripted-upstream.js";

/** A transport to a scripted upstream, with short waits. Both are closed when the test ends. */
export async function transportFor(
  script: Parameters<typeof scriptedUpstream>[0],
  options: Partial<TransportOptions> = {},
): Promise<{ readonly transport: Transport; readonly upstream: ScriptedUpstream }> {
  const upstream = await scriptedUpstream(script);
  const transport = createTransport({
    baseUrl: upstream.baseUrl,
    apiKey: "sk-0123456789",
    backoffMs: 2,
    maxBackoffMs: 4,
    ...options,
  });
  onTestFinished(() => transport.close());
  return { transport, upstream };
}

/** An embeddings reply: one vector of two numbers per text, the first being its position. */
export function vectors(count: number): ScriptedReply {
  const data = Array.from({ length: count }, (_, index) => ({ object: "embedding", index, embedding: [index, 1] }));
  return { json: { object: "list", model: "test/embed", data, usage: { prompt_tokens: count, total_tokens: count } } };
}

/** A streamed chunk with this delta. */
export function chunk(delta: unknown, more: object = {}): object {
  return { id: "c1", model: "test/chat", choices: [{ index: 0, delta, ...more }] };
}

/** A short stream of these texts that then stops. */
export function streamed(...texts: readonly string[]): ScriptedReply {
  return {
    sse: [...texts.map((content) => chunk({ content })), chunk({}, { finish_reason: "stop" }), "[DONE]"],
  };
}

/** The reason that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}
