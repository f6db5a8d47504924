import type { OperationName } from "../contract/operations.js";
import { TransportError } from "../errors.js";
import type { CallOptions } from "../ports.js";
import type { FailedAttempt, Usage } from "../types.js";
import type { TransportEvent } from "./events.js";
import type { Exchange } from "./exchange.js";
import type { Failure } from "./failure.js";
import { requestIdOf } from "./refusal.js";

/** What the result of a call tells beside itself. */
export interface Learned {
  readonly usage?: Usage;
  /** The model that answered. */
  readonly model?: string;
}

/** Writes down one call, and tells it as events. */
export class CallJournal {
  readonly operation: OperationName;
  readonly model: string;
  /** Tokens that the attempt in progress was let go with. */
  estimatedTokens = 0;
  /** Hears the same events, once there is a listener for this call alone. */
  listener: ((event: TransportEvent) => void) | undefined;
  readonly #tell: (event: TransportEvent) => void;
  readonly #startedAtMs = performance.now();
  #attempt = 0;
  #sentAtMs = 0;
  #exchange: Exchange | undefined;
  #ending: TransportEvent | undefined;
  readonly #onFailedAttempt: CallOptions["onFailedAttempt"];
  /** The last that the caller was told of. */
  #toldAttempt = 0;

  constructor(
    operation: OperationName,
    model: string,
    tell: (event: TransportEvent) => void,
    onFailedAttempt?: CallOptions["onFailedAttempt"],
  ) {
    this.operation = operation;
    this.model = model;
    this.#tell = tell;
    this.#onFailedAttempt = onFailedAttempt;
  }

  sent(attempt: number, sizeBytes: number, waitedMs: number): void {
    this.#attempt = attempt;
    this.#sentAtMs = performance.now();
    this.#write({ type: "request", ...this.#identity, sizeBytes, waitedMs });
  }

  /** An answer has begun; with `answered` it has ended well. */
  opened(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  failedAttempt({ code, status }: Failure, message: string, delayMs: number): void {
    const known = status === undefined ? {} : { status };
    this.#write({ type: "retry", ...this.#identity, delayMs, reason: code, message, ...known });
    this.#tellFailed({ code, ...known });
  }

  answered({ usage, model }: Learned): void {
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

  /** The error that the caller sees; undone by an answer that comes all the same. */
  failed(error: unknown): void {
    const known = error instanceof TransportError && error.status !== undefined ? { status: error.status } : {};
    const code = error instanceof TransportError ? error.code : "aborted";
    this.#ending = { type: "failure", ...this.#identity, code, milliseconds: this.#elapsedMs, ...known };
  }

  end(): void {
    if (this.#ending?.type === "failure") {
      const { code, status } = this.#ending;
      this.#tellFailed({ code, ...(status !== undefined && { status }) });
    }
    this.#write(this.#ending ?? { type: "left", ...this.#identity, milliseconds: this.#elapsedMs });
  }

  /** Once an attempt: one that ends while it waits to be sent again has been told of. */
  #tellFailed(attempt: FailedAttempt): void {
    if (this.#attempt <= this.#toldAttempt) return;
    this.#toldAttempt = this.#attempt;
    this.#onFailedAttempt?.(attempt);
  }

  get #identity() {
    return { operation: this.operation, model: this.model, attempt: this.#attempt };
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  #write(event: TransportEvent): void {
    this.#tell(event);
    this.listener?.(event);
  }
}
