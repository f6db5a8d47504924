import { randomUUID } from "node:crypto";
import type { OperationName } from "../../contract/operations.js";
import { TransportError } from "../../core/errors.js";
import type { CallOptions } from "../../core/ports.js";
import type { FailedAttempt, Usage } from "../../core/types.js";
import { Cancellation } from "../failures/cancellation.js";
import type { Failure } from "../failures/failure.js";
import { requestIdOf } from "../failures/response-headers.js";
import type { Exchange } from "../http/exchange.js";
import type { TransportEvent } from "./events.js";

/** Facts that a reply reports besides its result. */
export interface ReplyFacts {
  readonly usage?: Usage;
  /** The model that answered. */
  readonly model?: string;
}

type Listener = (event: TransportEvent) => void;

/** One call with all its attempts: what ends it from outside, how far it got, and the events that report it. */
export class OngoingCall extends Cancellation {
  readonly operation: OperationName;
  readonly model: string;
  /** Times the call was sent. */
  attempts = 0;
  /** Whether the attempt in progress went onto a connection. */
  departed = false;
  /** Whether an earlier attempt may have been carried out although it failed. */
  mayHaveArrived = false;
  /** Tokens that the attempt in progress took of the budget. */
  estimatedTokens = 0;
  /** Set by the caller to delay the next attempt until it settles. */
  mayRepeat: Promise<void> | void = undefined;
  /** Listener for the events of this call only, if it has one. */
  listener: Listener | undefined;
  readonly #emit: Listener;
  readonly #onFailedAttempt: CallOptions["onFailedAttempt"];
  #traceId: string | undefined;
  #sentAtMs = 0;
  #exchange: Exchange | undefined;
  #ending: TransportEvent | undefined;
  /** The last failed attempt that the caller was told of. */
  #reportedAttempt = 0;

  constructor(operation: OperationName, model: string, options: CallOptions, emit: Listener) {
    super(options);
    this.operation = operation;
    this.model = model;
    this.#emit = emit;
    this.#onFailedAttempt = options.onFailedAttempt;
  }

  /** One id for all attempts, made when it is first asked for. */
  get traceId(): string {
    this.#traceId ??= randomUUID();
    return this.#traceId;
  }

  /** An attempt is about to be sent, after `waitedMs` for its turn. */
  sending(sizeBytes: number, waitedMs: number): void {
    this.attempts++;
    this.departed = false;
    this.#sentAtMs = performance.now();
    this.#report({ type: "request", ...this.#identity, sizeBytes, waitedMs });
  }

  /** An answer has begun; with `answered` it has ended well. */
  opened(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  failedAttempt({ code, status, message }: Failure, delayMs: number): void {
    const known = status === undefined ? {} : { status };
    this.#report({ type: "retry", ...this.#identity, delayMs, reason: code, message, ...known });
    this.#reportFailed({ code, ...known });
  }

  answered({ usage, model }: ReplyFacts): void {
    const { status = 0, receivedBytes: sizeBytes = 0, headers = {} } = this.#exchange ?? {};
    const requestId = requestIdOf(headers);
    this.#ending = {
      type: "reply",
      ...this.#identity,
      status,
      sizeBytes,
      milliseconds: performance.now() - this.#sentAtMs,
      ...(requestId !== undefined && { requestId }),
      ...(model !== undefined && { answeredBy: model }),
      ...(usage !== undefined && { usage }),
    };
  }

  /** Notes the error that the caller sees; an answer that comes after all replaces it. */
  failed(error: unknown): void {
    const known = error instanceof TransportError && error.status !== undefined ? { status: error.status } : {};
    const code = error instanceof TransportError ? error.code : "aborted";
    this.#ending = { type: "failure", ...this.#identity, code, milliseconds: this.#elapsedMs, ...known };
  }

  override end(): void {
    super.end();
    if (this.#ending?.type === "failure") {
      const { code, status } = this.#ending;
      this.#reportFailed({ code, ...(status !== undefined && { status }) });
    }
    this.#report(this.#ending ?? { type: "left", ...this.#identity, milliseconds: this.#elapsedMs });
  }

  /** Reports each attempt once: one that ends while it waits to be sent again was reported before. */
  #reportFailed(attempt: FailedAttempt): void {
    if (this.attempts <= this.#reportedAttempt) return;
    this.#reportedAttempt = this.attempts;
    this.mayRepeat = this.#onFailedAttempt?.(attempt);
  }

  get #identity() {
    return { operation: this.operation, model: this.model, attempt: this.attempts };
  }

  get #elapsedMs(): number {
    return performance.now() - this.startedAtMs;
  }

  #report(event: TransportEvent): void {
    this.#emit(event);
    this.listener?.(event);
  }
}
