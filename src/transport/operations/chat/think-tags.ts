const open = "<think>";
const close = "</think>";

/** A piece of content, split into thinking and answer. */
export interface Split {
  readonly reasoning: string;
  readonly text: string;
}

/**
 * Splits thinking from the answer, when the service leaves both in the content as `<think>…</think>text`. Thinking
 * stands at the very beginning or nowhere: the same tags further on are text.
 */
export class ThinkTagSplitter {
  #state: "start" | "thinking" | "after" | "text" = "start";
  #held = "";

  /** Takes the next delta; holds back what may be part of a tag. */
  push(delta: string): Split {
    if (this.#state === "text") return { reasoning: "", text: delta };
    let held = this.#held + delta;
    let reasoning = "";
    if (this.#state === "start") {
      const begun = held.trimStart();
      if (begun.length < open.length && open.startsWith(begun)) return this.#hold(held, reasoning);
      if (!begun.startsWith(open)) return this.#answer(held, reasoning);
      held = begun.slice(open.length);
      this.#state = "thinking";
    }
    if (this.#state === "thinking") {
      const end = held.indexOf(close);
      if (end < 0) {
        const keep = startOfClose(held);
        return this.#hold(held.slice(held.length - keep), held.slice(0, held.length - keep));
      }
      reasoning = held.slice(0, end);
      held = held.slice(end + close.length);
      this.#state = "after";
    }
    // Blank lines between the two belong to neither.
    const answer = held.trimStart();
    return answer === "" ? this.#hold("", reasoning) : this.#answer(answer, reasoning);
  }

  /** Ends the reply: what was held back was no tag. */
  end(): Split {
    const held = this.#held;
    this.#held = "";
    return this.#state === "thinking" ? { reasoning: held, text: "" } : { reasoning: "", text: held };
  }

  #hold(held: string, reasoning: string): Split {
    this.#held = held;
    return { reasoning, text: "" };
  }

  #answer(text: string, reasoning: string): Split {
    this.#state = "text";
    this.#held = "";
    return { reasoning, text };
  }
}

/** How many characters at the end of `text` may be the start of the closing tag. */
function startOfClose(text: string): number {
  for (let length = Math.min(close.length - 1, text.length); length > 0; length--) {
    if (close.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
