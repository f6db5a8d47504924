import { asError, OptionsError, type OptionsErrorCode, StoreError, type StoreErrorCode } from "../errors.js";
import type { SentError } from "./calls.js";

/** An error with all that `received` needs to make it again. */
export function sent(thrown: unknown): SentError {
  const error: Error & { readonly code?: unknown; readonly path?: unknown } = asError(thrown);
  return {
    kind: error instanceof StoreError ? "store" : error instanceof OptionsError ? "options" : "other",
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: typeof error.code === "string" ? error.code : undefined,
    path: typeof error.path === "string" ? error.path : undefined,
    cause: error.cause === undefined ? undefined : sent(error.cause),
  };
}

/** The error that was sent, of the class and with the code it had where it was thrown. */
export function received({ kind, name, message, stack, code, path, cause }: SentError): Error {
  const options = cause === undefined ? {} : { cause: received(cause) };
  const error =
    kind === "store"
      ? new StoreError(code as StoreErrorCode, message, { ...options, ...(path !== undefined && { path }) })
      : kind === "options"
        ? new OptionsError(code as OptionsErrorCode, message, options)
        : Object.assign(new Error(message, options), { name, ...(code !== undefined && { code }) });
  if (stack !== undefined) error.stack = stack;
  return error;
}
