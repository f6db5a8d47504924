import type { ChatModel, ChatRequest, CallOptions, ChatEvent } from "../../core/ports.js";
import { untilAborted } from "../../core/stream.js";
import type { FinishReason, Usage } from "../../core/types.js";
import { attempt, foreignCall, maxAttempts } from "../foreign-call.js";
import { chatLimits, type ModelLimits } from "../model-limits.js";
import { promptOf } from "./prompt.js";
import type { AiSdkLanguageModel, CallSettings, StreamPart } from "./specification.js";

/** A language model of the AI SDK as our port. */
export function chatModelFrom(source: AiSdkLanguageModel, limits: ModelLimits): ChatModel {
  return {
    model: source.modelId,
    ...chatLimits(limits),
    stream: (request, call) => streamOf(source, request, call),
  };
}

async function* streamOf(
  source: AiSdkLanguageModel,
  request: ChatRequest,
  call: CallOptions | undefined,
): AsyncGenerator<ChatEvent, void, undefined> {
  const open = foreignCall("chat", call);
  const settings = settingsOf(request);
  const { stream } = await attempt(open, (abortSignal) => source.doStream({ ...settings, abortSignal }), maxAttempts);
  let model = source.modelId;
  try {
    for await (const part of untilAborted(stream, open.signal)) {
      if (part.type === "text-delta" || part.type === "reasoning-delta") yield { type: part.type, text: part.delta };
      else if (part.type === "tool-call" && !part.providerExecuted) {
        yield { type: part.type, id: part.toolCallId, name: part.toolName, arguments: part.input };
      } else if (part.type === "response-metadata") model = part.modelId ?? model;
      else if (part.type === "error") throw part.error;
      else if (part.type === "finish") yield { type: "finish", ...finishOf(part), model };
    }
  } catch (thrown) {
    throw open.failure(thrown);
  }
}

function settingsOf({ messages, tools = [], maxTokens, temperature, stop, toolChoice, format, schema }: ChatRequest) {
  const described = tools.map(({ name, description, parameters }) => ({
    type: "function" as const,
    name,
    ...(description !== undefined && { description }),
    inputSchema: parameters,
  }));
  return {
    prompt: promptOf(messages),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stop && { stopSequences: [...stop] }),
    ...(described.length > 0 && { tools: described }),
    ...(described.length > 0 && toolChoice && { toolChoice: { type: toolChoice } }),
    ...(format === "json" && { responseFormat: { type: format, ...(schema && { schema }) } }),
  } satisfies CallSettings;
}

/** Version 2 of the specification has both as plain values, later ones as objects. */
function finishOf({ finishReason, usage }: Extract<StreamPart, { readonly type: "finish" }>): {
  readonly reason: FinishReason;
  readonly usage?: Usage;
} {
  const unified: string = typeof finishReason === "string" ? finishReason : finishReason.unified;
  const reason = reasons.find((currentReason) => currentReason === unified) ?? "other";
  const { inputTokens, outputTokens } = usage as unknown as Record<"inputTokens" | "outputTokens", TokenCount>;
  const [input, output] = [totalOf(inputTokens), totalOf(outputTokens)];
  if (input === undefined || output === undefined) return { reason };
  const thought = typeof outputTokens === "object" ? outputTokens.reasoning : undefined;
  const counted = { inputTokens: input, outputTokens: output };
  return { reason, usage: { ...counted, ...(thought !== undefined && { reasoningTokens: thought }) } };
}

const reasons = ["stop", "length", "tool-calls", "content-filter"] as const;

type TokenCount = number | undefined | { readonly total: number | undefined; readonly reasoning?: number | undefined };

function totalOf(count: TokenCount): number | undefined {
  return typeof count === "object" ? count.total : count;
}
