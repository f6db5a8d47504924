import pLimit from "p-limit";
import { Agent, type Dispatcher } from "undici";
import { type ModelInfo, localModels, videoModels } from "../contract/catalogue.js";
import { type Operation, maxBodyBytes } from "../contract/operation.js";
import type { OperationName } from "../contract/operations.js";
import { TransportError } from "../errors.js";
import type { CallOptions } from "../ports.js";
import { CallScope, Stopped } from "./call-scope.js";
import { CoolDown } from "./cool-down.js";
import { Exchange, type Sending, type Slots } from "./exchange.js";
import { FailedAttempt, type Failure } from "./failure.js";
import type { TransportSettings } from "./options.js";
import { refusal, requestIdOf } from "./refusal.js";
import { transportError } from "./report.js";
import { retryDelayMs } from "./retry.js";
import { keepSecret } from "./secrecy.js";
import { type Headers, requestedWaitMs } from "./wait-headers.js";

/** One call: what to send, and how to read the reply. */
export interface Call<T> {
  readonly operation: Pick<Operation, "method" | "path" | "repeat" | "readTimeoutMs"> & {
    readonly name: OperationName;
  };
  readonly model: string;
  readonly body: unknown;
  readonly accept: "application/json" | "text/event-stream";
  /** Reads a reply of status 2xx; a `FailedAttempt` from here is decided upon like one of the connection. */
  readonly read: (exchange: Exchange) => Promise<T>;
}

/** Everything the calls of one transport share: connections, slots, cool-downs, and the end. */
export class Upstream {
  readonly settings: TransportSettings;
  readonly models: readonly ModelInfo[];
  /** How each embedding model's vectors travel, once the service has answered so. */
  readonly encodings = new Map<string, "base64" | "float">();
  readonly #dispatcher: Dispatcher;
  readonly #slots: Slots;
  readonly #coolDown = new CoolDown();
  readonly #scopes = new Set<CallScope>();
  readonly #secrecy;
  readonly #origin: string;
  readonly #basePath: string;
  #closed = false;

  constructor(settings: TransportSettings) {
    this.settings = settings;
    this.models = [...settings.models, ...videoModels, ...localModels];
    // Time-outs of the client are off (undici's own end a call after 300 s): operations have their own.
    this.#dispatcher =
      settings.dispatcher ??
      new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: settings.connectTimeoutMs } });
    this.#slots = pLimit(settings.concurrency);
    this.#secrecy = keepSecret(settings.apiKey);
    const { origin, pathname } = new URL(settings.baseUrl);
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, "");
  }

  /** The call whole, from the caller's options to the last attempt. */
  async perform<T>(call: Call<T>, options: CallOptions): Promise<T> {
    const scope = this.open(call, options);
    try {
      return await this.attempt(call, scope);
    } finally {
      this.end(scope);
    }
  }

  /** Begins a call that outlives its first answer, such as a stream. To be ended by `end`. */
  open({ operation }: Pick<Call<unknown>, "operation">, options: CallOptions): CallScope {
    if (this.#closed) {
      throw new TransportError("request", `${operation.name}: this transport is closed`, { operation: operation.name });
    }
    const scope = new CallScope(options);
    this.#scopes.add(scope);
    return scope;
  }

  end(scope: CallScope): void {
    scope.end();
    this.#scopes.delete(scope);
  }

  /** Sends until it works, is final, or time is up. */
  async attempt<T>(call: Call<T>, scope: CallScope): Promise<T> {
    const body = this.#encode(call);
    let last: Failure | undefined;
    try {
      for (;;) {
        await this.#coolDownOver(call, scope);
        try {
          const answered = await this.#once(call, body, scope);
          if (answered) return answered.result;
        } catch (thrown) {
          if (!(thrown instanceof FailedAttempt)) throw thrown;
          last = thrown.failure;
          await scope.sleep(this.#decide(call, last, scope));
        }
      }
    } catch (thrown) {
      throw this.explain(call, thrown, scope, last);
    }
  }

  /** What the caller is to see of something thrown on the way. */
  explain(
    call: Pick<Call<unknown>, "operation" | "model">,
    thrown: unknown,
    scope: CallScope,
    last?: Failure,
  ): unknown {
    const { attempts } = scope;
    const reported = {
      operation: call.operation.name,
      baseUrl: this.settings.baseUrl,
      model: call.model,
      attempts,
      secrecy: this.#secrecy,
    };
    if (thrown instanceof FailedAttempt) {
      const { failure } = thrown;
      // What may have been done and must not be done twice is neither a failure nor a success.
      const ambiguous = call.operation.repeat === "undelivered" && failure.retryable && !failure.undelivered;
      return transportError(ambiguous ? { ...failure, code: "ambiguous", retryable: false } : failure, reported);
    }
    if (!(thrown instanceof Stopped)) return thrown;
    const { why } = thrown;
    if (why.kind === "aborted") return why.reason;
    const undelivered = attempts === 0;
    if (why.kind === "closed") {
      return transportError(
        { code: "network", message: "the transport was closed", retryable: false, undelivered },
        reported,
      );
    }
    const message = `its deadline of ${why.deadlineMs} ms passed${last ? `; before that: ${last.message}` : ""}`;
    const cause = last && transportError(last, reported);
    return transportError({ code: "timeout", message, retryable: true, undelivered, cause }, reported);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const scope of this.#scopes) scope.stop({ kind: "closed" });
    if (this.settings.dispatcher === undefined) await this.#dispatcher.destroy();
  }

  #encode({ operation, body }: Call<unknown>): Buffer {
    const encoded = Buffer.from(JSON.stringify(body));
    if (encoded.length <= maxBodyBytes) return encoded;
    throw new TransportError(
      "too-large",
      `${operation.name}: the request has ${encoded.length} bytes, the service takes ${maxBodyBytes}: send fewer or shorter inputs`,
      { operation: operation.name },
    );
  }

  /** One attempt; `undefined` when a cool-down began while it was waiting for its slot. */
  async #once<T>(call: Call<T>, body: Buffer, scope: CallScope): Promise<{ readonly result: T } | undefined> {
    const { operation, model } = call;
    const { settings } = this;
    let attempt = 0;
    let startedAt = 0;
    const mayLeave = () => {
      startedAt = performance.now();
      if (this.#coolDown.remainingMs(model, startedAt) > 0) return false;
      attempt = ++scope.attempts;
      settings.onEvent?.({ type: "request", operation: operation.name, model, attempt, sizeBytes: body.length });
      return true;
    };
    // Before the slot is free: the call that gets it must know already.
    const answered = (status: number, headers: Headers) => {
      const waitMs = status === 429 || status === 503 ? requestedWaitMs(headers, Date.now()) : undefined;
      if (waitMs !== undefined) this.#cool(model, waitMs);
    };
    const exchange = await Exchange.open({ ...this.#sending(call, body), mayLeave, answered }, this.#slots, scope);
    if (!exchange) return undefined;
    if (exchange.status >= 300) throw await this.#refused(call, exchange);
    const result = await call.read(exchange);
    const requestId = requestIdOf(exchange.headers);
    settings.onEvent?.({
      type: "reply",
      operation: operation.name,
      model,
      attempt,
      milliseconds: performance.now() - startedAt,
      ...(requestId !== undefined && { requestId }),
    });
    return { result };
  }

  #sending({ operation, accept }: Call<unknown>, body: Buffer): Omit<Sending, "mayLeave" | "answered"> {
    const { apiKey, paths, readTimeoutMs } = this.settings;
    return {
      dispatcher: this.#dispatcher,
      origin: this.#origin,
      path: this.#basePath + (paths[operation.name] ?? operation.path),
      method: operation.method,
      headers: {
        accept,
        "content-type": "application/json",
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body,
      timeoutMs: readTimeoutMs ?? operation.readTimeoutMs,
    };
  }

  async #refused({ operation }: Call<unknown>, exchange: Exchange): Promise<FailedAttempt> {
    const { status, headers } = exchange;
    const target = headers["location"];
    if (status < 400) {
      exchange.end();
      const message = `status ${status} points to ${String(target)}: redirects are not followed, for the key would go along`;
      return new FailedAttempt({ code: "refused", message, retryable: false, undelivered: true, status });
    }
    const body = await exchange.text();
    return new FailedAttempt(refusal({ operation: operation.name, status, headers, body, nowMs: Date.now() }));
  }

  /** Milliseconds until the next attempt. @throws FailedAttempt when there is to be none. */
  #decide({ operation, model }: Call<unknown>, failure: Failure, scope: CallScope): number {
    const { attempts: attempt } = scope;
    const nowMs = performance.now();
    const deadline = scope.deadlineAtMs === undefined ? {} : { deadlineAtMs: scope.deadlineAtMs };
    const delayMs = retryDelayMs(
      { failure, attempt, nowMs, random: Math.random(), ...deadline },
      { ...this.settings, repeat: operation.repeat },
    );
    // The service's own wait was noted when its headers came.
    if (failure.code === "rate-limited" && failure.retryAfterMs === undefined && delayMs !== undefined) {
      this.#cool(model, delayMs);
    }
    if (delayMs === undefined) throw new FailedAttempt(failure);
    this.settings.onEvent?.({
      type: "retry",
      operation: operation.name,
      model,
      attempt,
      delayMs,
      reason: failure.code,
      message: this.#secrecy.redact(failure.message),
      ...(failure.status !== undefined && { status: failure.status }),
    });
    return delayMs;
  }

  #cool(model: string, delayMs: number): void {
    if (!this.#coolDown.extend(model, performance.now() + delayMs)) return;
    this.settings.onEvent?.({ type: "cool-down", model, delayMs });
  }

  /** Waits while the model wants no calls. @throws FailedAttempt when that is longer than the call may wait. */
  async #coolDownOver({ model }: Call<unknown>, scope: CallScope): Promise<void> {
    scope.throwIfStopped();
    for (;;) {
      const nowMs = performance.now();
      const remainingMs = this.#coolDown.remainingMs(model, nowMs);
      if (remainingMs === 0) return;
      const allowedMs = scope.deadlineAtMs === undefined ? this.settings.maxRetryAfterMs : scope.deadlineAtMs - nowMs;
      if (remainingMs > allowedMs) {
        throw new FailedAttempt({
          code: "rate-limited",
          message: `the service wants no calls to ${model} now`,
          retryable: true,
          undelivered: true,
          retryAfterMs: remainingMs,
        });
      }
      await scope.sleep(remainingMs);
    }
  }
}
