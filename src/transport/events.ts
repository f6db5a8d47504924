import type { OperationName } from "../contract/operations.js";
import type { TransportErrorCode } from "../errors.js";

interface Attempt {
  readonly operation: OperationName;
  readonly model: string;
  /** 1 for the first time the call is sent. */
  readonly attempt: number;
}

/** What the transport tells of its work. Never holds the key, nor texts. */
export type TransportEvent =
  | (Attempt & { readonly type: "request"; readonly sizeBytes: number })
  /** Answered: read whole, or for a stream begun. */
  | (Attempt & { readonly type: "reply"; readonly milliseconds: number; readonly requestId?: string })
  /** Failed, and will be sent again after `delayMs`. */
  | (Attempt & {
      readonly type: "retry";
      readonly delayMs: number;
      readonly reason: TransportErrorCode;
      readonly status?: number;
      readonly message: string;
    })
  /** No call to this model leaves for `delayMs`. */
  | { readonly type: "cool-down"; readonly model: string; readonly delayMs: number };
