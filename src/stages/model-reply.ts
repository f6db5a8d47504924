import type { ChatEvent } from "../ports.js";

export type ChatFinish = Extract<ChatEvent, { readonly type: "finish" }>;

export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** What one request to the model came to. */
export interface ModelReply {
  /** What it said, without markers. */
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** What it thought before. */
  readonly reasoning: string;
  readonly finish: ChatFinish;
}
