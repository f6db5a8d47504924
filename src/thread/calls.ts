import { asError, OptionsError, type OptionsErrorCode, StoreError, type StoreErrorCode } from "../core/errors.js";

/** The calls that a thread answers, by name. */
export type Calls = Record<string, { readonly argument: unknown; readonly result: unknown }>;

/** A call as it is sent to a thread. */
export interface SentCall {
  readonly call: string;
  readonly id: number;
  readonly argument: unknown;
}

/** The answer to the call with that id. */
export type SentAnswer =
  | { readonly answered: number; readonly result: unknown }
  | { readonly answered: number; readonly error: SentError };

export function isCall(message: unknown): message is SentCall {
  return typeof message === "object" && message !== null && "call" in message;
}

export function isAnswer(message: unknown): message is SentAnswer {
  return typeof message === "object" && message !== null && "answered" in message;
}

/** An error on its way between threads: the structured clone of an `Error` loses its class and its fields. */
export interface SentError {
  readonly kind: "options" | "store" | "other";
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
  readonly path: string | undefined;
  readonly option: string | undefined;
  readonly cause: SentError | undefined;
}

export function serialiseError(thrown: unknown): SentError {
  const error: Error & { readonly code?: unknown; readonly path?: unknown; readonly option?: unknown } =
    asError(thrown);
  return {
    kind: error instanceof StoreError ? "store" : error instanceof OptionsError ? "options" : "other",
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: typeof error.code === "string" ? error.code : undefined,
    path: typeof error.path === "string" ? error.path : undefined,
    option: typeof error.option === "string" ? error.option : undefined,
    cause: error.cause === undefined ? undefined : serialiseError(error.cause),
  };
}

/** Restores an error with the class, code and stack that it had where it was thrown. */
export function deserialiseError({ kind, name, message, stack, code, path, option, cause }: SentError): Error {
  const options = cause === undefined ? {} : { cause: deserialiseError(cause) };
  const error =
    kind === "store"
      ? new StoreError(code as StoreErrorCode, message, { ...options, ...(path !== undefined && { path }) })
      : kind === "options"
        ? new OptionsError(code as OptionsErrorCode, message, { ...options, ...(option !== undefined && { option }) })
        : Object.assign(new Error(message, options), { name, ...(code !== undefined && { code }) });
  if (stack !== undefined) error.stack = stack;
  return error;
}
