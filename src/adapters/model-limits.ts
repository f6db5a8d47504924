import { z } from "zod";
import { optionsOf } from "../core/options.js";
import type { ChatModel, TokenCounter } from "../core/ports.js";
import { Counter } from "../models/counter.js";
import { defaultTokens } from "../text/tokens/tokens.js";

/** Limits that our ports state and the models of other libraries do not. */
export interface ModelLimits {
  /** Maximum tokens in one text that is embedded, 16 or more. Default: 512. */
  readonly maxInputTokens?: number;
  /** Tokens of a chat's request and reply together, 1024 or more. Default: 32,768. */
  readonly contextTokens?: number;
  /** Maximum tokens of a reply, 1 to below `contextTokens`. Default: 4096, or half of `contextTokens` if that is less. */
  readonly maxOutputTokens?: number;
  /** Counts tokens. Default: the exact counter of the library's own vocabulary. */
  readonly tokens?: TokenCounter;
}

export const modelLimits = optionsOf<ModelLimits>()({
  maxInputTokens: z.int().min(16).optional(),
  contextTokens: z.int().min(1024).optional(),
  maxOutputTokens: z.int().min(1).optional(),
  tokens: Counter.optional(),
});

/** The fields of a chat model that its library says nothing of. It takes any number of messages, and tools in their own role. */
export function chatLimits({
  contextTokens = 32_768,
  maxOutputTokens = Math.min(4096, contextTokens >> 1),
  tokens = defaultTokens,
}: ModelLimits): Omit<ChatModel, "model" | "stream"> {
  return { contextTokens, maxOutputTokens, maxMessages: Infinity, toolMessages: "role-tool", tokens };
}
