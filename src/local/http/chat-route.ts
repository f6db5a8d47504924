import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { ModelInfo } from "../../contract/catalogue.js";
import { chatDefaults, type ChatRequest, type Message } from "../../contract/chat.js";
import { imageFacts } from "../../media/image-header.js";
import { defaultTokens, messageFrameTokens, pictureTokens } from "../../text/tokens/tokens.js";
import { chatChunks } from "./chat-chunks.js";
import { complete, type CompletionLimits } from "./chat-completion.js";
import type { ChatPrompt, EngineMessage } from "../engines/engines.js";
import { bytesOfDataUrl } from "../engines/data-url.js";
import { invalidFields, RequestFailure } from "../failure/request-failure.js";
import { forwardRequest } from "./forward.js";
import type { ModelContext, RouteReply } from "../route.js";

type Request = z.output<typeof ChatRequest>;

/** Request settings that the contract has no field for. */
export interface ChatWishes extends Pick<ChatPrompt, "toolChoice" | "parallelToolCalls" | "schema"> {
  /** Place at which a stream reports its tokens. Default: that of the faults. */
  readonly usage?: "final-empty" | "none";
}

export async function serveChat(
  request: Request,
  { model, engines, maxChoices, eventDelayMs, faults, forward, admit, signal }: ModelContext,
  { usage: usagePlace, ...wishes }: ChatWishes = {},
): Promise<RouteReply> {
  const count = request.n ?? chatDefaults.n;
  if (count > maxChoices) throw invalidFields([{ field: "n", message: `is ${count}, at most ${maxChoices}` }]);
  const messages = request.messages.map(engineMessage);
  const promptTokens = countPrompt(messages, request.tools);
  if (model.contextTokens !== undefined && promptTokens >= model.contextTokens) {
    throw new RequestFailure(
      "context-length",
      `length of prompt_tokens (${promptTokens}) must be less than max_seq_len (${model.contextTokens}).`,
    );
  }
  admit(model.id, promptTokens);
  const vision = model.type === "vlm";
  const stream = request.stream ?? chatDefaults.stream[vision ? "vlm" : "llm"];
  if (forward.chat) {
    const max_tokens = request.max_tokens ?? chatDefaults.max_tokens;
    return { response: await forwardRequest("chat", forward.chat, { ...request, stream, max_tokens }, signal) };
  }
  const engine = vision ? engines.vision : engines.chat;
  const draft = await engine.draft({ ...promptOf(request, messages, model), ...wishes }, { model, signal });
  const choices = Array.from({ length: count }, () => complete(draft, limitsOf(request)));
  const reasoningTokens = choices.reduce((sum, choice) => sum + choice.reasoningTokens, 0);
  const completionTokens = choices.reduce((sum, choice) => sum + choice.contentTokens, reasoningTokens);
  const frame = { id: randomUUID(), created: Math.floor(Date.now() / 1000), model: model.id };
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(reasoningTokens > 0 && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
  if (stream) {
    const { stream: style } = faults.settings;
    const pace = { eventDelayMs, signal, style: { ...style, usage: usagePlace ?? style.usage } };
    return { events: chatChunks(frame, choices, usage, pace) };
  }
  return {
    json: {
      id: frame.id,
      object: "chat.completion",
      created: frame.created,
      model: frame.model,
      choices: choices.map(({ content, reasoning, toolCalls, finishReason }, index) => ({
        index,
        message: {
          role: "assistant",
          content,
          ...(reasoning !== "" && { reasoning_content: reasoning }),
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        },
        finish_reason: finishReason,
      })),
      usage,
    },
  };
}

function promptOf(request: Request, messages: readonly EngineMessage[], model: ModelInfo): ChatPrompt {
  return {
    messages,
    tools: (request.tools ?? []).map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? "",
      parameters: parameters ?? { type: "object", properties: {} },
    })),
    json: request.response_format?.type === "json_object",
    thinks: thinks(request, model),
  };
}

/** The Q3 and D families think unless told not to; the S family has no switch; others think when an effort is named. */
function thinks(request: Request, model: ModelInfo): boolean {
  if (model.family === "Q3") return request.enable_thinking ?? chatDefaults.enable_thinking;
  if (model.family === "D") return request.thinking?.type !== "disabled";
  return request.reasoning_effort !== undefined && request.reasoning_effort !== "none";
}

function limitsOf(request: Request): CompletionLimits {
  return {
    maxTokens: request.max_tokens ?? chatDefaults.max_tokens,
    thinkingBudget: request.thinking_budget ?? chatDefaults.thinking_budget,
    stop: request.stop ?? [],
  };
}

/** The contract's default for a text part without text. */
const defaultPartText = "Describe this picture.";

function engineMessage({ role, content }: z.output<typeof Message>): EngineMessage {
  if (typeof content === "string") return { role, text: content, images: [] };
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of content) {
    if (part.type === "text") texts.push(part.text ?? defaultPartText);
    else images.push(part.image_url.url);
  }
  return { role, text: texts.join("\n"), images };
}

function countPrompt(messages: readonly EngineMessage[], tools: Request["tools"]): number {
  let tokens = tools === undefined || tools.length === 0 ? 0 : defaultTokens.count(JSON.stringify(tools));
  for (const { text, images } of messages) {
    tokens += messageFrameTokens + defaultTokens.count(text);
    for (const url of images) tokens += pictureTokens(imageFacts(bytesOfDataUrl(url)));
  }
  return tokens;
}
