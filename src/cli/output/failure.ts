import { inspect } from "node:util";
import {
  AnswerError,
  CitewellError,
  LoadError,
  OptionsError,
  StoreError,
  systemMessage,
  TransportError,
} from "../../core/errors.js";
import { clearLine, oneLine } from "./terminal-text.js";
import { flagName } from "../settings/flag-name.js";

export const exitCodes = { done: 0, failures: 1, misuse: 2, interrupted: 130 } as const;

const misuse: ReadonlySet<string> = new Set([
  // The service will refuse the key, model or request again.
  "request",
  "unauthorized",
  "forbidden",
  "unsupported-model",
  // The store is missing or made for another model.
  "missing",
  "space",
  "dimension",
  "version",
  // The path has nothing to read.
  "empty",
  "binary",
  "unsupported",
  // The file does not follow its format.
  "malformed",
  "question-too-long",
]);

/** Misuse fails again however often it is tried: the caller has to change something. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof OptionsError) return exitCodes.misuse;
  const coded =
    error instanceof TransportError ||
    error instanceof StoreError ||
    error instanceof LoadError ||
    error instanceof AnswerError;
  return coded && misuse.has(error.code) ? exitCodes.misuse : exitCodes.failures;
}

/** The message of an error, which may name an option of the library, with the command's flag in its place. */
export function messageOf(error: Error): string {
  const { call, option } = blamed(error);
  const message = systemMessage(error);
  const said = call === undefined ? message : message.replace(`${call}: `, "");
  if (option === undefined) return said;
  return said.replaceAll(option, flagName(option));
}

/** The function and option that an error names, or the error that caused it. */
function blamed(error: unknown): { readonly call?: string | undefined; readonly option?: string | undefined } {
  if (error instanceof OptionsError) return error;
  if (!(error instanceof Error)) return {};
  return "option" in error && typeof error.option === "string" ? { option: error.option } : blamed(error.cause);
}

/** A warning of Node's own, on a line of its own: on a terminal it takes the place of a progress line, which comes again. */
export function describeWarning({ name, message }: Error, { isTTY }: Pick<NodeJS.WriteStream, "isTTY">): string {
  return `${isTTY ? clearLine : ""}citewell: Node.js warns (${name}): ${oneLine(message, 500)}\n`;
}

/** The error in one line, which ends with the command that explains its code; with `debug`, followed by its stack and causes. */
export function describeFailure(error: unknown, debug: boolean): string {
  const line = `${failureLine(error)}${explainedBy(error)}`;
  return debug ? `${line}\n${inspect(error, { depth: 6 })}` : line;
}

/** The error in one line, for what goes on after it. */
export function failureLine(error: unknown): string {
  const message = error instanceof Error ? messageOf(error) : String(error);
  return `citewell: ${message.replace(/\s*\n\s*/g, " ")}`;
}

/** A wrong option or setting needs none: its message names it with its range, and the explanation would say less. */
function explainedBy(error: unknown): string {
  if (!(error instanceof CitewellError) || error.code === "options" || error.code === "config") return "";
  return ` (citewell explain ${error.code})`;
}
