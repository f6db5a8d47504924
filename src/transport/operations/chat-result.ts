import type { FinishReason } from "../../core/ports.js";
import type { Usage } from "../../core/types.js";

/** A function that the model wants called. */
export interface ToolCall {
  /** The service's id, or one of ours when it gave none. */
  readonly id: string;
  readonly name: string;
  /** The model's own JSON text, which may be invalid; `{}` when it wrote nothing. */
  readonly arguments: string;
}

/** A whole reply. */
export interface ChatResult {
  readonly text: string;
  /** The model's thinking before its answer; empty when it does not report any. */
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** The model that answered, as the service named it; it may be another than was asked for. */
  readonly model: string;
  /** The reply's id; empty when it has none. */
  readonly id: string;
  readonly requestId?: string;
  /** The reply as it came; for a stream, its last chunk. */
  readonly raw: unknown;
}

/** One event of a streamed reply. A stream ends with exactly one `finish`, or throws. */
export type ChatStreamEvent =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  /** More of the arguments of the `index`th call; `name` once it is known. The whole call comes as `tool-call`. */
  | { readonly type: "tool-call-delta"; readonly index: number; readonly name: string; readonly text: string }
  | ({ readonly type: "tool-call" } & ToolCall)
  | { readonly type: "finish"; readonly result: ChatResult };
