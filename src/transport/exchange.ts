import { EventEmitter } from "node:events";
import type { Dispatcher } from "undici";
import { asError } from "../errors.js";
import type { CallScope } from "./call-scope.js";
import { Stopped } from "./call-scope.js";
import type { Connecting } from "./connecting.js";
import { connectionFailure } from "./connection-failure.js";
import { FailedAttempt } from "./failure.js";
import { utf8 } from "./reply-json.js";
import { type Headers, header } from "./wait-headers.js";

/** One HTTP exchange to be. */
export interface Sending {
  readonly dispatcher: Dispatcher;
  readonly connecting: Connecting;
  readonly origin: string;
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** For the whole of it, until `untimed()`. */
  readonly timeoutMs: number;
}

/**
 * One HTTP exchange: sent once, answered once, cut when the call is stopped or its time is up. All that goes wrong on
 * the way comes out as `Stopped` or `FailedAttempt`.
 */
export class Exchange {
  readonly #signal = new CutSignal();
  readonly #scope: CallScope;
  #timer: NodeJS.Timeout | undefined;
  #body: Dispatcher.ResponseData["body"] | undefined;
  status = 0;
  /** Of the body, as far as it was read. */
  receivedBytes = 0;
  headers: Headers = {};

  private constructor(scope: CallScope) {
    this.#scope = scope;
  }

  /** Resolves when the headers are here. */
  static async open(sending: Sending, scope: CallScope): Promise<Exchange> {
    const exchange = new Exchange(scope);
    await exchange.#guard(exchange.#send(sending));
    return exchange;
  }

  get contentType(): string {
    return header(this.headers, "content-type")?.toLowerCase() ?? "";
  }

  /** The whole body. The exchange is over then. */
  async bytes(): Promise<Buffer> {
    const { buffer, byteOffset, length } = await this.#guard(this.#body!.bytes());
    this.receivedBytes = length;
    this.end();
    return Buffer.from(buffer, byteOffset, length);
  }

  /** The same as text. */
  async text(): Promise<string> {
    return utf8(await this.bytes());
  }

  /** From now on the reader watches the time. */
  untimed(): void {
    clearTimeout(this.#timer);
  }

  /** The body piece by piece; to be closed by `end()`. What it throws is for `explain`: a wrapper would cost every piece. */
  pieces(): AsyncIterator<Uint8Array> {
    return this.#body![Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  /** Ends the exchange; what was thrown by it in our terms: why it was cut, or what is wrong with the connection. */
  explain(thrown: unknown): Stopped | FailedAttempt {
    this.end();
    const { reason } = this.#signal;
    if (reason) return reason;
    if (thrown instanceof Stopped || thrown instanceof FailedAttempt) return thrown;
    return new FailedAttempt(connectionFailure(asError(thrown)));
  }

  /** Cuts it for this reason, which whoever is reading gets. */
  cut(why: FailedAttempt | Stopped): void {
    this.#signal.cut(why);
  }

  /** Lets go of it: a body that was not read to its end costs the connection. */
  end(): void {
    clearTimeout(this.#timer);
    this.#scope.listen(undefined);
    this.#discard();
  }

  #discard(): void {
    if (!this.#body || this.#body.readableEnded) return;
    // Destroying reports an abort, which is what was meant.
    this.#body.on("error", () => {});
    this.#body.destroy();
  }

  #send({ timeoutMs, dispatcher, connecting, ...request }: Sending): Promise<void> {
    const signal = this.#signal;
    return new Promise((resolve, reject) => {
      // The client hears of an abort only once it is connected.
      signal.once("abort", () => reject(signal.reason!));
      this.#scope.listen((stopped) => this.cut(stopped));
      this.#timer = setTimeout(() => this.cut(tooSlow(timeoutMs)), timeoutMs);
      connecting
        .during(signal, () => dispatcher.request({ ...request, signal, headersTimeout: 0, bodyTimeout: 0 }))
        .then((reply) => resolve(this.#take(reply)), reject);
    });
  }

  #take({ body, statusCode, headers }: Dispatcher.ResponseData): void {
    this.#body = body;
    this.status = statusCode;
    this.headers = headers;
    if (this.#signal.aborted) this.#discard();
  }

  async #guard<T>(step: Promise<T>): Promise<T> {
    try {
      return await step;
    } catch (thrown) {
      throw this.explain(thrown);
    }
  }
}

/** What undici takes in place of an `AbortSignal`, of which each costs several times as much. */
class CutSignal extends EventEmitter {
  reason: FailedAttempt | Stopped | undefined;

  get aborted(): boolean {
    return this.reason !== undefined;
  }

  cut(why: FailedAttempt | Stopped): void {
    if (this.reason) return;
    this.reason = why;
    this.emit("abort");
  }
}

function tooSlow(timeoutMs: number): FailedAttempt {
  return new FailedAttempt({
    code: "timeout",
    message: `no whole answer within ${timeoutMs} ms`,
    retryable: true,
    undelivered: false,
  });
}
