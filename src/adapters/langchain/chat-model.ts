import { OptionsError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import { type JsonSchema, parsedJson } from "../../core/json.js";
import type { ChatEvent, ChatMessage, ChatModel, ChatRequest } from "../../core/ports.js";
import { collect } from "../../core/stream.js";
import { askChatModel } from "../ask-chat-model.js";
import type {
  BaseChatModel,
  BaseChatModelCallOptions,
  BaseMessage,
  BindToolsInput,
  CallbackManagerForLLMRun,
  ChatGenerationChunk,
  ChatResult,
  LangChainCore,
} from "./core.js";

interface CallOptions extends BaseChatModelCallOptions {
  /** Tools in OpenAI's form, as `bindTools` writes them. */
  readonly tools?: readonly ReturnType<LangChainCore["convertToOpenAITool"]>[];
  readonly temperature?: number;
  readonly maxTokens?: number;
}

/** Our port as a chat model of LangChain. */
export function chatModelOf(core: LangChainCore, model: ChatModel): BaseChatModel {
  async function* chunksOf(
    messages: readonly BaseMessage[],
    options: Omit<CallOptions, "signal"> & { readonly signal?: AbortSignal },
    runManager: CallbackManagerForLLMRun | undefined,
  ): AsyncGenerator<ChatGenerationChunk> {
    let calls = 0;
    for await (const event of askChatModel(model, requestOf(messages, options), given({ signal: options.signal }))) {
      const fields = chunkFields(event, calls);
      if (event.type === "tool-call") calls++;
      const text = event.type === "text-delta" ? event.text : "";
      const chunk = new core.ChatGenerationChunk({
        text,
        message: new core.AIMessageChunk({ content: text, ...fields }),
      });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }

  class CitewellChatModel extends core.BaseChatModel<CallOptions> {
    _llmType(): string {
      return "citewell";
    }

    override getLsParams(options: this["ParsedCallOptions"]) {
      const { stop, temperature, maxTokens } = options;
      return {
        ls_provider: "citewell",
        ls_model_name: model.model,
        ls_model_type: "chat" as const,
        ...given({ ls_stop: stop, ls_temperature: temperature, ls_max_tokens: maxTokens }),
      };
    }

    override bindTools(tools: BindToolsInput[], options: Partial<CallOptions> = {}) {
      return this.withConfig({ ...options, tools: tools.map((tool) => core.convertToOpenAITool(tool)) });
    }

    async _generate(
      messages: BaseMessage[],
      options: this["ParsedCallOptions"],
      runManager?: CallbackManagerForLLMRun,
    ): Promise<ChatResult> {
      const chunks = await collect(chunksOf(messages, options, runManager));
      // Structured output reads the sum of the chunks, and not the message that others make of it.
      const { text, message } = chunks.reduce((all, next) => all.concat(next));
      return { generations: [{ text, message }] };
    }

    override _streamResponseChunks(
      messages: BaseMessage[],
      options: this["ParsedCallOptions"],
      runManager?: CallbackManagerForLLMRun,
    ): AsyncGenerator<ChatGenerationChunk> {
      return chunksOf(messages, options, runManager);
    }
  }
  return new CitewellChatModel({});
}

function chunkFields(event: ChatEvent, index: number) {
  if (event.type === "reasoning-delta") return { additional_kwargs: { reasoning_content: event.text } };
  if (event.type === "tool-call") {
    const { id, name, arguments: args } = event;
    return { tool_call_chunks: [{ type: "tool_call_chunk" as const, index, id, name, args }] };
  }
  if (event.type === "text-delta") return {};
  const { reason, usage, model } = event;
  return {
    response_metadata: { finish_reason: reason, model_name: model },
    ...(usage && {
      usage_metadata: {
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        total_tokens: usage.totalTokens ?? usage.inputTokens + usage.outputTokens,
      },
    }),
  };
}

function requestOf(messages: readonly BaseMessage[], options: Omit<CallOptions, "signal">): ChatRequest {
  const { tools = [], tool_choice: choice, stop, temperature, maxTokens } = options;
  const chosen =
    typeof choice === "object" ? (choice as { readonly function?: { readonly name?: string } }).function?.name : choice;
  const isNamed = tools.some((tool) => tool.function.name === chosen);
  const offered = tools
    .filter((tool) => chosen !== "none" && (!isNamed || tool.function.name === chosen))
    .map(({ function: { name, description, parameters } }) => ({
      name,
      ...given({ description }),
      parameters: (parameters ?? {}) as JsonSchema,
    }));
  return {
    messages: messages.map(messageOf),
    ...given({ temperature, maxTokens }),
    ...(stop && stop.length > 0 && { stop }),
    ...(offered.length > 0 && { tools: offered }),
    ...(offered.length > 0 &&
      (isNamed || chosen === "any" || chosen === "required") && { toolChoice: "required" as const }),
  };
}

const roles: Readonly<Record<string, ChatMessage["role"]>> = {
  system: "system",
  developer: "system",
  human: "user",
  ai: "assistant",
  tool: "tool",
};

function messageOf(message: BaseMessage): ChatMessage {
  const role = roles[message.type];
  if (!role) throw new OptionsError("options", `A message of the type ${message.type} cannot be sent`);
  const { content } = message;
  const file =
    typeof content === "string" ? undefined : content.find(({ type }) => /image|audio|video|file/u.test(type));
  if (file)
    throw new OptionsError("options", `A message has a part of the type ${file.type}: this model reads text alone`);
  const { tool_calls: calls = [], tool_call_id: toolCallId, status } = message as BaseMessage & ToolFields;
  return {
    role,
    content: status === "error" ? `Error: ${message.text}` : message.text,
    ...(role === "tool" && given({ toolCallId })),
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ id = "", name, args }) => ({ id, name, arguments: JSON.stringify(args) })),
    }),
  };
}

interface ToolFields {
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: object }[];
  readonly tool_call_id?: string;
  readonly status?: string;
}

/** The same, for LangChain, which makes messages of plain objects. */
export function messagesFor(messages: readonly ChatMessage[]): object[] {
  return messages.map(({ role, content, toolCalls = [], toolCallId }) => ({
    role,
    content,
    ...given({ tool_call_id: toolCallId }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: written }) => ({
        type: "tool_call",
        id,
        name,
        args: parsedJson(written) ?? {},
      })),
    }),
  }));
}
