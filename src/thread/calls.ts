/** What a thread can be asked: by name, what the call takes and what it gives. */
export type Calls = Record<string, { readonly takes: unknown; readonly gives: unknown }>;

/** One call on its way to a thread. */
export interface SentCall {
  readonly call: string;
  readonly id: number;
  readonly argument: unknown;
}

/** The answer to the call with that id. */
export type SentAnswer =
  | { readonly answered: number; readonly result: unknown }
  | { readonly answered: number; readonly error: SentError };

/** An error as it crosses from one thread to another: copying an `Error` itself would lose its class and its fields. */
export interface SentError {
  readonly kind: "options" | "store" | "other";
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
  readonly path: string | undefined;
  readonly cause: SentError | undefined;
}

export function isCall(message: unknown): message is SentCall {
  return typeof message === "object" && message !== null && "call" in message;
}

export function isAnswer(message: unknown): message is SentAnswer {
  return typeof message === "object" && message !== null && "answered" in message;
}
