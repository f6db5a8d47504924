import type { TransportErrorCode } from "../../core/errors.js";

/** One failed attempt, described as retrying and reporting need it. */
export interface Failure {
  readonly code: TransportErrorCode;
  /** For people; without address, operation or attempts, which `transportError` adds. */
  readonly message: string;
  /** Whether the same request may work when sent again. */
  readonly retryable: boolean;
  /** Whether it was surely not carried out: it never arrived, or was turned away unread. */
  readonly undelivered: boolean;
  /** A limit that is counted by the minute was passed: waiting for seconds is not enough. */
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

/** The reply is not what was asked for. Sending again would return the same. */
export function badReply(message: string, details: Partial<Failure> = {}): FailedAttempt {
  return new FailedAttempt({ code: "reply", message, retryable: false, undelivered: false, ...details });
}
