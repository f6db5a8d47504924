import { randomUUID } from "node:crypto";
import type { ToolCall } from "./chat-result.js";

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
 * index belongs to the call before it, unless it brings a new id. Arguments are text, or an object for the whole.
 */
export class ToolCallAssembler {
  readonly #calls: OpenCall[] = [];

  get count(): number {
    return this.#calls.length;
  }

  /** Takes one piece; what it added, and to which call. */
  take(delta: ToolCallDelta): { readonly index: number; readonly name: string; readonly text: string } {
    const call = this.#callOf(delta);
    if (call.id === "") call.id = delta.id ?? "";
    if (call.name === "") call.name = delta.function?.name ?? "";
    const text = argumentText(delta.function?.arguments);
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

  #callOf({ index, id }: ToolCallDelta): OpenCall {
    const last = this.#calls.at(-1);
    const fresh = (key: number | string): OpenCall => {
      const call: OpenCall = { key, id: "", name: "", text: "" };
      this.#calls.push(call);
      return call;
    };
    if (typeof index === "number") return this.#calls.find(({ key }) => key === index) ?? fresh(index);
    if (id !== undefined && id !== null && id !== "") {
      const known = this.#calls.find((call) => call.id === id);
      if (known) return known;
      if (!last || last.id !== "") return fresh(id);
    }
    return last ?? fresh("");
  }
}

function argumentText(written: unknown): string {
  if (written === undefined || written === null) return "";
  return typeof written === "string" ? written : JSON.stringify(written);
}
