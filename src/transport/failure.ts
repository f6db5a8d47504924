import type { TransportErrorCode } from "../errors.js";

/** One attempt that failed, in terms that retrying and reporting need. */
export interface Failure {
  readonly code: TransportErrorCode;
  /** For people; without address, operation or attempts, which the report adds. */
  readonly message: string;
  /** Whether the same request may work when sent again. */
  readonly retryable: boolean;
  /** Surely not carried out: it never arrived, or was turned away at the door. */
  readonly undelivered: boolean;
  /** Over a limit that is counted by the minute: waiting seconds is not enough. */
  readonly minuteWindow?: boolean;
  readonly status?: number;
  readonly serviceCode?: string;
  readonly requestId?: string;
  /** How long the service asked to wait. */
  readonly retryAfterMs?: number;
  readonly maxBatchTexts?: number;
  readonly maxInputTokens?: number;
  readonly partialText?: string;
  readonly cause?: unknown;
}

/** Carries a failure from where it is found to where it is decided upon. Never leaves the transport. */
export class FailedAttempt extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The reply is not what was asked for. Sending again would bring the same. */
export function badReply(message: string, details: Partial<Failure> = {}): FailedAttempt {
  return new FailedAttempt({ code: "reply", message, retryable: false, undelivered: false, ...details });
}
