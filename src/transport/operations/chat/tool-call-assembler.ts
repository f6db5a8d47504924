import { randomUUID } from "node:crypto";
import { isRecord, parsedJson } from "../../../core/json.js";
import type { ToolCall } from "../chat-result.js";

/** A piece of a call as services write it: any part may be missing, null or empty. */
export interface ToolCallDelta {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly function?: { readonly name?: string | null | undefined; readonly arguments?: unknown } | null | undefined;
}

interface OpenCall {
  readonly key: number | string;
  id: string;
  name: string;
  text: string;
}

/**
 * Puts tool calls together from their pieces. The first id and the first name that are not empty stay. A piece without
 * an index belongs to the call before it, unless it brings a new id. Arguments are pieces of text, or one whole object.
 */
export class ToolCallAssembler {
  readonly #calls: OpenCall[] = [];

  /** Takes one piece; returns what it added, and to which call. */
  take(delta: ToolCallDelta): { readonly index: number; readonly name: string; readonly text: string } {
    const call = this.#callOf(delta);
    const { name = "", arguments: written } = delta.function ?? {};
    call.id ||= delta.id ?? "";
    call.name ||= name ?? "";
    const text = typeof written === "string" ? written : (JSON.stringify(written ?? undefined) ?? "");
    call.text += text;
    return { index: this.#calls.indexOf(call), name: call.name, text };
  }

  /** The calls in the order in which they began. */
  calls(): ToolCall[] {
    return this.#calls.map(({ id, name, text }) => ({
      id: id === "" ? `call_${randomUUID()}` : id,
      name,
      arguments: text.trim() === "" ? "{}" : text,
    }));
  }

  #callOf({ index, id, function: called }: ToolCallDelta): OpenCall {
    const last = this.#calls.at(-1);
    if (typeof index === "number") {
      const known = this.#calls.findLast(({ key }) => key === index);
      // Ollama gave all calls of a stream the index 0, each whole.
      const isAnother = known && id && id !== known.id && called?.name && isRecord(parsedJson(known.text));
      return known && !isAnother ? known : this.#begin(index);
    }
    if (id) {
      const known = this.#calls.find((call) => call.id === id);
      if (known) return known;
      if (!last || last.id !== "") return this.#begin(id);
    }
    return last ?? this.#begin("");
  }

  #begin(key: number | string): OpenCall {
    const call: OpenCall = { key, id: "", name: "", text: "" };
    this.#calls.push(call);
    return call;
  }
}
