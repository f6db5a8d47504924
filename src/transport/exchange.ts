import type { Dispatcher } from "undici";
import { asError } from "../errors.js";
import type { CallScope } from "./call-scope.js";
import { Stopped } from "./stopping.js";
import type { Connecting } from "./connecting.js";
import { connectionFailure } from "./connection-failure.js";
import { FailedAttempt } from "./failure.js";
import { Incoming } from "./incoming.js";
import { utf8 } from "./reply-json.js";
import { type Headers, header } from "./wait-headers.js";

/** One HTTP exchange to be. */
export interface Sending {
  readonly dispatcher: Dispatcher;
  readonly connecting: Connecting;
  readonly request: Dispatcher.DispatchOptions;
  /** For the whole of it, until `untimed()`. */
  readonly timeoutMs: number;
}

/**
 * One HTTP exchange: sent once, answered once, cut when the call is stopped or its time is up. All that goes wrong on
 * the way comes out as `Stopped` or `FailedAttempt`.
 */
export class Exchange {
  readonly #scope: CallScope;
  readonly #incoming = new Incoming(() => {
    this.#scope.departed = true;
  });
  #timer: NodeJS.Timeout | undefined;

  private constructor(scope: CallScope) {
    this.#scope = scope;
  }

  /** Resolves when the headers are here. */
  static async open(sending: Sending, scope: CallScope): Promise<Exchange> {
    const exchange = new Exchange(scope);
    try {
      exchange.#send(sending);
      await exchange.#incoming.head();
    } catch (thrown) {
      throw exchange.explain(thrown);
    }
    return exchange;
  }

  get status(): number {
    return this.#incoming.status;
  }

  get headers(): Headers {
    return this.#incoming.headers;
  }

  get contentType(): string {
    return header(this.headers, "content-type")?.toLowerCase() ?? "";
  }

  /** Of the body, as far as it was read. */
  get receivedBytes(): number {
    return this.#incoming.readBytes;
  }

  /** The rest of the body, which is all of it where no piece was read before. The exchange is over then. */
  async bytes(): Promise<Buffer> {
    try {
      const bytes = await this.#incoming.rest();
      this.end();
      return bytes;
    } catch (thrown) {
      throw this.explain(thrown);
    }
  }

  /** The same as text. */
  async text(): Promise<string> {
    return utf8(await this.bytes());
  }

  /** From now on the reader watches the time. */
  untimed(): void {
    clearTimeout(this.#timer);
  }

  /**
   * The next piece of the body, `undefined` behind the last; to be closed by `end()`. What it throws is for `explain`: a
   * wrapper would cost every piece.
   */
  piece(): Promise<Buffer | undefined> {
    return this.#incoming.piece();
  }

  /** Ends the exchange; what was thrown by it in our terms: why it was cut, or what is wrong with the connection. */
  explain(thrown: unknown): Stopped | FailedAttempt {
    this.end();
    if (thrown instanceof Stopped || thrown instanceof FailedAttempt) return thrown;
    return new FailedAttempt(connectionFailure(asError(thrown)));
  }

  /** Cuts it for this reason, which whoever is reading gets. */
  cut(why: FailedAttempt | Stopped): void {
    this.#incoming.break(why);
  }

  /** Lets go of it: a body that has not come to its end costs the connection. */
  end(): void {
    clearTimeout(this.#timer);
    this.#scope.listen(undefined);
    this.#incoming.leave();
  }

  #send({ dispatcher, connecting, request, timeoutMs }: Sending): void {
    this.#scope.listen((stopped) => this.cut(stopped));
    this.#timer = setTimeout(() => this.cut(tooSlow(timeoutMs)), timeoutMs);
    connecting.during(this.#incoming, () => dispatcher.dispatch(request, this.#incoming));
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
