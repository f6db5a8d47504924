import { onTestFinished } from "vitest";
import { type Transport, createTransport } from "../../src/transport/transport.js";
import type { TransportOptions } from "../../src/transport/options.js";
import { type ScriptedReply, type ScriptedUpstream, scriptedUpstream } from "./scripted-upstream.js";

/** A transport before a scripted upstream. Waits are short; both are closed when the test ends. */
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

/** A reply to embeddings: one vector of two numbers per text, the first its position. */
export function vectors(count: number): ScriptedReply {
  const data = Array.from({ length: count }, (_, index) => ({ object: "embedding", index, embedding: [index, 1] }));
  return { json: { object: "list", model: "test/embed", data, usage: { prompt_tokens: count, total_tokens: count } } };
}

/** A streamed chunk with this delta. */
export function chunk(delta: unknown, more: object = {}): object {
  return { id: "c1", model: "test/chat", choices: [{ index: 0, delta, ...more }] };
}

/** A short stream that says these texts and stops. */
export function streamed(...texts: readonly string[]): ScriptedReply {
  return {
    sse: [...texts.map((content) => chunk({ content })), chunk({}, { finish_reason: "stop" }), "[DONE]"],
  };
}

/** What a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}
