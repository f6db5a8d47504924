import { randomUUID } from "node:crypto";
import { OpenAiChatRequest, type OpenAiMessage } from "../../dialects/openai-chat.js";
import type { ModelResponsesRequest, ResponsesMessage } from "../../dialects/openai-responses.js";
import {
  numberedEvents,
  type ResponseEvent,
  responseShape,
  type ResponseShape,
  ResponseWriter,
} from "../../dialects/openai-response-writer.js";
import { given } from "../../core/given.js";
import { isRecord } from "../../core/json.js";
import { violations } from "../../contract/operation.js";
import { invalidFields, invalidRequest, RequestFailure } from "../failure/request-failure.js";
import type { RouteContext } from "../route.js";
import { serveOpenAiChat } from "./chat.js";
import type { KeptItem, KeptResponses } from "./kept-responses.js";
import type { NeighbourReply } from "./neighbour-route.js";
import { type ChatChunk, type OpenAiUsage, replyChunks } from "./reply-chunks.js";

/** Answers a request of OpenAI's Responses API by way of a chat. Unless `store` is false, the response can be gone on from. */
export async function serveOpenAiResponse(body: ModelResponsesRequest, context: RouteContext): Promise<NeighbourReply> {
  if (body.background === true) throw invalidRequest("background: is not served: leave it out", "background");
  const before = previousItems(body, context.responses);
  const items = [...before, ...inputItems(body, context.responses)];
  const fields = chatFields(body, items);
  const found = violations({ request: OpenAiChatRequest }, fields, context.model);
  if (found.length > 0) throw invalidFields(found);
  const isStreamed = body.stream === true;
  const { ignored = [], ...reply } = await serveOpenAiChat(OpenAiChatRequest.parse(fields), {
    ...context,
    // The pause between events is that of events which a client sees.
    ...(!isStreamed && { eventDelayMs: 0 }),
  });
  if ("response" in reply && !reply.response.ok) return reply;
  const writer = new ResponseWriter(shapeOf(body));
  const events = responseEvents(replyChunks(reply), writer, () => {
    if (body.store !== false) context.responses.add(writer.response, items);
  });
  if (isStreamed) return { events: numberedEvents(events), isNamed: true, ignored };
  for await (const _ of events);
  return { json: writer.response, ignored };
}

/** `GET /v1/responses/{id}`. */
export function serveKeptResponse(
  { id }: { readonly id: string },
  { responses }: RouteContext,
): Promise<NeighbourReply> {
  return Promise.resolve({ json: keptResponse(id, "id", responses).response });
}

function shapeOf(body: ModelResponsesRequest): ResponseShape {
  const { model, text, tools, tool_choice, top_p, parallel_tool_calls } = body;
  const id = `resp_${randomUUID().replaceAll("-", "")}`;
  return {
    ...responseShape({ id, model, store: body.store !== false }, body),
    parallel_tool_calls: parallel_tool_calls ?? true,
    text: { format: text?.format ?? { type: "text" } },
    tools: tools ?? [],
    tool_choice: tool_choice ?? "auto",
    top_p: top_p ?? null,
  };
}

function previousItems({ previous_response_id: id }: ModelResponsesRequest, kept: KeptResponses): readonly KeptItem[] {
  return typeof id === "string" ? keptResponse(id, "previous_response_id", kept).items : [];
}

function keptResponse(id: string, field: string, kept: KeptResponses) {
  const found = kept.get(id);
  if (found) return found;
  const message = `There is no response ${JSON.stringify(id.slice(0, 100))}: one with store: false is not kept, and none longer than the service runs`;
  throw new RequestFailure("no-path", message, { field });
}

function inputItems({ input }: ModelResponsesRequest, kept: KeptResponses): KeptItem[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  return input.map((item) => {
    if (item.type !== "item_reference") return item;
    const found = kept.item(item.id);
    if (found) return found;
    throw new RequestFailure("no-path", `There is no item ${JSON.stringify(item["id"])}: send it whole`, {
      field: "input",
    });
  });
}

/** The request as a streamed chat. */
function chatFields(body: ModelResponsesRequest, items: readonly KeptItem[]): Readonly<Record<string, unknown>> {
  const { instructions, text, tools, tool_choice: choice, reasoning, max_output_tokens } = body;
  const { type, ...schema } = text?.format ?? { type: "text" };
  const named = (name: unknown) => ({ type: "function", function: { name } });
  return {
    model: body.model,
    messages: [
      ...(typeof instructions === "string" ? [{ role: "system", content: instructions }] : []),
      ...messagesOf(items),
    ],
    stream: true,
    stream_options: { include_usage: true },
    max_completion_tokens: max_output_tokens,
    temperature: body.temperature,
    top_p: body.top_p,
    response_format: type === "json_schema" ? { type, json_schema: schema } : { type },
    tools: tools?.map(({ type: kind, ...tool }, index) => {
      if (kind === "function") return { type: kind, function: tool };
      throw invalidRequest(`tools.${index}: ${kind} is not run here: only functions of the client's own`, "tools");
    }),
    tool_choice: !isRecord(choice)
      ? choice
      : choice["type"] === "allowed_tools"
        ? {
            type: "allowed_tools",
            allowed_tools: {
              mode: choice["mode"] ?? "auto",
              tools: ((choice["tools"] ?? []) as readonly { readonly name?: string }[]).map(({ name }) => named(name)),
            },
          }
        : named(choice["name"]),
    parallel_tool_calls: body.parallel_tool_calls,
    reasoning_effort: reasoning?.effort,
  };
}

/** The items as the messages of a chat. Calls that follow each other are those of one message. */
function messagesOf(items: readonly KeptItem[]): OpenAiMessage[] {
  const messages: OpenAiMessage[] = [];
  for (const item of items) {
    if (item.type === "function_call") {
      const { call_id, name, arguments: written } = item as { call_id: string; name: string; arguments: string };
      const call = { id: call_id, type: "function" as const, function: { name, arguments: written } };
      const last = messages.at(-1);
      if (last?.role === "assistant" && last.tool_calls) last.tool_calls.push(call);
      else messages.push({ role: "assistant", content: null, tool_calls: [call] });
    } else if (item.type === "function_call_output") {
      const { call_id, output } = item as { call_id: string; output: string | ResponsesMessage["content"] };
      messages.push({ role: "tool", tool_call_id: call_id, content: contentOf(output) });
    } else if (item.type !== "reasoning") {
      const { role, content } = item;
      messages.push({ role, content: contentOf(content) });
    }
  }
  return messages;
}

function contentOf(content: ResponsesMessage["content"]): OpenAiMessage["content"] {
  if (typeof content === "string") return content;
  return content.map(({ type, text, refusal, image_url: url, detail }) => {
    if (text !== undefined) return { type: "text", text };
    if (refusal !== undefined) return { type: "refusal", refusal };
    if (type === "input_image" && typeof url === "string") {
      return { type: "image_url", image_url: { url, ...given({ detail: detail as "auto" | undefined }) } };
    }
    throw invalidRequest(
      `input: a part of the type ${type} is not read here: send text, or an image by its url`,
      "input",
    );
  });
}

async function* responseEvents(
  chunks: AsyncIterable<ChatChunk>,
  writer: ResponseWriter,
  ended: () => void,
): AsyncGenerator<ResponseEvent> {
  let reason: string | null | undefined;
  let usage: OpenAiUsage | null | undefined;
  let call: number | undefined;
  yield* writer.begin();
  for await (const { choices = [], usage: counted } of chunks) {
    usage = counted ?? usage;
    const { delta = {}, finish_reason } = choices[0] ?? {};
    reason = finish_reason ?? reason;
    if (delta.reasoning_content) yield* writer.reasoning(delta.reasoning_content);
    if (delta.content) yield* writer.text(delta.content);
    for (const { index = 0, id, function: piece = {} } of delta.tool_calls ?? []) {
      if (call !== index) yield* writer.beginCall(id ?? `call_${randomUUID()}`, piece.name ?? "");
      call = index;
      if (piece.arguments) yield* writer.callArguments(piece.arguments);
    }
  }
  const isCut = reason === "length";
  const last = [
    ...writer.end({
      status: isCut ? "incomplete" : "completed",
      incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
      usage: usage ? usageOf(usage) : null,
    }),
  ];
  // Kept before its client hears of the end, and may go on from it.
  ended();
  yield* last;
}

function usageOf({ prompt_tokens = 0, completion_tokens = 0, completion_tokens_details: details }: OpenAiUsage) {
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: details?.reasoning_tokens ?? 0 },
    total_tokens: prompt_tokens + completion_tokens,
  };
}
