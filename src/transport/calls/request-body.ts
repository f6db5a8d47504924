import type { OperationName } from "../../contract/operations.js";
import { TransportError, asError } from "../../core/errors.js";

interface RequestBody {
  readonly operation: OperationName;
  readonly body?: unknown;
}

/** The bytes of a request's body, `null` for none. @throws TransportError for one that is too large, or that JSON cannot hold. */
export function requestBytes(
  { operation, body }: RequestBody,
  { maxBodyBytes }: { readonly maxBodyBytes: number },
): Buffer | null {
  if (body === undefined) return null;
  const encoded = Buffer.from(json(operation, body));
  if (encoded.length <= maxBodyBytes) return encoded;
  const message = `${operation}: the request has ${encoded.length} bytes, at most ${maxBodyBytes} are taken: send fewer or shorter inputs`;
  throw new TransportError("too-large", message, { operation });
}

/** Fails for a value that is too deep, circular, or has a BigInt in it. */
function json(operation: OperationName, body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    const [problem] = asError(cause).message.split("\n");
    throw new TransportError("request", `${operation}: the request cannot be written as JSON: ${problem}`, {
      operation,
      cause,
    });
  }
}
