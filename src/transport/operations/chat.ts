import { z } from "zod";
import { chat as operation, maxOutputTokens, roleToolChat } from "../../contract/chat.js";
import { callOptions } from "../../core/call-options.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { CallOptions, ToolMessages } from "../../core/ports.js";
import type { Call, Caller } from "../calls/caller.js";
import { chatBytes } from "../calls/reply-size.js";
import { type Failure, badReply } from "../failures/failure.js";
import type { TransportChatRequest } from "./chat-request.js";
import type { ChatResult, ChatStreamEvent } from "./chat-result.js";
import type { ChatReader } from "./chat/chat-reader.js";
import { checkRequest, requestError, requireRequest } from "./check-request.js";
import { chatShape as shape } from "../service-shape.js";

export interface ChatCallOptions extends CallOptions {
  /**
   * `role-tool`: allows messages of the role `tool`, and calls in those of the assistant, which services other than the
   * contract's always may. Default: `user-xml`.
   */
  readonly toolMessages?: ToolMessages;
  /**
   * Fields that neither the contract nor the table of services has, for services that take them. They are sent as they are
   * and unchecked. Default: none.
   */
  readonly extra?: Readonly<Record<string, unknown>>;
}

const chatCallOptions = optionsOf<ChatCallOptions>()({
  ...callOptions.shape,
  toolMessages: z.enum(["user-xml", "role-tool"]).optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
});

/** Tokens of a reply when the caller names no number: the contract's default of 512 cuts most answers. @internal */
export const defaultMaxTokens = { llm: 4096, vlm: 2048 } as const;

/** Returns a whole reply; one that is streamed all the same is put together. @internal */
export function chat(caller: Caller, request: TransportChatRequest, given: ChatCallOptions): Promise<ChatResult> {
  const { toolMessages, extra, ...options } = resolve("chat", chatCallOptions, given);
  const call = chatCall(caller, request, { toolMessages, extra }, async (reader) => {
    for (let events = await reader.read(); events; events = await reader.read()) {
      const last = events.at(-1);
      if (last?.type === "finish") {
        reader.close();
        return last.result;
      }
    }
    throw badReply("the reply has no end");
  });
  const facts = (result: ChatResult) => withWarning(caller, result);
  const instead = ({ status }: Failure) => (status === 503 || status === 504 ? { ...call(true), facts } : undefined);
  return caller.perform({ ...call(false), facts, ...(caller.settings.switchToStream && { instead }) }, options);
}

/**
 * Streams a reply. It is sent again as any call is until its first event is here, and never after. Leaving the loop
 * closes the connection.
 * @internal
 */
export async function* chatStream(
  caller: Caller,
  request: TransportChatRequest,
  given: ChatCallOptions,
): AsyncGenerator<ChatStreamEvent, void, undefined> {
  const { toolMessages, extra, ...options } = resolve("chatStream", chatCallOptions, given);
  const call = chatCall(caller, request, { toolMessages, extra }, async (opened) => ({
    reader: opened,
    first: await opened.read(),
  }))(true);
  const ongoing = caller.open(call, options);
  let reader: ChatReader | undefined;
  try {
    const started = await caller.attempt({ ...call, facts: () => undefined }, ongoing);
    reader = started.reader;
    for (let events = started.first; events; events = await reader.read()) {
      // yield* over a list would wait for every item twice.
      for (const event of events) {
        if (event.type === "finish") caller.answered(ongoing, withWarning(caller, event.result));
        yield event;
      }
    }
  } catch (thrown) {
    throw caller.explain(call, thrown, ongoing);
  } finally {
    reader?.close();
    caller.end(ongoing);
  }
}

/** Returns the result, and warns when it was cut short. */
function withWarning(caller: Caller, result: ChatResult): ChatResult {
  if (result.choices.some(({ finishReason }) => finishReason === "length")) {
    caller.warn(operation.name, result.model, "the reply was cut short where it reached max_tokens");
  }
  return result;
}

type ChatForm = Pick<ChatCallOptions, "toolMessages" | "extra">;

/** Checks a request, and describes the call for it, streamed or not. */
function chatCall<T>(
  caller: Caller,
  request: TransportChatRequest,
  { toolMessages, extra = {} }: ChatForm,
  read: (reader: ChatReader) => Promise<T>,
): (stream: boolean) => Call<T> {
  requireRequest(operation.name, request);
  const { settings } = caller;
  const { model } = request;
  const taken: object = (caller.serviceRequests?.chat ?? operation).request.shape;
  const known = Object.keys(extra).find((field) => field in taken);
  if (known !== undefined) {
    throw requestError(operation.name, `extra.${known}: belongs into the request itself, where it is checked`);
  }
  const checked = checkedRequest(caller, request, toolMessages);
  return (stream) => ({
    operation: operation.name,
    model,
    body: { ...shape.body({ ...checked, stream }, settings), ...extra },
    replyBytes: chatBytes(checked),
    accept: stream ? "text/event-stream" : "application/json",
    read: async (exchange) => {
      const { ChatReader: Reader } = await import("./chat/chat-reader.js");
      return read(new Reader(exchange, checked, settings));
    },
  });
}

/** The request with what always goes out; warns of what services ignore. */
function checkedRequest(caller: Caller, request: TransportChatRequest, toolMessages: ToolMessages | undefined) {
  const { stop, ...rest } = request;
  const { type: known, family } = caller.models.find(({ id }) => id === request.model) ?? {};
  const vision = known === undefined ? hasParts(request) : known === "vlm";
  const type = vision ? "vlm" : "llm";
  const service = caller.serviceRequests?.chat;
  const maxTokens =
    request.max_tokens ?? (service ? undefined : Math.min(defaultMaxTokens[type], maxOutputTokens[type]));
  const body = {
    ...rest,
    ...(stop !== undefined && { stop: typeof stop === "string" ? [stop] : stop }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  };
  if (service) checkRequest(service, body, caller, type);
  else if (toolMessages === "role-tool") checkRequest(roleToolChat, body, caller, type);
  else checkRequest(operation, body, caller, type);
  if (body.response_format?.type === "json_object" && !/json/i.test(JSON.stringify(body.messages))) {
    const message = "no message says json, although services require the word for a reply in json_object";
    caller.warn(operation.name, body.model, message);
  }
  const thinks = family === "D" && body.thinking?.type !== "disabled";
  const ignored = thinks ? samplingFields.filter((field) => field in body) : [];
  if (ignored.length > 0) {
    caller.warn(operation.name, body.model, `models of the D family ignore ${ignored.join(", ")} while they think`);
  }
  return body;
}

const samplingFields = ["temperature", "top_p", "presence_penalty", "frequency_penalty"] as const;

/** A model that the catalogue lacks takes pictures if it is sent some. */
function hasParts({ messages }: TransportChatRequest): boolean {
  return Array.isArray(messages) && messages.some((message) => Array.isArray(message.content));
}
