import { randomUUID } from "node:crypto";
import { type ModelInfo, localModels, videoModels } from "../../contract/catalogue.js";
import { type Parameters, fillPath } from "../../contract/operation.js";
import { type OperationName, operations } from "../../contract/operations.js";
import { serviceRequests } from "../../dialects/service-requests.js";
import { serviceProfile } from "../../dialects/services.js";
import { callOptions } from "../../core/call-options.js";
import { TransportError, type TransportErrorCode } from "../../core/errors.js";
import { resolve } from "../../core/options.js";
import type { CallOptions } from "../../core/ports.js";
import { isObserved } from "../../core/telemetry.js";
import { Cancellation, Stopped } from "../failures/cancellation.js";
import { FailedAttempt, type Failure } from "../failures/failure.js";
import { requestedWaitMs } from "../failures/response-headers.js";
import { keepSecrets } from "../failures/secrecy.js";
import { serviceFailure } from "../failures/service-failure.js";
import { transportError } from "../failures/transport-error.js";
import { Connections } from "../http/connections.js";
import { errorText } from "./error-text.js";
import { Exchange, type Sending } from "../http/exchange.js";
import type { Outcome } from "../limits/adaptive-limit.js";
import { Admission, type Permit } from "../limits/admission.js";
import { estimatedTokens } from "../limits/load.js";
import type { TransportSettings } from "../options.js";
import { type Route, routesOf } from "../service-shape.js";
import type { TransportEvent } from "./events.js";
import { OngoingCall, type ReplyFacts } from "./ongoing-call.js";
import { replyLimitBytes } from "./reply-size.js";
import { requestBytes } from "./request-body.js";
import { retryDelayMs } from "./retry.js";
import { type Telemetry, loadTelemetry } from "./telemetry.js";
import { type ModelTotals, Totals } from "./totals.js";

/** A request to be sent. */
export interface Outgoing {
  readonly operation: OperationName;
  /** The model, or for requests without one, what they are about. Calls of one name share limits and totals. */
  readonly model: string;
  /** Values for the path and the query. */
  readonly parameters?: Parameters;
  /** Body; absent for a request without one. */
  readonly body?: unknown;
  readonly accept: "application/json" | "text/event-stream";
  /** Bytes that the reply may need. Default: few. */
  readonly replyBytes?: number;
}

/** The parts of a request that its errors name. */
type Subject = Pick<Outgoing, "operation" | "model" | "parameters">;

/** One call: the request, and how to read the reply. */
export interface Call<T> extends Outgoing {
  /** Reads a reply of status 2xx; a `FailedAttempt` from here is handled like one of the connection. */
  readonly read: (exchange: Exchange) => Promise<T>;
  /** Facts of the result; `undefined` from a stream, which reports them at its end. Default: none. */
  readonly facts?: (result: T) => ReplyFacts | undefined;
  /** The call to make after this failure; `undefined` for the same again. */
  readonly instead?: (failure: Failure) => Call<T> | undefined;
}

/** Failures that do not tell what the service did with a request that reached it. */
const unanswered: ReadonlySet<TransportErrorCode> = new Set(["network", "timeout", "upstream", "reply", "truncated"]);

function mayHaveWorked({ undelivered, retryable, code }: Failure): boolean {
  return !undelivered && (retryable || unanswered.has(code));
}

/** Makes the calls of one transport, which share connections, limits, cool-downs and totals, and end together. */
export class Caller {
  readonly settings: TransportSettings;
  readonly connections: Connections;
  /** Keeps the key out of errors and events. */
  readonly secrecy;
  readonly models: readonly ModelInfo[];
  /** The operations whose requests another service takes in its own way; `undefined` for the contract's own. */
  readonly serviceRequests;
  /** How the vectors of each embedding model travel, once the service has answered so. */
  readonly encodings = new Map<string, "base64" | "float">();
  readonly #routes;
  readonly #admission: Admission;
  readonly #ongoing = new Set<Cancellation>();
  readonly #work = new Set<Promise<unknown>>();
  readonly #origin: string;
  readonly #basePath: string;
  readonly #totals: Totals;
  /** Models whose calls were answered without token counts, by operation. Each is warned of once. */
  readonly #uncounted = new Set<string>();
  #telemetry: Promise<Telemetry | undefined> | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: TransportSettings) {
    this.settings = settings;
    this.models = [...settings.models, ...videoModels, ...localModels];
    this.connections = new Connections(settings);
    this.#routes = routesOf(settings);
    this.#admission = new Admission(settings);
    this.#totals = new Totals(settings.prices);
    this.secrecy = keepSecrets(settings.apiKey, Object.values(settings.headers));
    const profile = serviceProfile(settings.service);
    this.serviceRequests = profile && serviceRequests(settings.service, profile);
    const { origin, pathname } = new URL(settings.baseUrl);
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, "");
  }

  /** Does work of more than one call. It is stopped as a call is, and `close` waits until it has let go of everything. */
  async during<T>(name: string, options: CallOptions, work: (cancellation: Cancellation) => Promise<T>): Promise<T> {
    this.#checkOpen(name, options);
    const cancellation = new Cancellation(options);
    this.#ongoing.add(cancellation);
    const done = work(cancellation);
    this.#work.add(done);
    try {
      return await done;
    } finally {
      this.end(cancellation);
      this.#work.delete(done);
    }
  }

  /** Reports a request that will work, but hardly as it was meant. */
  warn(operation: OperationName, model: string, message: string): void {
    this.#emit({ type: "warning", operation, model, message });
  }

  /** Sums of all calls so far, by model. */
  totals(): Readonly<Record<string, ModelTotals>> {
    return this.#totals.read();
  }

  /** Makes a whole call, from the caller's options to the last attempt. */
  async perform<T>(call: Call<T>, options: CallOptions): Promise<T> {
    const ongoing = this.open(call, options);
    try {
      return await this.attempt(call, ongoing);
    } finally {
      this.end(ongoing);
    }
  }

  /** Begins a call that outlives its first answer, such as a stream. Close it with `end`. */
  open({ operation, model }: Pick<Outgoing, "operation" | "model">, options: CallOptions): OngoingCall {
    this.#checkOpen(operation, options);
    this.#routeOf(operation);
    const ongoing = new OngoingCall(operation, model, options, this.#emit);
    this.#ongoing.add(ongoing);
    return ongoing;
  }

  end(ongoing: Cancellation): void {
    ongoing.end();
    this.#ongoing.delete(ongoing);
  }

  /** The reply has been read to its end. */
  answered(ongoing: OngoingCall, facts: ReplyFacts): void {
    ongoing.answered(facts);
    if ("usage" in facts && !facts.usage) this.#warnOfNoUsage(ongoing);
    if (this.settings.tokensPerMinute === undefined || !facts.usage) return;
    const { inputTokens, outputTokens } = facts.usage;
    const tokens = inputTokens + outputTokens - ongoing.estimatedTokens;
    this.#admission.correct(ongoing.model, { requests: 0, tokens });
  }

  #warnOfNoUsage({ operation, model }: OngoingCall): void {
    const key = `${operation} ${model}`;
    if (this.#uncounted.has(key)) return;
    this.#uncounted.add(key);
    const message = "the service reports no token counts: usage and cost of these calls are unknown, or estimated";
    this.warn(operation, model, message);
  }

  /** @throws TransportError (`request`) when the service has no such operation. */
  #routeOf(operation: OperationName): Route {
    const route = this.#routes[operation];
    if (route) return route;
    const { service } = this.settings;
    const message = `${operation}: ${service} has no such operation. If what stands at ${this.settings.baseUrl} has it, name its path: createTransport({ paths: { ${operation}: "/…" } })`;
    throw new TransportError("request", message, { operation });
  }

  /** The path of a call below the base address, with the query that the service wants. */
  #pathOf({ operation, model, parameters }: Subject): string {
    const { path } = this.#routeOf(operation);
    const { apiVersion } = this.settings;
    const own = {
      ...(path.includes("{model}") && { model }),
      ...(apiVersion !== undefined && { "api-version": apiVersion }),
    };
    return fillPath(path, Object.keys(own).length > 0 ? { ...own, ...parameters } : parameters);
  }

  /** Sends a call until it works, fails for good, or runs out of time. */
  async attempt<T>(first: Call<T>, ongoing: OngoingCall): Promise<T> {
    let call = first;
    let last: Failure | undefined;
    try {
      let body = requestBytes(call, this.settings);
      const metered = this.settings.tokensPerMinute !== undefined;
      const load = { requests: 1, tokens: metered ? estimatedTokens(call.body) : 0 };
      ongoing.estimatedTokens = load.tokens;
      if (this.settings.telemetry) await this.#trace(call, ongoing);
      for (;;) {
        const permit = await this.#admission.enter(call.model, load, ongoing);
        try {
          return await this.#attemptOnce(call, body, ongoing, permit);
        } catch (thrown) {
          if (!(thrown instanceof FailedAttempt)) throw thrown;
          last = { ...thrown.failure, undelivered: thrown.failure.undelivered || !ongoing.departed };
          ongoing.departed = false;
          ongoing.mayHaveArrived ||= mayHaveWorked(last);
          await ongoing.sleep(this.#retryDelayMs(call, last, ongoing));
          await ongoing.mayRepeat;
          const instead = call.instead?.(last);
          if (!instead) continue;
          call = instead;
          body = requestBytes(call, this.settings);
        }
      }
    } catch (thrown) {
      throw this.explain(call, thrown, ongoing, last);
    }
  }

  /** Makes the error that the caller sees from something thrown on the way. */
  explain(call: Subject, thrown: unknown, ongoing: OngoingCall, last?: Failure): unknown {
    const error = this.#errorOf(call, thrown, ongoing, last);
    ongoing.failed(error);
    return error;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const ongoing of this.#ongoing) ongoing.stop({ kind: "closed" });
    await this.connections.close();
    await Promise.allSettled(this.#work);
  }

  #errorOf(
    { operation, model, parameters }: Subject,
    thrown: unknown,
    ongoing: OngoingCall,
    last: Failure | undefined,
  ): unknown {
    const { service, baseUrl, apiKey } = this.settings;
    const id = parameters?.["id"];
    const failed = {
      operation,
      service,
      baseUrl,
      path: this.#pathOf({ operation, model, parameters }).replace(/\?.*/s, ""),
      hasKey: apiKey !== undefined,
      model,
      taskId: typeof id === "string" ? id : undefined,
      attempts: ongoing.attempts,
      secrecy: this.secrecy,
    };
    // A request that may have been carried out and must not be repeated is neither a failure nor a success.
    const once = operations[operation].repeat === "undelivered";
    if (thrown instanceof FailedAttempt) {
      const { failure } = thrown;
      const ambiguous = once && (ongoing.mayHaveArrived || mayHaveWorked(failure));
      return transportError(ambiguous ? { ...failure, code: "ambiguous", retryable: false } : failure, failed);
    }
    if (!(thrown instanceof Stopped)) return thrown;
    const { why } = thrown;
    const undelivered = !ongoing.departed && !ongoing.mayHaveArrived;
    const ambiguous = once && !undelivered;
    if (why.kind === "aborted") {
      if (ambiguous) this.#warnOfOrphan(ongoing);
      return why.reason;
    }
    if (why.kind === "closed") {
      const code = ambiguous ? "ambiguous" : "network";
      return transportError({ code, message: "the transport was closed", retryable: false, undelivered }, failed);
    }
    const message = `its deadline of ${why.deadlineMs} ms passed${last ? `; before that: ${last.message}` : ""}`;
    const cause = last && transportError(last, failed);
    const code = ambiguous ? "ambiguous" : "timeout";
    return transportError({ code, message, retryable: !ambiguous, undelivered, cause }, failed);
  }

  /** An abort is thrown as it is, and cannot tell what it left behind. */
  #warnOfOrphan({ operation, model, startedAtMs }: OngoingCall): void {
    const since = new Date(Date.now() - (performance.now() - startedAtMs)).toISOString();
    const message = `it was aborted after it had been sent: what it asked for may have been created since ${since}, and would cost. Look for it (listVideoTasks) before asking again`;
    this.warn(operation, model, message);
  }

  #checkOpen(name: string, options: CallOptions): void {
    resolve(name, callOptions, options);
    if (!this.#closing) return;
    const message = `${name}: this transport is closed: after close() calls need another one`;
    throw new TransportError("request", message, { operation: name });
  }

  /** Opens the span of the call before its first attempt. */
  async #trace({ operation, model, body }: Outgoing, ongoing: OngoingCall): Promise<void> {
    // Asked at each call, since a program may register later; loading it takes longer than a short command's calls.
    if (isObserved()) this.#telemetry ??= loadTelemetry(this.settings);
    const listener = (await this.#telemetry)?.begin({ operation, model, body });
    ongoing.listener ??= listener && ((event) => listener(this.secrecy.redactAll(event)));
  }

  async #attemptOnce<T>(call: Call<T>, body: Buffer | null, ongoing: OngoingCall, permit: Permit): Promise<T> {
    let exchange: Exchange;
    let outcome: Outcome = "neither";
    try {
      ongoing.throwIfStopped();
      ongoing.sending(body?.length ?? 0, permit.waitedMs);
      exchange = await Exchange.open(this.#sending(call, body, ongoing));
      outcome = this.#outcomeOf(exchange, call.model);
    } finally {
      permit.release(outcome);
    }
    if (exchange.status >= 300) throw await this.#refused(call, exchange);
    ongoing.opened(exchange);
    const result = await call.read(exchange);
    const facts = call.facts ? call.facts(result) : {};
    if (facts) this.answered(ongoing, facts);
    return result;
  }

  /** Reads the service's load from its headers. A wait that they ask for begins before the slot is free again. */
  #outcomeOf({ status, headers }: Exchange, model: string): Outcome {
    if (status !== 429 && status !== 503) return status < 500 ? "answered" : "neither";
    const waitMs = requestedWaitMs(headers, Date.now());
    if (waitMs !== undefined) this.#coolDown(model, waitMs);
    return "turned-away";
  }

  #sending(
    { operation, model, accept, parameters, replyBytes }: Outgoing,
    body: Buffer | null,
    ongoing: OngoingCall,
  ): Sending {
    const { apiKey, headers, maxReplyBytes = replyLimitBytes(replyBytes), service, traceHeaders } = this.settings;
    const { method, timeoutMs } = this.#routeOf(operation);
    const keyHeader = serviceProfile(service)?.keyHeader;
    return {
      connections: this.connections,
      request: {
        origin: this.#origin,
        path: this.#basePath + this.#pathOf({ operation, model, parameters }),
        method,
        headers: {
          ...headers,
          accept,
          ...(body && { "content-type": "application/json" }),
          ...(apiKey !== undefined && (keyHeader ? { [keyHeader]: apiKey } : { authorization: `Bearer ${apiKey}` })),
          ...(traceHeaders && { "x-trace-id": ongoing.traceId, "x-client-request-id": randomUUID() }),
        },
        body,
        // The exchange enforces its own timeout.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      timeoutMs,
      maxBytes: maxReplyBytes,
      cancellation: ongoing,
      onSent: () => (ongoing.departed = true),
    };
  }

  async #refused({ operation, model }: Outgoing, exchange: Exchange): Promise<FailedAttempt> {
    const { status, headers } = exchange;
    if (status < 400) {
      exchange.end();
      const target = String(headers["location"]);
      const message = `status ${status} points to ${target}: redirects are not followed, for the key would go along`;
      return new FailedAttempt({ code: "refused", message, retryable: false, undelivered: true, status });
    }
    const body = await errorText(exchange);
    const failure = serviceFailure({ operation, status, headers, body, nowMs: Date.now() });
    // A wait that headers ask for was noted when they came.
    const { code, retryAfterMs } = failure;
    if (code === "rate-limited" && retryAfterMs !== undefined && requestedWaitMs(headers, Date.now()) === undefined) {
      this.#coolDown(model, retryAfterMs);
    }
    return new FailedAttempt(failure);
  }

  /** Milliseconds until the next attempt. @throws FailedAttempt when there is to be none. */
  #retryDelayMs({ operation, model }: Outgoing, failure: Failure, ongoing: OngoingCall): number {
    const { attempts: attempt, deadlineAtMs } = ongoing;
    const delayMs = retryDelayMs(
      { failure, attempt, deadlineAtMs, nowMs: performance.now(), random: Math.random() },
      { ...this.settings, ...this.#routeOf(operation) },
    );
    // A wait that the service asked for was noted when its headers came.
    if (failure.code === "rate-limited" && failure.retryAfterMs === undefined && delayMs !== undefined) {
      this.#coolDown(model, delayMs);
    }
    if (delayMs === undefined) throw new FailedAttempt(failure);
    ongoing.failedAttempt(failure, delayMs);
    return delayMs;
  }

  #coolDown(model: string, delayMs: number): void {
    if (this.#admission.coolDown(model, delayMs)) this.#emit({ type: "cool-down", model, delayMs });
  }

  readonly #emit = (event: TransportEvent): void => {
    this.#totals.add(event);
    this.settings.onEvent?.(this.secrecy.redactAll(event));
  };
}
