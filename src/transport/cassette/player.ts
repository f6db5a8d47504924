import { DecoratorHandler, Dispatcher } from "undici";
import { isRecord } from "../../core/json.js";
import { FailedAttempt } from "../failures/failure.js";
import { type RecordedExchange, decodeChunk, recordedRequest } from "./cassette-file.js";

type RecordedRequest = RecordedExchange["request"];

/** Answers from the recorded exchanges, and sends nothing. */
export class Player extends Dispatcher {
  readonly #path: string;
  readonly #exchanges: readonly RecordedExchange[];
  /** Exchanges that were not played yet, by their request. */
  readonly #left = new Map<string, RecordedExchange[]>();
  #closed = false;

  constructor(path: string, exchanges: readonly RecordedExchange[]) {
    super();
    this.#path = path;
    this.#exchanges = exchanges;
    for (const exchange of exchanges) {
      const identity = JSON.stringify(exchange.request);
      this.#left.set(identity, [...(this.#left.get(identity) ?? []), exchange]);
    }
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const request = recordedRequest(options);
    const exchange = this.#closed ? undefined : this.#left.get(JSON.stringify(request))?.shift();
    void play(exchange, new DecoratorHandler(handler), () => unrecorded(this.#describeMissing(request)));
    return true;
  }

  override close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  override destroy(): Promise<void> {
    return this.close();
  }

  #describeMissing(request: RecordedRequest): string {
    const cassette = `the cassette ${this.#path}`;
    if (this.#closed) return `${cassette} is closed`;
    const nameOf = ({ method, path }: RecordedRequest) => `${method} ${path}`;
    const name = nameOf(request);
    const identity = JSON.stringify(request);
    const times = this.#exchanges.filter((exchange) => JSON.stringify(exchange.request) === identity).length;
    if (times > 0) return `${cassette} holds this ${name} ${times} times, and it is sent once more`;
    const similar = this.#exchanges.filter((exchange) => nameOf(exchange.request) === name);
    if (similar.length === 0) {
      const known = new Set(this.#exchanges.map((exchange) => nameOf(exchange.request)));
      return `${cassette} holds no ${name}, only ${[...known].join(", ") || "nothing"}`;
    }
    const bodies = similar.map((exchange) => exchange.request.body);
    return `${cassette} holds no such ${name}. ${nearestDifference(bodies, request.body)}`;
  }
}

/** The cassette does not hold the request. Sending it again would end the same way. */
function unrecorded(message: string): FailedAttempt {
  return new FailedAttempt({ code: "request", message, retryable: false, undelivered: true });
}

/** Plays an exchange as a connection would: each piece in its own turn, no faster than it is read. */
async function play(
  exchange: RecordedExchange | undefined,
  handler: Dispatcher.DispatchHandler,
  missing: () => FailedAttempt,
): Promise<void> {
  const controller = new PlayController((reason) => handler.onResponseError?.(controller, reason));
  if (exchange?.failure?.sent !== false) handler.onRequestStart?.(controller, {});
  await turn();
  if (controller.aborted) return;
  if (!exchange) {
    controller.abort(missing());
    return;
  }
  const { reply, failure } = exchange;
  if (reply) {
    handler.onResponseStart?.(controller, reply.status, reply.headers, "");
    for (const chunk of reply.chunks) {
      if (!(await controller.nextTurn())) return;
      handler.onResponseData?.(controller, decodeChunk(chunk));
    }
    if (!(await controller.nextTurn())) return;
  }
  if (failure) controller.abort(Object.assign(new Error(failure.message), { code: failure.code }));
  else handler.onResponseEnd?.(controller, {});
}

class PlayController implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  readonly #onAbort: (reason: Error) => void;
  #wake: (() => void) | undefined;

  constructor(onAbort: (reason: Error) => void) {
    this.#onAbort = onAbort;
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.resume();
    this.#onAbort(reason);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#wake?.();
  }

  /** Waits for a turn in which the reader takes more. False once it was aborted. */
  async nextTurn(): Promise<boolean> {
    await turn();
    if (this.paused && !this.aborted) await new Promise<void>((resolve) => (this.#wake = resolve));
    return !this.aborted;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

interface Difference {
  /** `input.0`; empty for the body as a whole. */
  readonly field: string;
  readonly recorded: unknown;
  readonly sent: unknown;
}

/** Lists the fields in which two JSON values differ. */
export function differences(recorded: unknown, sent: unknown, field = ""): readonly Difference[] {
  const areLists = Array.isArray(recorded) && Array.isArray(sent);
  if (!areLists && !(isRecord(recorded) && isRecord(sent))) {
    const same = Object.is(recorded, sent) || JSON.stringify(recorded) === JSON.stringify(sent);
    return same ? [] : [{ field, recorded, sent }];
  }
  const [before, now] = [recorded, sent] as readonly Readonly<Record<string, unknown>>[];
  const keys = new Set([...Object.keys(before!), ...Object.keys(now!)]);
  return [...keys].flatMap((key) => differences(before![key], now![key], field === "" ? key : `${field}.${key}`));
}

/** Describes how a body differs from the nearest recorded one. */
export function nearestDifference(recorded: readonly unknown[], sent: unknown): string {
  const [nearest = []] = recorded.map((body) => differences(body, sent)).toSorted((a, b) => a.length - b.length);
  const [first] = nearest;
  if (!first) return "";
  const more = nearest.length > 1 ? `, and ${nearest.length - 1} more` : "";
  const place = first.field === "" ? "the body" : first.field;
  return `${place}: recorded ${preview(first.recorded)}, sent ${preview(first.sent)}${more}`;
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
