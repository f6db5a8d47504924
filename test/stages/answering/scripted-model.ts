import { createRunContext, type RunOptions } from "../../../src/core/pipeline.js";
import type { ChatEvent, ChatModel, ChatRequest } from "../../../src/core/ports.js";
import type { Stage } from "../../../src/core/pipeline.js";
import type { AnswerEvent, Hit, Retrieved } from "../../../src/core/types.js";

/** A chat model that plays a script, one list of events per request, and keeps the requests. */
export interface ScriptedModel extends ChatModel {
  readonly requests: ChatRequest[];
}

/** The reply to one request: events, or an error thrown in their place. */
export type Script = readonly (ChatEvent | Error)[];

export function scriptedModel(scripts: readonly Script[], limits: Partial<ChatModel> = {}): ScriptedModel {
  const requests: ChatRequest[] = [];
  return {
    model: "scripted",
    contextTokens: 32_768,
    maxOutputTokens: 16_384,
    maxMessages: 10,
    tokens: { name: "thirds", count: (text) => Math.ceil(text.length / 3) },
    ...limits,
    requests,
    stream: async function* (request) {
      const script = scripts[requests.length] ?? [];
      requests.push(request);
      for (const event of script) {
        await Promise.resolve();
        if (event instanceof Error) throw event;
        yield event;
      }
    },
  };
}

export const say = (text: string): ChatEvent => ({ type: "text-delta", text });
export const think = (text: string): ChatEvent => ({ type: "reasoning-delta", text });
export const call = (name: string, input: unknown, id = `id_${name}`): ChatEvent => ({
  type: "tool-call",
  id,
  name,
  arguments: typeof input === "string" ? input : JSON.stringify(input),
});
export const finish = (reason: Extract<ChatEvent, { type: "finish" }>["reason"] = "stop"): ChatEvent => ({
  type: "finish",
  reason,
  usage: { inputTokens: 10, outputTokens: 3 },
  model: "scripted-2",
});

export function hit(text: string, uri = "keys.md", start = 0): Hit {
  const chunk = {
    id: `${uri}#${start}`,
    documentId: uri,
    start,
    end: start + text.length,
    text,
    context: "",
    tokens: 9,
  };
  return { chunk, uri, line: 1, score: 1, placements: [] };
}

export function retrieved(hits: readonly Hit[], more: Partial<Retrieved> = {}): Retrieved {
  return { question: "How long does a key last?", hits, trace: [], ...more };
}

/** The events of one question. */
export async function eventsOf(
  stage: Stage<Retrieved, AnswerEvent>,
  question: Retrieved | AsyncIterable<Retrieved>,
  options: RunOptions & { readonly onEvent?: (event: AnswerEvent) => void } = {},
): Promise<AnswerEvent[]> {
  const source = Symbol.asyncIterator in question ? question : one(question);
  const events: AnswerEvent[] = [];
  for await (const event of stage.run(source, createRunContext(options))) {
    events.push(event);
    options.onEvent?.(event);
  }
  return events;
}

async function* one<T>(item: T): AsyncGenerator<T> {
  yield item;
}
