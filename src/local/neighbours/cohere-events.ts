import { randomUUID } from "node:crypto";
import type { ChatChunk, OpenAiUsage } from "./reply-chunks.js";

const finishes = new Map([
  ["stop", "COMPLETE"],
  ["length", "MAX_TOKENS"],
  ["tool_calls", "TOOL_CALL"],
]);

export function cohereFinish(reason: string | null | undefined): string {
  return finishes.get(reason ?? "") ?? "ERROR";
}

export function cohereUsage(usage: OpenAiUsage | null | undefined): object {
  const tokens = { input_tokens: usage?.prompt_tokens ?? 0, output_tokens: usage?.completion_tokens ?? 0 };
  return { billed_units: tokens, tokens };
}

type Kind = "text" | "thinking" | "tool-call";

/** The events of Cohere's second version for the chunks of one reply. https://docs.cohere.com/v2/docs/streaming */
export async function* cohereEvents(chunks: AsyncIterable<ChatChunk>): AsyncGenerator<object> {
  const message = (fields: object) => ({ message: fields });
  const start = { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] };
  yield { type: "message-start", id: randomUUID(), delta: message(start) };
  let open: { readonly kind: Kind; readonly index: number } | undefined;
  let contents = 0;
  let reason: string | null | undefined;
  let usage: OpenAiUsage | null | undefined;
  function* close(): Generator<object> {
    if (open) yield { type: open.kind === "tool-call" ? "tool-call-end" : "content-end", index: open.index };
    open = undefined;
  }
  function* content(kind: "text" | "thinking", piece: string | null | undefined): Generator<object> {
    if (!piece) return;
    if (open?.kind !== kind) {
      yield* close();
      open = { kind, index: contents++ };
      yield { type: "content-start", index: open.index, delta: message({ content: { type: kind, [kind]: "" } }) };
    }
    yield { type: "content-delta", index: open.index, delta: message({ content: { [kind]: piece } }) };
  }
  for await (const { choices = [], usage: counted } of chunks) {
    usage = counted ?? usage;
    const { delta = {}, finish_reason } = choices[0] ?? {};
    reason = finish_reason ?? reason;
    yield* content("thinking", delta.reasoning_content);
    yield* content("text", delta.content);
    for (const { index = 0, id, function: call = {} } of delta.tool_calls ?? []) {
      if (open?.kind !== "tool-call" || open.index !== index) {
        yield* close();
        open = { kind: "tool-call", index };
        const begun = {
          id: id ?? `call_${randomUUID()}`,
          type: "function",
          function: { name: call.name ?? "", arguments: "" },
        };
        yield { type: "tool-call-start", index, delta: message({ tool_calls: begun }) };
      }
      if (call.arguments) {
        const more = { function: { arguments: call.arguments } };
        yield { type: "tool-call-delta", index, delta: message({ tool_calls: more }) };
      }
    }
  }
  yield* close();
  yield { type: "message-end", delta: { finish_reason: cohereFinish(reason), usage: cohereUsage(usage) } };
}
