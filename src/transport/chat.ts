import {
  type ChatRequest as ContractChatRequest,
  type RoleToolMessage,
  chat as operation,
  chatDefaults,
  maxOutputTokens,
  roleToolChat,
} from "../contract/chat.js";
import type { z } from "zod";
import { TransportError } from "../errors.js";
import type { CallOptions, ToolMessages } from "../ports.js";
import { ChatReader } from "./chat-reader.js";
import type { ChatResult, ChatStreamEvent } from "./chat-result.js";
import { type Failure, badReply } from "./failure.js";
import { checkRequest, requireRequest, withoutDefaults } from "./prepare.js";
import type { Call, Upstream } from "./upstream.js";

/** The contract's request. `stream` is set by the method; `stop` may be one sequence. */
export type TransportChatRequest = Omit<ContractChatRequest, "stream" | "stop" | "messages"> & {
  readonly messages: z.input<typeof RoleToolMessage>[];
  readonly stop?: string | string[] | null;
};

export interface ChatCallOptions extends CallOptions {
  /** `role-tool`: messages of the role `tool` and calls in those of the assistant may be sent. Default: `user-xml`. */
  readonly toolMessages?: ToolMessages;
  /**
   * Fields that the contract does not have, such as `tool_choice`, for services that take them. They go out as they are,
   * and nothing checks them. Default: none.
   */
  readonly extra?: Readonly<Record<string, unknown>>;
}

type ChatBody = Omit<ContractChatRequest, "messages"> & Pick<TransportChatRequest, "messages">;

/** Tokens of a reply when the caller names no number: the service's own default of 512 cuts most answers. */
export const defaultMaxTokens = { llm: 4096, vlm: 2048 } as const;

/** A whole reply; one that comes as a stream nevertheless is put together. */
export function chat(upstream: Upstream, request: TransportChatRequest, call: ChatCallOptions): Promise<ChatResult> {
  const whole = chatCall(upstream, request, { ...call, stream: false }, async (reader) => {
    for (let events = await reader.read(); events; events = await reader.read()) {
      const last = events.at(-1);
      if (last?.type === "finish") {
        reader.close();
        return last.result;
      }
    }
    throw badReply("the reply has no end");
  });
  const { switchToStream } = upstream.settings;
  const learned = (result: ChatResult) => told(upstream, result);
  const body = { ...whole.body, stream: true, ...usageWish(upstream) };
  const streamed = { ...whole, body, accept: "text/event-stream" as const, learned };
  const instead = ({ status }: Failure) => (status === 503 || status === 504 ? streamed : undefined);
  return upstream.perform({ ...whole, learned, ...(switchToStream && { instead }) }, call);
}

/**
 * A reply while it is made. Sent again as any call is until its first event is here, and never after. Leaving the loop
 * closes the connection.
 */
export async function* chatStream(
  upstream: Upstream,
  request: TransportChatRequest,
  options: ChatCallOptions,
): AsyncGenerator<ChatStreamEvent, void, undefined> {
  const call = chatCall(upstream, request, { ...options, stream: true }, async (opened) => ({
    reader: opened,
    first: await opened.read(),
  }));
  const scope = upstream.open(call, options);
  let reader: ChatReader | undefined;
  try {
    const started = await upstream.attempt(call, scope);
    reader = started.reader;
    for (let events = started.first; events; events = await reader.read()) {
      // Not yield*: over a list it waits for every item twice.
      for (const event of events) {
        if (event.type === "finish") upstream.answered(scope, told(upstream, event.result));
        yield event;
      }
    }
  } catch (thrown) {
    throw upstream.explain(call, thrown, scope);
  } finally {
    reader?.close();
    upstream.end(scope);
  }
}

/** The result; that it was cut short is said aloud. */
function told(upstream: Upstream, result: ChatResult): ChatResult {
  if (result.finishReason === "length") {
    upstream.warn(operation.name, result.model, "the reply was cut short where it reached max_tokens");
  }
  return result;
}

type ChatForm = Pick<ChatCallOptions, "toolMessages" | "extra"> & { readonly stream: boolean };

function usageWish({ settings }: Upstream): object {
  return settings.streamUsage ? { stream_options: { include_usage: true } } : {};
}

/** @throws TransportError (`request`) for a field that the contract has: it would go out unchecked. */
function checkExtra(extra: Readonly<Record<string, unknown>>): void {
  const own = Object.keys(extra).filter((field) => field in operation.request.shape);
  if (own.length === 0) return;
  throw new TransportError(
    "request",
    `${operation.name}: extra.${own[0]}: belongs into the request itself, where it is checked`,
    { operation: operation.name },
  );
}

function chatCall<T>(
  upstream: Upstream,
  request: TransportChatRequest,
  { stream, toolMessages, extra = {} }: ChatForm,
  read: (reader: ChatReader) => Promise<T>,
): Call<T> & { readonly body: ChatBody } {
  requireRequest(operation.name, request);
  const { model } = request;
  checkExtra(extra);
  const { streamIdleMs: idleMs, streamPayloadIdleMs: payloadIdleMs, thinkTags } = upstream.settings;
  return {
    operation,
    model,
    body: { ...chatBody(upstream, request, { stream, toolMessages }), ...(stream && usageWish(upstream)), ...extra },
    accept: stream ? "text/event-stream" : "application/json",
    read: (exchange) => read(new ChatReader(exchange, model, { idleMs, payloadIdleMs }, thinkTags)),
  };
}

function chatBody(upstream: Upstream, request: TransportChatRequest, { stream, toolMessages }: ChatForm): ChatBody {
  const { stop, ...rest } = request;
  const { type: known, family } = upstream.models.find(({ id }) => id === request.model) ?? {};
  const vision = known === undefined ? hasParts(request) : known === "vlm";
  const type = vision ? "vlm" : "llm";
  const body: ChatBody = {
    ...rest,
    ...(stop !== undefined && { stop: typeof stop === "string" ? [stop] : stop }),
    stream,
    max_tokens: request.max_tokens ?? Math.min(defaultMaxTokens[type], maxOutputTokens[type]),
  };
  if (toolMessages === "role-tool") checkRequest(roleToolChat, body, upstream, type);
  else checkRequest(operation, body, upstream, type);
  if (body.response_format?.type === "json_object" && !/json/i.test(JSON.stringify(body.messages))) {
    upstream.warn(operation.name, body.model, "no message says json, which services want of a reply in json_object");
  }
  const ignored =
    family === "D" && body.thinking?.type !== "disabled" ? samplingFields.filter((each) => each in body) : [];
  if (ignored.length > 0) {
    upstream.warn(operation.name, body.model, `models of the D family ignore ${ignored.join(", ")} while they think`);
  }
  return withoutDefaults(body, leftOut);
}

const samplingFields = ["temperature", "top_p", "presence_penalty", "frequency_penalty"] as const;

/** A model that the catalogue lacks takes pictures if it is sent some. */
function hasParts({ messages }: TransportChatRequest): boolean {
  return Array.isArray(messages) && messages.some((message) => Array.isArray(message.content));
}

const { stream: _stream, max_tokens: _maxTokens, ...sampling } = chatDefaults;

/** Fields that say what the service does anyway. `stream` and `max_tokens` always go out. */
const leftOut = { ...sampling, thinking: { type: "enabled" }, response_format: { type: "text" } };
