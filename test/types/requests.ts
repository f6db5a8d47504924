// Promises made by the types of requests: `npm run types` fails when one of these mistakes compiles, or a right one does not.
import type { EmbeddingsRequest, RerankRequest, Transport } from "citewell/transport";
import type { VideoContentItem, VideoRequest } from "citewell/video";

declare const transport: Transport;
declare const texts: readonly string[];
declare const items: readonly VideoContentItem[];
declare const messages: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
declare const content: readonly { readonly type: "text"; readonly text: string }[];

const model = "m";
const system = { role: "system", content: "Be brief." } as const;
const seen = { role: "user", content } as const;
const on = { type: "enabled" } as const;

// Lists that must not be changed are taken.
export const embedding: EmbeddingsRequest = { model, input: texts };
export const ranking: RerankRequest = { model, query: "q", documents: texts };
export const video: VideoRequest = { model, content: items };
void transport.chat({ model, messages, stop: texts });
void transport.chat({ model, messages: [seen] });

// Each family has its own switches.
void transport.chat({ model, messages, enable_thinking: true, thinking_budget: 100, min_p: 0.1 });
void transport.chat({ model, messages, thinking: on });
void transport.chat({ model, messages: [system, ...messages], reasoning_effort: "low", tools: [] });

// @ts-expect-error no model takes the switches of two families
void transport.chat({ model, messages, enable_thinking: false, thinking: on });

// @ts-expect-error models that take an effort have no budget
void transport.chat({ model, messages, thinking_budget: 9, reasoning_effort: "high" });

// @ts-expect-error strings are for text models, parts for vision models: the system message is in parts too
void transport.chat({ model, messages: [system, seen] });

// @ts-expect-error vision models take no tools
void transport.chat({ model, messages: [seen], tools: [] });

// @ts-expect-error vision models have no switch for thinking
void transport.chat({ model, messages: [seen], thinking: on });
