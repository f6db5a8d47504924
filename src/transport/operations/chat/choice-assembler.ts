import type { z } from "zod";
import type { ChatChunk } from "../../../contract/chat.js";
import { chatShape } from "../../service-shape.js";
import type { ChatChoice, ChatStreamEvent } from "../chat-result.js";
import { type Split, ThinkTagSplitter } from "./think-tags.js";
import { ToolCallAssembler } from "./tool-call-assembler.js";

export type ChunkChoice = NonNullable<z.output<typeof ChatChunk>["choices"]>[number];

/** Puts one choice of a reply together from its deltas, and reports what each adds. */
export class ChoiceAssembler {
  /** Finish reason as the service wrote it; `undefined` while the choice goes on. */
  finish: string | undefined;
  text = "";
  #reasoning = "";
  #refusal = "";
  readonly #tools = new ToolCallAssembler();
  readonly #thinking: ThinkTagSplitter | undefined;
  /** The events of the first choice are those of a reply that has only one. */
  readonly #mark: { readonly choice?: number };

  constructor(index: number, thinkTags: boolean) {
    this.#mark = index === 0 ? {} : { choice: index };
    this.#thinking = thinkTags ? new ThinkTagSplitter() : undefined;
  }

  take({ delta, finish_reason: finish }: ChunkChoice, events: ChatStreamEvent[]): void {
    const { reasoning_content: reasoning, content, refusal, tool_calls: calls } = delta ?? {};
    if (reasoning) this.#say({ reasoning, text: "" }, events);
    if (content) this.#say(this.#thinking?.push(content) ?? { reasoning: "", text: content }, events);
    if (refusal) {
      this.#refusal += refusal;
      this.#say({ reasoning: "", text: refusal }, events);
    }
    for (const added of this.#tools.take(calls ?? [])) {
      events.push({ type: "tool-call-delta", ...added, ...this.#mark });
    }
    if (finish) this.finish = finish;
  }

  /** Adds the events that are known only at the end, and returns the whole choice. */
  end(events: ChatStreamEvent[]): ChatChoice {
    if (this.#thinking) this.#say(this.#thinking.end(), events);
    const toolCalls = this.#tools.calls();
    for (const call of toolCalls) events.push({ type: "tool-call", ...call, ...this.#mark });
    const said = { text: this.text, reasoning: this.#reasoning, toolCalls };
    // OpenAI ends a refusal with `stop`, as it does an answer.
    if (this.#refusal !== "") return { ...said, finishReason: "content-filter", refusal: this.#refusal };
    return { ...said, finishReason: chatShape.finishReason(this.finish, toolCalls.length > 0) };
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
