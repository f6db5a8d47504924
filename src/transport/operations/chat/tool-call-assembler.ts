import { randomUUID } from "node:crypto";
import { isRecord, parsedJson } from "../../../core/json.js";
import type { ExtraContent } from "../../../core/types.js";
import type { ToolCall } from "../chat-result.js";

/** A piece of a call as services write it: any part may be missing, null or empty. */
export interface ToolCallDelta {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly function?: { readonly name?: string | null | undefined; readonly arguments?: unknown } | null | undefined;
  readonly extra_content?: ExtraContent | null | undefined;
}

/** The change that one piece made to a call. */
interface Addition {
  /** 0-based place of the call. */
  readonly index: number;
  readonly name: string;
  readonly text: string;
}

interface OpenCall {
  readonly key: number | string;
  id: string;
  name: string;
  text: string;
  extraContent: ExtraContent | undefined;
}

/** A piece with its parts filled in. */
interface Piece {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/**
 * Puts tool calls together from their pieces. The first id and the first name that are not empty stay. A piece belongs to the call
 * of its index, or without one to the call before it, unless it can only begin another: services give several calls one index, or
 * neither index nor id. Arguments are pieces of text, or one whole object.
 */
export class ToolCallAssembler {
  readonly #calls: OpenCall[] = [];

  /** Takes the pieces of one delta; returns what each added, and to which call. */
  take(deltas: readonly ToolCallDelta[]): Addition[] {
    const touched = new Set<OpenCall>();
    return deltas.map((delta) => {
      const { name, arguments: written } = delta.function ?? {};
      const text = typeof written === "string" ? written : (JSON.stringify(written ?? undefined) ?? "");
      const piece = { id: delta.id ?? "", name: name ?? "", text };
      const known = this.#known(delta.index, piece);
      const call = known && !isAnother(known, piece, touched.has(known)) ? known : this.#begin(delta.index ?? piece.id);
      touched.add(call);
      call.id ||= piece.id;
      call.name ||= piece.name;
      call.text += text;
      call.extraContent ??= delta.extra_content ?? undefined;
      return { index: this.#calls.indexOf(call), name: call.name, text };
    });
  }

  /** The calls in the order in which they began. Results are told apart by id, so no two have the same. */
  calls(): ToolCall[] {
    const taken = new Set<string>();
    return this.#calls.map(({ id: given, name, text, extraContent }) => {
      const id = given === "" || taken.has(given) ? `call_${randomUUID()}` : given;
      taken.add(id);
      return { id, name, arguments: text.trim() === "" ? "{}" : text, ...(extraContent && { extraContent }) };
    });
  }

  /** The call that a piece continues, if it begins no other. */
  #known(index: number | null | undefined, { id }: Piece): OpenCall | undefined {
    if (typeof index === "number") return this.#calls.findLast(({ key }) => key === index);
    const last = this.#calls.at(-1);
    if (id === "") return last;
    const known = this.#calls.findLast((call) => call.id === id);
    return known ?? (last?.id === "" ? last : undefined);
  }

  #begin(key: number | string): OpenCall {
    const call: OpenCall = { key, id: "", name: "", text: "", extraContent: undefined };
    this.#calls.push(call);
    return call;
  }
}

/**
 * Whether a piece begins another call although its index, or the lack of one, points to a known one. Only a piece with a name can
 * begin a call; services that repeat the name in every piece of a call repeat nothing else.
 *
 * @param sameDelta whether the known call got a piece of the same delta.
 */
function isAnother(known: OpenCall, { id, name, text }: Piece, sameDelta: boolean): boolean {
  if (name === "" || known.name === "") return false;
  const hasOtherId = id !== "" && known.id !== "" && id !== known.id;
  if (known.text.trim() === "") return sameDelta || (name !== known.name && (id === "" || hasOtherId));
  const isWhole = known.text.trimEnd().endsWith("}") && isRecord(parsedJson(known.text));
  if (!isWhole) return hasOtherId && sameDelta;
  // More text after a complete object would make it invalid.
  return sameDelta || hasOtherId || text.trim() !== "";
}
