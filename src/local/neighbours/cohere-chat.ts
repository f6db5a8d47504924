import { randomUUID } from "node:crypto";
import type { CohereChatRequest, CohereMessage } from "../../dialects/cohere-requests.js";
import { OpenAiChatRequest, type OpenAiMessage } from "../../dialects/openai-chat.js";
import { given } from "../../core/given.js";
import type { RouteContext } from "../route.js";
import { serveOpenAiChat } from "./chat.js";
import { cohereEvents, cohereFinish, cohereUsage } from "./cohere-events.js";
import type { NeighbourReply } from "./neighbour-route.js";
import { type OpenAiUsage, replyChunks } from "./reply-chunks.js";

interface Completion {
  readonly choices: readonly {
    readonly finish_reason: string | null;
    readonly message: {
      readonly content: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly object[];
    };
  }[];
  readonly usage?: OpenAiUsage;
}

/** Answers a chat of Cohere's second version by way of the request and the reply of OpenAI's shape. */
export async function serveCohereChat(body: CohereChatRequest, context: RouteContext): Promise<NeighbourReply> {
  const { ignored = [], ...reply } = await serveOpenAiChat(OpenAiChatRequest.parse(openAiFields(body)), context);
  if ("response" in reply && !reply.response.ok) return reply;
  if (body.stream === true) return { events: cohereEvents(replyChunks(reply)), ignored };
  const completion = (
    "json" in reply ? reply.json : await (reply as { response: Response }).response.json()
  ) as Completion;
  return { json: cohereReply(completion), ignored };
}

function openAiFields(body: CohereChatRequest): object {
  const { tool_choice: choice, response_format: format, thinking } = body;
  return {
    model: body.model,
    messages: body.messages.map(openAiMessage),
    stream: body.stream,
    stream_options: { include_usage: true },
    tools: body.tools,
    ...(choice && { tool_choice: choice === "REQUIRED" ? "required" : "none" }),
    ...(format && {
      response_format: format.json_schema
        ? { type: "json_schema", json_schema: { schema: format.json_schema } }
        : { type: format.type },
    }),
    max_tokens: body.max_tokens,
    stop: body.stop_sequences,
    temperature: body.temperature,
    frequency_penalty: body.frequency_penalty,
    presence_penalty: body.presence_penalty,
    top_k: body.k,
    top_p: body.p,
    ...(thinking && { reasoning_effort: thinking.type === "enabled" ? "medium" : "none" }),
    ...(thinking?.type === "enabled" && given({ thinking_budget: thinking.token_budget ?? undefined })),
  };
}

function openAiMessage(message: CohereMessage): OpenAiMessage {
  if (message.role === "tool") {
    return { role: "tool", tool_call_id: message.tool_call_id, content: toolText(message.content) };
  }
  if (message.role !== "assistant") return message;
  const { content, tool_plan: plan, tool_calls } = message;
  const parts =
    typeof content === "string" ? [content] : (content ?? []).map((part) => (part.type === "text" ? part.text : ""));
  const text = [plan ?? "", ...parts].filter((part) => part !== "").join("\n");
  return { role: "assistant", content: text, ...(tool_calls && { tool_calls }) };
}

function toolText(content: Extract<CohereMessage, { readonly role: "tool" }>["content"]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => {
      if (part.type === "text") return part.text;
      const { data } = part.document;
      return typeof data === "string" ? data : JSON.stringify(data);
    })
    .join("\n");
}

function cohereReply({ choices, usage }: Completion): object {
  const { message, finish_reason: reason } = choices[0]!;
  const { content, reasoning_content: thinking, tool_calls } = message;
  const parts = [
    ...(thinking ? [{ type: "thinking", thinking }] : []),
    ...(content ? [{ type: "text", text: content }] : []),
  ];
  return {
    id: randomUUID(),
    finish_reason: cohereFinish(reason),
    message: {
      role: "assistant",
      ...(parts.length > 0 && { content: parts }),
      ...(tool_calls && tool_calls.length > 0 && { tool_calls }),
    },
    usage: cohereUsage(usage),
  };
}
