import { asError, CitewellError, OptionsError, StoreError } from "../../core/errors.js";
import type { ResolvedMcpServerOptions } from "./options.js";
import type { Sdk } from "./sdk.js";

/**
 * What a caller is told. The library's messages are written for people and hold no key, but those of the store name its
 * folder; other errors may tell of the inside of the program.
 */
export function messageFor(error: Error): string {
  if (error instanceof StoreError) return `The documents cannot be read (${error.code}): the server's log says why.`;
  if (error instanceof CitewellError) return error.message;
  return "This failed inside the server, whose log says why. Another attempt may work.";
}

/** Whether the caller asked for what cannot be. Anything else is for the server's log. */
export function isCallersOwn(error: Error): boolean {
  return error instanceof OptionsError && error.code === "options";
}

/** Makes what a resource or a prompt throws an error of the protocol. */
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
    throw new ProtocolError(InternalError, messageFor(error));
  }
}
