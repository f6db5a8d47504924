import { z } from "zod";
import type { ModelInfo } from "../../contract/catalogue.js";
import { chat, ChatRequest, maxOutputTokens, Message } from "../../contract/chat.js";
import type { OpenAiChatRequest } from "../../dialects/openai-chat.js";
import { violations } from "../../contract/operation.js";
import { invalidFields } from "../failure/request-failure.js";
import { serveChat, type ChatWishes } from "../http/chat-route.js";
import type { RouteContext } from "../route.js";
import { forwardedChat } from "./forwarded-chat.js";
import { contractMessages } from "./messages.js";
import type { NeighbourReply } from "./neighbour-route.js";

/** The contract's request without its bound on messages, which clients of the neighbours do not know. */
const anyMessages = ChatRequest.extend({ messages: z.array(Message).min(1) });

/** Answers a request of OpenAI's shape with the contract's engines; its replies have that shape already. */
export async function serveOpenAiChat(body: OpenAiChatRequest, context: RouteContext): Promise<NeighbourReply> {
  const { model } = context;
  const { fields, ignored } = withoutForeignFields(contractFields(body, model), model);
  const found = violations({ ...chat, request: anyMessages }, fields, model);
  if (found.length > 0) throw invalidFields(found);
  const request = anyMessages.parse(fields);
  const wishes = wishesOf(body);
  return {
    ...(await serveChat(context.forward.chat ? forwardedChat(request, wishes) : request, context, wishes)),
    ignored,
  };
}

/** The request in the contract's fields. */
function contractFields(body: OpenAiChatRequest, model: ModelInfo): Readonly<Record<string, unknown>> {
  const most = maxOutputTokens[model.type === "vlm" ? "vlm" : "llm"];
  const { top_p, stop, response_format } = body;
  return {
    model: body.model,
    messages: contractMessages(body.messages, model),
    stream: body.stream ?? false,
    max_tokens: Math.min(most, body.max_completion_tokens ?? body.max_tokens ?? most),
    ...optional("stop", typeof stop === "string" ? [stop] : stop?.length === 0 ? undefined : stop),
    ...optional("temperature", body.temperature),
    // OpenAI takes 0, the contract only what is above it.
    ...optional("top_p", typeof top_p === "number" ? Math.max(top_p, 0.001) : undefined),
    ...optional("frequency_penalty", body.frequency_penalty),
    ...optional("presence_penalty", body.presence_penalty),
    ...optional("n", body.n),
    ...(response_format && { response_format: { type: response_format.type === "text" ? "text" : "json_object" } }),
    ...optional("tools", toolsOf(body)),
    ...thinkingOf(body, model),
    ...optional("top_k", body.top_k),
  };
}

function optional(name: string, value: unknown): object {
  return value === undefined || value === null ? {} : { [name]: value };
}

/** The tools that may be called. */
function toolsOf({ tools, tool_choice: choice }: OpenAiChatRequest): readonly object[] | undefined {
  if (!tools || tools.length === 0) return undefined;
  const allowed =
    typeof choice === "object" && choice?.type === "allowed_tools"
      ? new Set(choice.allowed_tools.tools.map((tool) => tool.function.name))
      : undefined;
  return tools
    .filter((tool) => allowed?.has(tool.function.name) ?? true)
    .map(({ type, function: { name, description, parameters, strict } }) => ({
      type,
      function: {
        name,
        ...optional("description", description),
        ...optional("parameters", parameters),
        ...optional("strict", strict),
      },
    }));
}

/** Every family has a switch of its own for what OpenAI calls effort; a switch that is given by its own name wins. */
function thinkingOf(body: OpenAiChatRequest, { family }: ModelInfo): object {
  const { reasoning_effort: effort, enable_thinking, thinking_budget, min_p, thinking } = body;
  const own = {
    ...optional("enable_thinking", enable_thinking),
    ...optional("thinking_budget", thinking_budget),
    ...optional("min_p", min_p),
    ...optional("thinking", thinking),
  };
  if (!effort) return own;
  const thinks = effort !== "none" && effort !== "minimal";
  if (family === "Q3") return { enable_thinking: thinks, ...own };
  if (family === "D") return { thinking: { type: thinks ? "enabled" : "disabled" }, ...own };
  const level = effort === "minimal" ? "none" : effort === "xhigh" || effort === "max" ? "high" : effort;
  return { reasoning_effort: level, ...own };
}

/** Fields that this model does not take are left out rather than refused, and named. */
function withoutForeignFields(
  fields: Readonly<Record<string, unknown>>,
  model: ModelInfo,
): { readonly fields: Readonly<Record<string, unknown>>; readonly ignored: readonly string[] } {
  const broken = violations({ ...chat, request: anyMessages }, fields, model);
  const ignored = broken.filter(({ rule, field }) => rule === "family" || field === "tools").map(({ field }) => field);
  return { fields: Object.fromEntries(Object.entries(fields).filter(([name]) => !ignored.includes(name))), ignored };
}

/** The part of the request that the contract has no field for. */
function wishesOf({
  tool_choice,
  parallel_tool_calls: parallel,
  tools,
  response_format,
  stream_options,
}: OpenAiChatRequest): ChatWishes {
  const schema = response_format?.type === "json_schema" ? (response_format.json_schema.schema ?? {}) : undefined;
  const choice =
    typeof tool_choice === "object" && tool_choice?.type === "allowed_tools"
      ? tool_choice.allowed_tools.mode
      : tool_choice;
  const toolChoice = typeof choice === "object" ? choice && { name: choice.function.name } : choice;
  if (typeof toolChoice === "object" && toolChoice !== null) {
    const named = tools?.some((tool) => tool.function.name === toolChoice.name);
    if (named !== true) {
      const message = `${JSON.stringify(toolChoice.name)} is not the name of one of the tools`;
      throw invalidFields([{ field: "tool_choice", message }]);
    }
  }
  return {
    ...(schema && { schema }),
    ...(toolChoice && toolChoice !== "auto" && { toolChoice }),
    ...(typeof parallel === "boolean" && { parallelToolCalls: parallel }),
    usage: stream_options?.include_usage === true ? "final-empty" : "none",
  };
}
