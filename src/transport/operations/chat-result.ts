import type { ExtraContent, FinishReason, Usage } from "../../core/types.js";

/** A function that the model wants called. */
export interface ToolCall {
  /** The service's id, or one of ours when it gave none. */
  readonly id: string;
  /** Name of the function. */
  readonly name: string;
  /** The model's own JSON text, which may be invalid; `{}` when it wrote nothing. */
  readonly arguments: string;
  /** The service's own notes on the call; they go back as `extra_content` of the call. Default: none. */
  readonly extraContent?: ExtraContent;
}

/** One of the replies to a request; there are several when it asked for them by `n`. */
export interface ChatChoice {
  /** The reply's text; may be empty when tools are called. */
  readonly text: string;
  /** The model's thinking before its answer; empty when it does not report any. */
  readonly reasoning: string;
  /** Functions that the model wants called, in order; empty for none. */
  readonly toolCalls: readonly ToolCall[];
  /** Reason for the end of the reply; `content-filter` also when the model refused. */
  readonly finishReason: FinishReason;
  /** The model's words where it declined to answer; they end `text`, too. Default: it did not. */
  readonly refusal?: string;
}

/** A whole reply. Its own text, reasoning and tool calls are those of the first choice. */
export interface ChatResult extends ChatChoice {
  /** All choices that came, the first included, in the service's order. A service may ignore `n`, and send one. */
  readonly choices: readonly ChatChoice[];
  /** Tokens of all choices together, as the service counted them; `undefined` where it reports none. */
  readonly usage: Usage | undefined;
  /** The model that answered, as the service named it; it may be another than was asked for. */
  readonly model: string;
  /** The reply's id; empty when it has none. */
  readonly id: string;
  /** Time at which the service says that it began the reply. */
  readonly createdAt?: Date;
  /** Id that the service gave the request. */
  readonly requestId?: string;
  /** The reply as it came; for a stream, its last chunk. */
  readonly raw: unknown;
}

interface OfChoice {
  /** Which of the choices it belongs to, from 1; left out for the first, and where there is only one. */
  readonly choice?: number;
}

/** One event of a streamed reply. A stream ends with exactly one `finish`, or throws. */
export type ChatStreamEvent =
  | (OfChoice & {
      readonly type: "text-delta";
      /** The next piece of the reply. */
      readonly text: string;
    })
  | (OfChoice & {
      readonly type: "reasoning-delta";
      /** The next piece of the model's thinking. */
      readonly text: string;
    })
  /** More of the arguments of the `index`th call; `name` once it is known. The whole call comes as `tool-call`. */
  | (OfChoice & {
      readonly type: "tool-call-delta";
      /** 0-based place of the call among those of the reply. */
      readonly index: number;
      /** Name of the function; empty while it is not known. */
      readonly name: string;
      /** The next piece of the arguments' JSON text. */
      readonly text: string;
    })
  | (OfChoice & ToolCall & { readonly type: "tool-call" })
  | {
      readonly type: "finish";
      /** The complete reply, as `chat` would have returned it. */
      readonly result: ChatResult;
    };
