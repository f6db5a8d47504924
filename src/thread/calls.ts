import {
  asError,
  LoadError,
  type LoadErrorCode,
  OptionsError,
  type OptionsErrorCode,
  StoreError,
  type StoreErrorCode,
} from "../core/errors.js";

/** The calls that a thread answers, by name. */
export type Calls = Record<string, { readonly argument: unknown; readonly result: unknown }>;

/** A call as it is sent to a thread. */
export interface SentCall {
  readonly call: string;
  readonly id: number;
  readonly argument: unknown;
}

/** Says that nobody waits for the call with that id any more. */
export interface CancelledCall {
  readonly cancelled: number;
}

/** The answer to the call with that id. */
export type SentAnswer =
  | { readonly answered: number; readonly result: unknown }
  | { readonly answered: number; readonly error: SentError };

/** First message of a thread, sent when it has read its modules. */
export const startedMessage = "started";

export function isCall(message: unknown): message is SentCall {
  return typeof message === "object" && message !== null && "call" in message;
}

export function isCancelled(message: unknown): message is CancelledCall {
  return typeof message === "object" && message !== null && "cancelled" in message;
}

export function isAnswer(message: unknown): message is SentAnswer {
  return typeof message === "object" && message !== null && "answered" in message;
}

/** An error on its way between threads: the structured clone of an `Error` loses its class and its fields. */
export interface SentError {
  readonly kind: "options" | "store" | "load" | "other";
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
  readonly path: string | undefined;
  readonly uri: string | undefined;
  readonly option: string | undefined;
  readonly cause: SentError | undefined;
}

export function serialiseError(thrown: unknown): SentError {
  const error: Error & Readonly<Partial<Record<"code" | "path" | "uri" | "option", unknown>>> = asError(thrown);
  const field = (name: "code" | "path" | "uri" | "option") => {
    const value = error[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    kind: kindOf(error),
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: field("code"),
    path: field("path"),
    uri: field("uri"),
    option: field("option"),
    cause: error.cause === undefined ? undefined : serialiseError(error.cause),
  };
}

function kindOf(error: Error): SentError["kind"] {
  if (error instanceof StoreError) return "store";
  if (error instanceof OptionsError) return "options";
  return error instanceof LoadError ? "load" : "other";
}

/** Restores an error with the class, code and stack that it had where it was thrown. */
export function deserialiseError(sent: SentError): Error {
  const error = errorOf(sent);
  if (sent.stack !== undefined) error.stack = sent.stack;
  return error;
}

function errorOf({ kind, name, message, code, path, uri, option, cause }: SentError): Error {
  const options = cause === undefined ? {} : { cause: deserialiseError(cause) };
  const blamed = { ...options, ...(option !== undefined && { option }) };
  if (kind === "store") {
    return new StoreError(code as StoreErrorCode, message, { ...options, ...(path !== undefined && { path }) });
  }
  if (kind === "options") return new OptionsError(code as OptionsErrorCode, message, blamed);
  if (kind === "load") return new LoadError(code as LoadErrorCode, uri!, message, blamed);
  return Object.assign(new Error(message, options), { name, ...(code !== undefined && { code }) });
}
