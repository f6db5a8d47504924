import { EventSourceParserStream } from "eventsource-parser/stream";
import { parsedJson } from "../../core/json.js";
import type { NeighbourReply } from "./neighbour-route.js";

export interface OpenAiUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
}

/** A chunk of a stream of OpenAI's shape, as far as it is read. */
export interface ChatChunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly {
        readonly index?: number;
        readonly id?: string | null;
        readonly function?: { readonly name?: string | null; readonly arguments?: string | null };
      }[];
    };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: OpenAiUsage | null;
}

/** The chunks of a streamed chat, made here or by the service that it was forwarded to. */
export function replyChunks(reply: NeighbourReply): AsyncIterable<ChatChunk> {
  if ("events" in reply) return reply.events as AsyncIterable<ChatChunk>;
  return chunksOf("response" in reply ? reply.response : new Response());
}

async function* chunksOf({ body }: Response): AsyncGenerator<ChatChunk> {
  if (!body) return;
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) {
    if (data === "[DONE]") return;
    const chunk = parsedJson(data);
    if (chunk !== undefined) yield chunk as ChatChunk;
  }
}
