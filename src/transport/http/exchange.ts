import type { Dispatcher } from "undici";
import { asError } from "../../core/errors.js";
import { type Cancellation, Stopped } from "../failures/cancellation.js";
import { FailedAttempt } from "../failures/failure.js";
import { type ResponseHeaders, header } from "../failures/response-headers.js";
import { connectionFailure } from "./connection-failure.js";
import type { Connections } from "./connections.js";
import { ResponseReader } from "./response-reader.js";

/** One HTTP exchange to be made. */
export interface Sending {
  readonly connections: Connections;
  readonly request: Dispatcher.DispatchOptions;
  /** Time for all of it, until `untimed()`. */
  readonly timeoutMs: number;
  /** Cuts the exchange. */
  readonly cancellation: Cancellation;
  /** Called when the request goes onto a connection. */
  readonly onSent: () => void;
}

/**
 * One HTTP exchange: sent once, answered once, cut when the call is stopped or its time is up. Everything that goes
 * wrong on the way comes out as `Stopped` or `FailedAttempt`.
 */
export class Exchange {
  readonly #response: ResponseReader;
  readonly #cancellation: Cancellation;
  readonly #timer: NodeJS.Timeout;

  private constructor({ timeoutMs, cancellation, onSent }: Sending) {
    this.#response = new ResponseReader(onSent);
    this.#cancellation = cancellation;
    cancellation.listen((stopped) => this.cut(stopped));
    this.#timer = setTimeout(() => this.cut(tooSlow(timeoutMs)), timeoutMs);
  }

  /** Resolves when the headers are here. */
  static async open(sending: Sending): Promise<Exchange> {
    const exchange = new Exchange(sending);
    try {
      sending.connections.dispatch(sending.request, exchange.#response);
      await exchange.#response.head();
      return exchange;
    } catch (thrown) {
      throw exchange.explain(thrown);
    }
  }

  get status(): number {
    return this.#response.status;
  }

  get headers(): ResponseHeaders {
    return this.#response.headers;
  }

  get contentType(): string {
    return header(this.headers, "content-type")?.toLowerCase() ?? "";
  }

  /** Bytes of the body that were read so far. */
  get receivedBytes(): number {
    return this.#response.readBytes;
  }

  /** The rest of the body: all of it, when no piece was read before. Ends the exchange. */
  async bytes(): Promise<Buffer> {
    try {
      const bytes = await this.#response.rest();
      this.end();
      return bytes;
    } catch (thrown) {
      throw this.explain(thrown);
    }
  }

  /** Stops the clock: from now on the reader watches the time. */
  untimed(): void {
    clearTimeout(this.#timer);
  }

  /**
   * The next piece of the body, `undefined` after the last; close with `end()`. Pass what it throws to `explain`: a
   * wrapper here would cost every piece.
   */
  piece(): Promise<Buffer | undefined> {
    return this.#response.piece();
  }

  /** Ends the exchange, and translates what it threw: why it was cut, or what is wrong with the connection. */
  explain(thrown: unknown): Stopped | FailedAttempt {
    this.end();
    if (thrown instanceof Stopped || thrown instanceof FailedAttempt) return thrown;
    return new FailedAttempt(connectionFailure(asError(thrown)));
  }

  /** Cuts the exchange; whoever is reading gets this error. */
  cut(why: FailedAttempt | Stopped): void {
    this.#response.break(why);
  }

  /** Lets go of the exchange: a body that has not come to its end costs the connection. */
  end(): void {
    clearTimeout(this.#timer);
    this.#cancellation.listen(undefined);
    this.#response.leave();
  }
}

function tooSlow(timeoutMs: number): FailedAttempt {
  const message = `no complete answer within ${timeoutMs} ms`;
  return new FailedAttempt({ code: "timeout", message, retryable: true, undelivered: false });
}
