import type { OperationName } from "../../contract/operations.js";
import type { TransportErrorCode } from "../../core/errors.js";
import type { Usage } from "../../core/types.js";

interface Attempt {
  readonly operation: OperationName;
  readonly model: string;
  /** 1 for the first time the call is sent; 0 when it never was. */
  readonly attempt: number;
}

/**
 * One event of the transport's work. A call ends with exactly one of `reply`, `failure` and `left`. Never holds the key,
 * nor texts.
 */
export type TransportEvent =
  /** Sent, after `waitedMs` for a slot, a cool-down or a budget. */
  | (Attempt & { readonly type: "request"; readonly sizeBytes: number; readonly waitedMs: number })
  /** Failed, and will be sent again after `delayMs`. */
  | (Attempt & {
      readonly type: "retry";
      readonly delayMs: number;
      readonly reason: TransportErrorCode;
      readonly status?: number;
      readonly message: string;
    })
  /** The request will be sent, but may not do what was meant. */
  | { readonly type: "warning"; readonly operation: OperationName; readonly model: string; readonly message: string }
  /** No call to this model leaves for `delayMs`. */
  | { readonly type: "cool-down"; readonly model: string; readonly delayMs: number }
  /** Answered, and read to the end. */
  | (Attempt & {
      readonly type: "reply";
      readonly status: number;
      /** Size of the reply as it was read. */
      readonly sizeBytes: number;
      /** Since this attempt was sent. */
      readonly milliseconds: number;
      readonly requestId?: string;
      /** The model that answered, as the service named it. */
      readonly answeredBy?: string;
      /** Tokens as the service counted them. */
      readonly usage?: Usage;
    })
  /** Ended in an error, or by the caller's signal; `milliseconds` since the call was made, as for `left`. */
  | (Attempt & {
      readonly type: "failure";
      readonly code: TransportErrorCode | "aborted";
      readonly milliseconds: number;
      readonly status?: number;
    })
  /** A stream that its reader left before the end. */
  | (Attempt & { readonly type: "left"; readonly milliseconds: number });
