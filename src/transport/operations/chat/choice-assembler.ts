import type { z } from "zod";
import type { ChatChunk } from "../../../contract/chat.js";
import { chatShape } from "../../service-shape.js";
import type { ChatChoice, ChatStreamEvent } from "../chat-result.js";
import { type Split, ThinkTagSplitter } from "./think-tags.js";
import { ToolCallAssembler } from "./tool-call-assembler.js";

export type ChunkChoice = NonNullable<z.output<typeof ChatChunk>["choices"]>[number];

/** Puts one choice of a reply together from its deltas, and reports what each adds. */
export class ChoiceAssembler {
  /** As the service wrote it; `undefined` while the choice goes on. */
  finish: string | undefined;
  text = "";
  #reasoning = "";
  readonly #tools = new ToolCallAssembler();
  readonly #thinking: ThinkTagSplitter | undefined;
  /** The events of the first choice are those of a reply that has only one. */
  readonly #mark: { readonly choice?: number };

  constructor(index: number, thinkTags: boolean) {
    this.#mark = index === 0 ? {} : { choice: index };
    this.#thinking = thinkTags ? new ThinkTagSplitter() : undefined;
  }

  take({ delta, finish_reason: finish }: ChunkChoice, events: ChatStreamEvent[]): void {
    const { reasoning_content: reasoning, content, tool_calls: calls } = delta ?? {};
    if (reasoning) this.#say({ reasoning, text: "" }, events);
    if (content) this.#say(this.#thinking?.push(content) ?? { reasoning: "", text: content }, events);
    for (const call of calls ?? []) {
      events.push({ type: "tool-call-delta", ...this.#tools.take(call), ...this.#mark });
    }
    if (finish) this.finish = finish;
  }

  /** Adds the events that are known only at the end, and returns the whole choice. */
  end(events: ChatStreamEvent[]): ChatChoice {
    if (this.#thinking) this.#say(this.#thinking.end(), events);
    const toolCalls = this.#tools.calls();
    for (const call of toolCalls) events.push({ type: "tool-call", ...call, ...this.#mark });
    return {
      text: this.text,
      reasoning: this.#reasoning,
      toolCalls,
      finishReason: chatShape.finishReason(this.finish, toolCalls.length > 0),
    };
  }

  #say({ reasoning, text }: Split, events: ChatStreamEvent[]): void {
    if (reasoning !== "") {
      this.#reasoning += reasoning;
      events.push({ type: "reasoning-delta", text: reasoning, ...this.#mark });
    }
    if (text !== "") {
      this.text += text;
      events.push({ type: "text-delta", text, ...this.#mark });
    }
  }
}
