import { inspect } from "node:util";
import { AnswerError, LoadError, OptionsError, StoreError, TransportError } from "../errors.js";
import { inCommandWords } from "./command-words.js";

/** Exit codes of the command: done, done or stopped with failures, misuse, stopped by Ctrl-C. */
export const exitCodes = { done: 0, failures: 1, misuse: 2, interrupted: 130 } as const;

const misuse: ReadonlySet<string> = new Set([
  // A key, model or request that will be refused again.
  "request",
  "unauthorized",
  "forbidden",
  "unsupported-model",
  // A store that is not there or not for this model.
  "missing",
  "space",
  "dimension",
  "version",
  // Nothing to read at the path.
  "empty",
  "binary",
  "unsupported",
  // A file that is not in its format.
  "malformed",
  "question-too-long",
]);

/** Misuse is what fails again however often it is tried: the caller has to change something. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof OptionsError) return exitCodes.misuse;
  const coded =
    error instanceof TransportError ||
    error instanceof StoreError ||
    error instanceof LoadError ||
    error instanceof AnswerError;
  return coded && misuse.has(error.code) ? exitCodes.misuse : exitCodes.failures;
}

/** One readable line; with `debug` the whole error with its causes behind it. */
export function describeFailure(error: unknown, debug: boolean): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = `citewell: ${inCommandWords(message.replace(/\s*\n\s*/g, " "))}`;
  return debug ? `${line}\n${inspect(error, { depth: 6 })}` : line;
}
