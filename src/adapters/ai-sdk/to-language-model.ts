import type { CallOptions, ChatMessage, ChatModel, ChatRequest, ToolDescription } from "../../core/ports.js";
import { askChatModel } from "../ask-chat-model.js";
import { type Piece, streamedReply, wholeReply } from "./model-reply.js";
import { messagesOf } from "./prompt.js";
import type { AiSdkLanguageModel, CallSettings, Warning } from "./specification.js";

/** Our port as a language model of the AI SDK. */
export function languageModelOf(model: ChatModel): AiSdkLanguageModel {
  return {
    specificationVersion: "v3",
    provider: "citewell",
    modelId: model.model,
    supportedUrls: {},
    doGenerate: async (settings) => wholeReply(piecesOf(model, settings), warningsFor(settings)),
    doStream: async (settings) =>
      streamedReply(piecesOf(model, settings), { warnings: warningsFor(settings), signal: settings.abortSignal }),
  };
}

async function* piecesOf(model: ChatModel, settings: CallSettings): AsyncGenerator<Piece> {
  const { abortSignal } = settings;
  const call: CallOptions = abortSignal ? { signal: abortSignal } : {};
  for await (const event of askChatModel(model, requestOf(settings), call)) {
    if (event.type === "text-delta") yield { type: "text", delta: event.text };
    else if (event.type === "reasoning-delta") yield { type: "reasoning", delta: event.text };
    else if (event.type === "tool-call") {
      yield { type: "tool-call", toolCallId: event.id, toolName: event.name, input: event.arguments };
    } else yield { ...event, usage: event.usage };
  }
}

function requestOf({
  prompt,
  maxOutputTokens,
  temperature,
  stopSequences,
  responseFormat,
  tools = [],
  toolChoice = { type: "auto" },
}: CallSettings): ChatRequest {
  const offered = tools.flatMap((tool): ToolDescription[] => {
    const isOffered = toolChoice.type === "tool" ? tool.name === toolChoice.toolName : toolChoice.type !== "none";
    if (tool.type !== "function" || !isOffered) return [];
    const { name, description, inputSchema } = tool;
    return [{ name, ...(description !== undefined && { description }), parameters: { ...inputSchema } }];
  });
  const mustCall = toolChoice.type === "required" || toolChoice.type === "tool";
  const schema = responseFormat?.type === "json" ? responseFormat.schema : undefined;
  const messages = messagesOf(prompt);
  return {
    messages: schema ? [jsonInstruction(schema), ...messages] : messages,
    ...(maxOutputTokens !== undefined && { maxTokens: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && stopSequences.length > 0 && { stop: stopSequences }),
    ...(offered.length > 0 && { tools: offered }),
    ...(offered.length > 0 && mustCall && { toolChoice: "required" }),
    ...(responseFormat?.type === "json" && { format: "json", ...(schema && { schema: { ...schema } }) }),
  };
}

/** Not every service can be held to a schema, and most want to see the word JSON where they are to reply in it. */
function jsonInstruction(schema: object): ChatMessage {
  return { role: "system", content: `Reply with one JSON object of this JSON Schema: ${JSON.stringify(schema)}` };
}

const unsupported = ["topP", "topK", "presencePenalty", "frequencyPenalty", "seed"] as const;

/** The given settings that the port has no field for. */
function warningsFor(settings: CallSettings): Warning[] {
  const { tools = [] } = settings;
  const named = unsupported.filter((feature) => settings[feature] !== undefined);
  const provided = tools.flatMap((tool) => (tool.type === "provider" ? [`provider tool ${tool.id}`] : []));
  return [...named, ...provided].map((feature) => ({ type: "unsupported", feature }));
}
