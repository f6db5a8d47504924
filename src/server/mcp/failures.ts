import { asError, OptionsError } from "../../core/errors.js";
import { refusalOf } from "../guard/refusal.js";
import type { ResolvedMcpServerOptions } from "./options.js";
import type { Sdk } from "./sdk.js";

/** Whether the caller is to blame for an error. Any other error goes to the server's log. */
export function isCallersOwn(error: Error): boolean {
  return error instanceof OptionsError && error.code === "options";
}

/** Converts an error of a resource or a prompt to an error of the protocol. */
export async function withProtocolErrors<Result>(
  { ProtocolError, ProtocolErrorCode: { InvalidParams, InternalError } }: Sdk,
  { onError }: Pick<ResolvedMcpServerOptions, "onError">,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown;
    const error = asError(thrown);
    if (isCallersOwn(error)) throw new ProtocolError(InvalidParams, error.message);
    onError(error);
    throw new ProtocolError(InternalError, refusalOf(error).message);
  }
}
