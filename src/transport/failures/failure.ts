import type { TransportErrorCode } from "../../core/errors.js";

/** One failed attempt, described as retrying and reporting need it. */
export interface Failure {
  readonly code: TransportErrorCode;
  /** Message for people; without address, operation or attempts, which `transportError` adds. */
  readonly message: string;
  /** Whether the same request may work when sent again. */
  readonly retryable: boolean;
  /** Whether it was surely not carried out: it never arrived, or was turned away unread. */
  readonly undelivered: boolean;
  /** Whether a per-minute limit was exceeded: waiting for seconds is not enough. */
  readonly minuteWindow?: boolean;
  readonly status?: number;
  readonly serviceCode?: string;
  readonly requestId?: string;
  /** Wait that the service asked for. */
  readonly retryAfterMs?: number;
  readonly maxBatchTexts?: number;
  readonly maxInputTokens?: number;
  readonly partialText?: string;
  readonly cause?: unknown;
}

/** Carries a failure from where it is found to where it is handled. Never leaves the transport. */
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
