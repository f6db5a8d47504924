import { randomUUID } from "node:crypto";
import type { Dispatcher } from "undici";
import { type ModelInfo, localModels, videoModels } from "../contract/catalogue.js";
import type { Operation } from "../contract/operation.js";
import type { OperationName } from "../contract/operations.js";
import { type Parameters, fillPath } from "../contract/path.js";
import { TransportError, type TransportErrorCode } from "../errors.js";
import type { CallOptions } from "../ports.js";
import type { Outcome } from "./adaptive-limit.js";
import { Admission, type Leave } from "./admission.js";
import { CallJournal, type Learned } from "./call-journal.js";
import { CallScope } from "./call-scope.js";
import { Stopped, Stopping, checkCallOptions } from "./stopping.js";
import { Connecting } from "./connecting.js";
import { openDispatcher } from "./dispatcher.js";
import { estimatedTokens } from "./estimated-tokens.js";
import { Exchange, type Sending } from "./exchange.js";
import type { TransportEvent } from "./events.js";
import type { Incoming } from "./incoming.js";
import { FailedAttempt, type Failure } from "./failure.js";
import type { TransportSettings } from "./options.js";
import { refusal } from "./refusal.js";
import { transportError } from "./report.js";
import { type RetryPolicy, retryDelayMs } from "./retry.js";
import { keepSecret } from "./secrecy.js";
import { type Telemetry, loadTelemetry } from "./telemetry.js";
import { type ModelTotals, Totals } from "./totals.js";
import { requestedWaitMs } from "./wait-headers.js";

/** What to send. */
export interface Outgoing {
  readonly operation: Pick<Operation, "method" | "path" | "repeat" | "readTimeoutMs"> & {
    readonly name: OperationName;
  };
  /** The model that it is for; where there is none, what it is about. Calls of one name share limits and totals. */
  readonly model: string;
  /** What the path names, and the query. */
  readonly parameters?: Parameters;
  /** Left out for a request without a body. */
  readonly body?: unknown;
  readonly accept: "application/json" | "text/event-stream";
}

/** One call: what to send, and how to read the reply. */
export interface Call<T> extends Outgoing {
  /** Reads a reply of status 2xx; a `FailedAttempt` from here is decided upon like one of the connection. */
  readonly read: (exchange: Exchange) => Promise<T>;
  /** What the result tells, where reading it was all there is to the call; a stream says it at its end. */
  readonly learned?: (result: T) => Learned;
  /** What to send instead after this failure; `undefined` for the same again. */
  readonly instead?: (failure: Failure) => Call<T> | undefined;
}

/** Failures that leave open what the service did with a request that reached it. */
const unanswered: ReadonlySet<TransportErrorCode> = new Set(["network", "timeout", "upstream", "reply", "truncated"]);

function leavesOpen({ undelivered, retryable, code }: Failure): boolean {
  return !undelivered && (retryable || unanswered.has(code));
}

/** Everything the calls of one transport share: connections, slots, cool-downs, and the end. */
export class Upstream {
  readonly settings: TransportSettings;
  readonly models: readonly ModelInfo[];
  /** How each embedding model's vectors travel, once the service has answered so. */
  readonly encodings = new Map<string, "base64" | "float">();
  readonly #dispatcher: Dispatcher;
  readonly #connecting = new Connecting();
  readonly #admission: Admission;
  readonly #stoppings = new Set<Stopping>();
  readonly #work = new Set<Promise<unknown>>();
  readonly #secrecy;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #totals: Totals;
  #telemetry: Promise<Telemetry | undefined> | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: TransportSettings) {
    this.settings = settings;
    this.models = [...settings.models, ...videoModels, ...localModels];
    this.#dispatcher = settings.dispatcher ?? openDispatcher(settings, this.#connecting);
    this.#admission = new Admission(settings);
    this.#totals = new Totals(settings.prices);
    this.#secrecy = keepSecret(settings.apiKey);
    const { origin, pathname } = new URL(settings.baseUrl);
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, "");
  }

  /** Sends something that is no operation: without the key, and beside all limits. */
  fetch(request: Dispatcher.DispatchOptions, incoming: Incoming): void {
    this.#connecting.during(incoming, () => this.#dispatcher.dispatch(request, incoming));
  }

  /** Work that is no single call. It is stopped as a call is, and `close` waits until it has let go of what it holds. */
  async during<T>(name: string, options: CallOptions, work: (stopping: Stopping) => Promise<T>): Promise<T> {
    this.#checkOpen(name, options);
    const stopping = new Stopping(options);
    this.#stoppings.add(stopping);
    const done = work(stopping);
    this.#work.add(done);
    try {
      return await done;
    } finally {
      stopping.end();
      this.#stoppings.delete(stopping);
      this.#work.delete(done);
    }
  }

  /** Something about a request that will work, but hardly as it was meant. */
  warn(operation: OperationName, model: string, message: string): void {
    this.#tell({ type: "warning", operation, model, message });
  }

  /** What all calls so far came to, by model. */
  totals(): Readonly<Record<string, ModelTotals>> {
    return this.#totals.read();
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
  open({ operation, model }: Pick<Outgoing, "operation" | "model">, options: CallOptions): CallScope {
    this.#checkOpen(operation.name, options);
    const scope = new CallScope(options, new CallJournal(operation.name, model, this.#tell, options.onFailedAttempt));
    this.#stoppings.add(scope);
    return scope;
  }

  end(scope: CallScope): void {
    scope.end();
    this.#stoppings.delete(scope);
    scope.journal.end();
  }

  /** The call has what it was made for, and nothing of it is left to read. */
  answered({ journal }: CallScope, learned: Learned): void {
    journal.answered(learned);
    if (this.settings.tokensPerMinute === undefined || !learned.usage) return;
    const { inputTokens, outputTokens } = learned.usage;
    const tokens = inputTokens + outputTokens - journal.estimatedTokens;
    this.#admission.correct(journal.model, { requests: 0, tokens });
  }

  /** Sends until it works, is final, or time is up. */
  async attempt<T>(first: Call<T>, scope: CallScope): Promise<T> {
    let call = first;
    let last: Failure | undefined;
    try {
      let body = this.#encode(call);
      const metered = this.settings.tokensPerMinute !== undefined;
      const load = { requests: 1, tokens: metered ? estimatedTokens(call.body) : 0 };
      scope.journal.estimatedTokens = load.tokens;
      if (this.settings.telemetry) await this.#trace(call, scope);
      for (;;) {
        const leave = await this.#admission.enter(call.model, load, scope);
        try {
          return await this.#once(call, body, scope, leave);
        } catch (thrown) {
          if (!(thrown instanceof FailedAttempt)) throw thrown;
          last = { ...thrown.failure, undelivered: thrown.failure.undelivered || !scope.departed };
          scope.departed = false;
          scope.mayHaveArrived ||= leavesOpen(last);
          await scope.sleep(this.#decide(call, last, scope));
          const instead = call.instead?.(last);
          if (!instead) continue;
          call = instead;
          body = this.#encode(call);
        }
      }
    } catch (thrown) {
      throw this.explain(call, thrown, scope, last);
    }
  }

  /** What the caller is to see of something thrown on the way. */
  explain(call: Pick<Outgoing, "operation" | "model">, thrown: unknown, scope: CallScope, last?: Failure): unknown {
    const error = this.#explained(call, thrown, scope, last);
    scope.journal.failed(error);
    return error;
  }

  #explained(
    call: Pick<Outgoing, "operation" | "model">,
    thrown: unknown,
    scope: CallScope,
    last: Failure | undefined,
  ): unknown {
    const { attempts } = scope;
    const { name, path } = call.operation;
    const reported = {
      operation: name,
      baseUrl: this.settings.baseUrl,
      path: this.settings.paths[name] ?? path,
      hasKey: this.settings.apiKey !== undefined,
      model: call.model,
      attempts,
      secrecy: this.#secrecy,
    };
    // What may have been done and must not be done twice is neither a failure nor a success.
    const once = call.operation.repeat === "undelivered";
    if (thrown instanceof FailedAttempt) {
      const { failure } = thrown;
      const ambiguous = once && (scope.mayHaveArrived || leavesOpen(failure));
      return transportError(ambiguous ? { ...failure, code: "ambiguous", retryable: false } : failure, reported);
    }
    if (!(thrown instanceof Stopped)) return thrown;
    const { why } = thrown;
    if (why.kind === "aborted") {
      if (once && (scope.departed || scope.mayHaveArrived)) this.#warnOfTrace(call, scope);
      return why.reason;
    }
    const undelivered = !scope.departed && !scope.mayHaveArrived;
    const ambiguous = once && !undelivered;
    if (why.kind === "closed") {
      const code = ambiguous ? "ambiguous" : "network";
      return transportError({ code, message: "the transport was closed", retryable: false, undelivered }, reported);
    }
    const message = `its deadline of ${why.deadlineMs} ms passed${last ? `; before that: ${last.message}` : ""}`;
    const cause = last && transportError(last, reported);
    const code = ambiguous ? "ambiguous" : "timeout";
    return transportError({ code, message, retryable: !ambiguous, undelivered, cause }, reported);
  }

  /** An abort is thrown as it is, and cannot tell what it left behind. */
  #warnOfTrace({ operation, model }: Pick<Outgoing, "operation" | "model">, { startedAtMs }: CallScope): void {
    const since = new Date(Date.now() - (performance.now() - startedAtMs)).toISOString();
    const message = `it was aborted after it had been sent: what it asked for may have been created since ${since}, and would cost. Look for it (listVideoTasks) before asking again`;
    this.warn(operation.name, model, message);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const stopping of this.#stoppings) stopping.stop({ kind: "closed" });
    this.#connecting.close();
    if (this.settings.dispatcher === undefined) await this.#dispatcher.destroy();
    await Promise.allSettled(this.#work);
  }

  #checkOpen(name: string, options: CallOptions): void {
    checkCallOptions(name, options);
    if (!this.#closing) return;
    const message = `${name}: this transport is closed: after close() calls need another one`;
    throw new TransportError("request", message, { operation: name });
  }

  /** Opens the call's span, the first time that it is tried. */
  async #trace({ operation, model, body }: Outgoing, { journal }: CallScope): Promise<void> {
    this.#telemetry ??= loadTelemetry(this.settings);
    const telemetry = await this.#telemetry;
    journal.listener ??= telemetry?.begin({ operation: operation.name, model, body });
  }

  #encode({ operation, body }: Outgoing): Buffer | null {
    if (body === undefined) return null;
    const { maxBodyBytes } = this.settings;
    const encoded = Buffer.from(JSON.stringify(body));
    if (encoded.length <= maxBodyBytes) return encoded;
    throw new TransportError(
      "too-large",
      `${operation.name}: the request has ${encoded.length} bytes, at most ${maxBodyBytes} are taken: send fewer or shorter inputs`,
      { operation: operation.name },
    );
  }

  /** One attempt. */
  async #once<T>(call: Call<T>, body: Buffer | null, scope: CallScope, leave: Leave): Promise<T> {
    let exchange: Exchange;
    let outcome: Outcome = "neither";
    try {
      scope.throwIfStopped();
      scope.journal.sent(++scope.attempts, body?.length ?? 0, leave.waitedMs);
      scope.departed = false;
      exchange = await Exchange.open(this.#sending(call, body, scope), scope);
      outcome = this.#outcomeOf(exchange, call.model);
    } finally {
      leave.release(outcome);
    }
    if (exchange.status >= 300) throw await this.#refused(call, exchange);
    scope.journal.opened(exchange);
    const result = await call.read(exchange);
    if (call.learned) this.answered(scope, call.learned(result));
    return result;
  }

  /** What the headers say of the service's load. A wait that they ask for holds before the slot is free again. */
  #outcomeOf({ status, headers }: Exchange, model: string): Outcome {
    if (status !== 429 && status !== 503) return status < 500 ? "answered" : "neither";
    const waitMs = requestedWaitMs(headers, Date.now());
    if (waitMs !== undefined) this.#cool(model, waitMs);
    return "turned-away";
  }

  #sending({ operation, accept, parameters }: Outgoing, body: Buffer | null, scope: CallScope): Sending {
    const { apiKey, paths, readTimeoutMs, videoCreateTimeoutMs, traceHeaders, videoQueryMethod } = this.settings;
    const method = operation.name === "videoTask" ? videoQueryMethod : operation.method;
    return {
      dispatcher: this.#dispatcher,
      connecting: this.#connecting,
      request: {
        origin: this.#origin,
        path: this.#basePath + fillPath(paths[operation.name] ?? operation.path, parameters),
        method,
        headers: {
          accept,
          ...(body && { "content-type": "application/json" }),
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          ...(traceHeaders && { "x-trace-id": scope.traceId, "x-client-request-id": randomUUID() }),
        },
        body,
        // The exchange watches the time itself.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      timeoutMs:
        operation.name === "createVideoTask" ? videoCreateTimeoutMs : (readTimeoutMs ?? operation.readTimeoutMs),
    };
  }

  async #refused({ operation }: Outgoing, exchange: Exchange): Promise<FailedAttempt> {
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
  #decide({ operation, model }: Outgoing, failure: Failure, scope: CallScope): number {
    const { attempts: attempt } = scope;
    const nowMs = performance.now();
    const deadline = scope.deadlineAtMs === undefined ? {} : { deadlineAtMs: scope.deadlineAtMs };
    const delayMs = retryDelayMs(
      { failure, attempt, nowMs, random: Math.random(), ...deadline },
      { ...this.settings, ...this.#repeats(operation) },
    );
    // The service's own wait was noted when its headers came.
    if (failure.code === "rate-limited" && failure.retryAfterMs === undefined && delayMs !== undefined) {
      this.#cool(model, delayMs);
    }
    if (delayMs === undefined) throw new FailedAttempt(failure);
    scope.journal.failedAttempt(failure, this.#secrecy.redact(failure.message), delayMs);
    return delayMs;
  }

  #repeats({ name, repeat }: Outgoing["operation"]): Pick<RetryPolicy, "repeat" | "maxRetries"> {
    const { retryVideoCreate, maxRetries } = this.settings;
    if (name !== "createVideoTask") return { repeat, maxRetries };
    return {
      repeat: retryVideoCreate === "always" ? "always" : repeat,
      maxRetries: retryVideoCreate === "never" ? 0 : maxRetries,
    };
  }

  readonly #tell = (event: TransportEvent): void => {
    this.#totals.take(event);
    this.settings.onEvent?.(event);
  };

  #cool(model: string, delayMs: number): void {
    if (!this.#admission.cool(model, delayMs)) return;
    this.#tell({ type: "cool-down", model, delayMs });
  }
}
