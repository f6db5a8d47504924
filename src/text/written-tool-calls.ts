import { parseToolCall, type WrittenToolCall } from "./tool-messages.js";

const open = "<tool_call>";
const close = "</tool_call>";

/**
 * Takes calls that a model writes as text, `<tool_call>{…}</tool_call>`, out of its streamed reply. Some models do so
 * once they have seen the form, whatever the service offers. What is no call after all is handed back as text.
 */
export class WrittenToolCallParser {
  #held = "";
  readonly #calls: WrittenToolCall[] = [];

  /** Calls so far, in order. */
  get calls(): readonly WrittenToolCall[] {
    return this.#calls;
  }

  /** The next delta; returns what of the text so far is for the reader. */
  push(delta: string): string {
    this.#held += delta;
    let visible = "";
    for (;;) {
      const start = this.#held.indexOf(open);
      if (start < 0) {
        const keep = startOfTag(this.#held);
        visible += this.#held.slice(0, this.#held.length - keep);
        this.#held = this.#held.slice(this.#held.length - keep);
        return visible;
      }
      const end = this.#held.indexOf(close, start);
      visible += this.#held.slice(0, start);
      this.#held = this.#held.slice(start);
      if (end < 0) return visible;
      const whole = this.#held.slice(0, end - start + close.length);
      visible += this.#take(whole.slice(open.length, -close.length)) ? "" : whole;
      this.#held = this.#held.slice(whole.length);
    }
  }

  /** The end of the reply: a call without its closing tag still is one. Returns the rest for the reader. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest.startsWith(open) && this.#take(rest.slice(open.length)) ? "" : rest;
  }

  #take(body: string): boolean {
    const call = parseToolCall(body);
    if (call) this.#calls.push(call);
    return call !== undefined;
  }
}

/** How many characters at the end of `text` may be the start of an opening tag. */
function startOfTag(text: string): number {
  for (let length = Math.min(open.length - 1, text.length); length > 0; length--) {
    if (open.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
