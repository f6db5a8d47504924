import type { OperationName } from "../../contract/operations.js";
import type { TransportErrorCode } from "../../core/errors.js";
import type { Usage } from "../../core/types.js";

interface Attempt {
  /** Operation that was called. */
  readonly operation: OperationName;
  /** Model that was asked; for calls without one, what they are about. */
  readonly model: string;
  /** 1 for the first time the call is sent; 0 when it never was. */
  readonly attempt: number;
}

/**
 * One event of the transport's work. A call ends with exactly one of `reply`, `failure` and `left`. Never holds the key,
 * nor texts.
 */
export type TransportEvent =
  /** A request was sent, after `waitedMs` for a slot, a cool-down or a budget. */
  | (Attempt & {
      readonly type: "request";
      /** Size of the request's body. */
      readonly sizeBytes: number;
      /** Time that it waited for a slot, a cool-down or a budget. */
      readonly waitedMs: number;
    })
  /** The attempt failed, and is retried after `delayMs`. */
  | (Attempt & {
      readonly type: "retry";
      /** Delay before the retry. */
      readonly delayMs: number;
      /** Code of the `TransportError` that it would have thrown. */
      readonly reason: TransportErrorCode;
      /** HTTP status, where the service answered. */
      readonly status?: number;
      /** The failure, in one line. */
      readonly message: string;
    })
  /** The request will be sent, but may not do what was meant. */
  | {
      readonly type: "warning";
      /** Operation that was called. */
      readonly operation: OperationName;
      /** Model that was asked. */
      readonly model: string;
      /** The suspected mistake, in one line. */
      readonly message: string;
    }
  /** A cool-down: no call to this model is sent for `delayMs`. */
  | {
      readonly type: "cool-down";
      /** Model that is not asked until the cool-down ends. */
      readonly model: string;
      /** Duration of the cool-down. */
      readonly delayMs: number;
    }
  /** The reply was read to its end. */
  | (Attempt & {
      readonly type: "reply";
      /** HTTP status of the reply. */
      readonly status: number;
      /** Size of the reply as it was read. */
      readonly sizeBytes: number;
      /** Time since this attempt was sent. */
      readonly milliseconds: number;
      /** Id that the service gave the request. */
      readonly requestId?: string;
      /** The model that answered, as the service named it. */
      readonly answeredBy?: string;
      /** Tokens as the service counted them. */
      readonly usage?: Usage;
    })
  /** Ended in an error, or by the caller's signal; `milliseconds` since the call was made, as for `left`. */
  | (Attempt & {
      readonly type: "failure";
      /** Code of the `TransportError`; `aborted` after the caller's signal. */
      readonly code: TransportErrorCode | "aborted";
      /** Time since the call was made. */
      readonly milliseconds: number;
      /** HTTP status of the last reply, if there was one. */
      readonly status?: number;
    })
  /** A stream that its reader left before the end. */
  | (Attempt & {
      readonly type: "left";
      /** Time since the call was made. */
      readonly milliseconds: number;
    });
