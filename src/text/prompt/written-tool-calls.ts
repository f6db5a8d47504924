import { parseToolCall, type WrittenToolCall } from "./tool-messages.js";

const open = "<tool_call>";
const close = "</tool_call>";

/**
 * Takes calls that a model writes as text, `<tool_call>{…}</tool_call>`, out of its streamed reply. Some models write
 * them once they have seen the form, whatever the service offers. A block that is not a call stays text.
 */
export class WrittenToolCallParser {
  #held = "";
  readonly #calls: WrittenToolCall[] = [];

  /** The calls so far, in order. */
  get calls(): readonly WrittenToolCall[] {
    return this.#calls;
  }

  /** Takes the next delta; returns the text that is now known to be for the reader. */
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

  /** Ends the reply; returns the rest for the reader. A call without its closing tag counts. */
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

/** Length of the end of `text` that may be the start of an opening tag. */
function startOfTag(text: string): number {
  for (let length = Math.min(open.length - 1, text.length); length > 0; length--) {
    if (open.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
