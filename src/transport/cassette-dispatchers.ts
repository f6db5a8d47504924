import { DecoratorHandler, Dispatcher } from "undici";
import { nearestDifference } from "./cassette-difference.js";
import { type RecordedExchange, decodeChunk, encodeChunk, withoutSecret, writeCassette } from "./cassette-file.js";
import { UnrecordedRequest } from "./unrecorded-request.js";

type RecordedRequest = RecordedExchange["request"];
type Handler = Dispatcher.DispatchHandler;
type Options = Dispatcher.DispatchOptions;

/** Sends requests on, and writes them with their replies when it is closed. */
export class Recorder extends Dispatcher {
  readonly #path: string;
  readonly #inner: Dispatcher;
  readonly #ownsInner: boolean;
  /** In the order in which they were sent; those in progress have no end yet. */
  readonly #exchanges: RecordedExchange[] = [];

  constructor(path: string, inner: Dispatcher, ownsInner: boolean) {
    super();
    this.#path = path;
    this.#inner = inner;
    this.#ownsInner = ownsInner;
  }

  override dispatch(options: Options, handler: Handler): boolean {
    const secret = keyIn(options.headers);
    const place = this.#exchanges.push({ request: requestOf(options, secret) }) - 1;
    return this.#inner.dispatch(
      options,
      recording(handler, secret, (end) => {
        this.#exchanges[place] = { ...this.#exchanges[place]!, ...end };
      }),
    );
  }

  override async close(): Promise<void> {
    const ended = this.#exchanges.filter(({ reply, failure }) => reply ?? failure);
    await writeCassette(this.#path, ended);
    if (this.#ownsInner) await this.#inner.close();
  }

  override async destroy(): Promise<void> {
    if (this.#ownsInner) await this.#inner.destroy();
  }
}

/** Hands everything on, and says at the end what it was. */
function recording(
  handler: Handler,
  secret: string | undefined,
  ended: (end: Pick<RecordedExchange, "reply" | "failure">) => void,
): Handler {
  let head: { readonly status: number; readonly headers: Readonly<Record<string, string | string[]>> } | undefined;
  const pieces: Buffer[] = [];
  let sent = false;
  const reply = () => {
    if (!head) return {};
    const clean = withoutSecret(pieces, secret);
    const headers = { ...head.headers };
    if (clean !== pieces) delete headers["content-length"];
    return { reply: { status: head.status, headers, chunks: clean.map(encodeChunk) } };
  };
  const inner = modern(handler);
  return {
    onRequestStart(controller, context) {
      sent = true;
      inner.onRequestStart?.(controller, context);
    },
    onResponseStart(controller, status, headers, message) {
      // Informational ones go before the reply.
      if (status < 200) return;
      head = { status, headers: safeHeaders(headers, secret) };
      inner.onResponseStart?.(controller, status, headers, message);
    },
    onResponseData(controller, piece) {
      // The client may use the memory again.
      pieces.push(Buffer.from(piece));
      inner.onResponseData?.(controller, piece);
    },
    onResponseEnd(controller, trailers) {
      ended(reply());
      inner.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      const failure = { code, message: redact(error.message, secret), ...(!sent && { sent }) };
      ended({ ...reply(), failure });
      inner.onResponseError?.(controller, error);
    },
  };
}

/** undici's own handlers still have the older methods; this is what it hands out to translate. */
function modern(handler: Handler): Handler {
  return new DecoratorHandler(handler);
}

/** Answers from what was recorded, and sends nothing. */
export class Player extends Dispatcher {
  readonly #path: string;
  readonly #exchanges: readonly RecordedExchange[];
  /** Exchanges of the same request, those not yet played. */
  readonly #left = new Map<string, RecordedExchange[]>();
  #closed = false;

  constructor(path: string, exchanges: readonly RecordedExchange[]) {
    super();
    this.#path = path;
    this.#exchanges = exchanges;
    for (const exchange of exchanges) {
      const identity = JSON.stringify(exchange.request);
      const same = this.#left.get(identity);
      if (same) same.push(exchange);
      else this.#left.set(identity, [exchange]);
    }
  }

  override dispatch(options: Options, handler: Handler): boolean {
    const request = requestOf(options, keyIn(options.headers));
    const exchange = this.#closed ? undefined : this.#left.get(JSON.stringify(request))?.shift();
    void play(exchange, modern(handler), () => new UnrecordedRequest(this.#missing(request)));
    return true;
  }

  override close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  override destroy(): Promise<void> {
    return this.close();
  }

  #missing(request: RecordedRequest): string {
    const what = `${request.method} ${request.path}`;
    if (this.#closed) return `the cassette ${this.#path} is closed`;
    const identity = JSON.stringify(request);
    const times = this.#exchanges.filter((exchange) => JSON.stringify(exchange.request) === identity).length;
    if (times > 0) return `the cassette ${this.#path} holds this ${what} ${times} times, and it is sent once more`;
    const alike = this.#exchanges.filter(
      (exchange) => exchange.request.method === request.method && exchange.request.path === request.path,
    );
    if (alike.length === 0) {
      const known = new Set(this.#exchanges.map((exchange) => `${exchange.request.method} ${exchange.request.path}`));
      return `the cassette ${this.#path} holds no ${what}, only ${[...known].join(", ") || "nothing"}`;
    }
    const bodies = alike.map((exchange) => exchange.request.body);
    return `the cassette ${this.#path} holds no such ${what}. ${nearestDifference(bodies, request.body)}`;
  }
}

/** Plays an exchange as a connection would: each piece in its own turn, no faster than it is read. */
async function play(
  exchange: RecordedExchange | undefined,
  handler: Handler,
  missing: () => UnrecordedRequest,
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
      await turn();
      await controller.resumed();
      if (controller.aborted) return;
      handler.onResponseData?.(controller, decodeChunk(chunk));
    }
    await turn();
    await controller.resumed();
    if (controller.aborted) return;
  }
  if (failure) controller.abort(Object.assign(new Error(failure.message), { code: failure.code }));
  else handler.onResponseEnd?.(controller, {});
}

class PlayController implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  readonly #broken: (reason: Error) => void;
  #wake: (() => void) | undefined;

  constructor(broken: (reason: Error) => void) {
    this.#broken = broken;
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.resume();
    this.#broken(reason);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#wake?.();
  }

  async resumed(): Promise<void> {
    if (this.paused && !this.aborted) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function requestOf({ method, path, body }: Options, secret: string | undefined): RecordedRequest {
  const text = body === null || body === undefined ? "" : redact(Buffer.from(body as Uint8Array).toString(), secret);
  return { method, path: redact(path, secret), ...(text !== "" && { body: parsed(text) }) } as RecordedRequest;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The key of an authorization header. */
function keyIn(headers: Options["headers"]): string | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  const { authorization } = headers as Readonly<Record<string, unknown>>;
  return typeof authorization === "string" ? authorization.replace(/^\S+ /, "") : undefined;
}

function safeHeaders(headers: Readonly<Record<string, string | string[] | undefined>>, secret: string | undefined) {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (value === undefined || name === "set-cookie") return [];
      return [[name, Array.isArray(value) ? value.map((one) => redact(one, secret)) : redact(value, secret)]];
    }),
  );
}

function redact(text: string, secret: string | undefined): string {
  return secret === undefined || secret === "" ? text : text.replaceAll(secret, "[key]");
}
