import type { Dispatcher } from "undici";
import { asError } from "../../core/errors.js";
import { type Cancellation, Stopped } from "../failures/cancellation.js";
import { FailedAttempt, badReply } from "../failures/failure.js";
import { type ResponseHeaders, header } from "../failures/response-headers.js";
import { type BodyDecoder, bodyDecoder, codingOf } from "./body-decoder.js";
import { connectionFailure } from "./connection-failure.js";
import type { Connections, CuttableHandler } from "./connections.js";

/** One HTTP exchange to be made. */
export interface Sending {
  readonly connections: Connections;
  readonly request: Dispatcher.DispatchOptions;
  /** Time for all of it, until `untimed()`. */
  readonly timeoutMs: number;
  /** Maximum bytes of the body, decoded. Default: no limit. */
  readonly maxBytes?: number;
  /** Signal that cuts the exchange. */
  readonly cancellation: Cancellation;
  /** Called when the request goes onto a connection: until then nothing of it can have arrived. */
  readonly onSent?: () => void;
}

/** Bytes that may wait for a slow reader before the service is held back. */
const highWaterBytes = 64 * 1024;

type Stage = "head" | "piece" | "end";

/**
 * One HTTP exchange: sent once, answered once, cut when the call is stopped or its time is up. Everything that goes
 * wrong on the way comes out as `Stopped` or `FailedAttempt`. Its reader waits for one thing at a time. Stands in for
 * undici's `request`: the README says why.
 */
export class Exchange implements CuttableHandler {
  status = 0;
  headers: ResponseHeaders = {};
  /** Bytes of the body, decoded, that were read so far. */
  receivedBytes = 0;
  onCut: (() => void) | undefined;
  readonly #cancellation: Cancellation;
  readonly #onSent: Sending["onSent"];
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #coding: string | undefined;
  #decoder: BodyDecoder | undefined;
  #hasHead = false;
  /** The connection has brought all of the body. */
  #hasArrived = false;
  /** The body has come to its end, decoded. */
  #hasEnded = false;
  #failure: FailedAttempt | Stopped | undefined;
  /** Pieces that arrived and were not read yet. */
  #pieces: Buffer[] = [];
  #waitingBytes = 0;
  #maxWaitingBytes = highWaterBytes;
  #arrivedBytes = 0;
  readonly #maxBytes: number;
  #wake = () => {};

  private constructor({ timeoutMs, maxBytes = Infinity, cancellation, onSent }: Sending) {
    this.#maxBytes = maxBytes;
    this.#onSent = onSent;
    this.#cancellation = cancellation;
    cancellation.listen((stopped) => this.cut(stopped));
    this.#timer = setTimeout(() => this.cut(tooSlow(timeoutMs)), timeoutMs);
  }

  /** Resolves when the headers are here. */
  static async open(sending: Sending): Promise<Exchange> {
    const exchange = new Exchange(sending);
    try {
      sending.connections.dispatch(sending.request, exchange);
      await exchange.#reach("head");
      return exchange;
    } catch (thrown) {
      exchange.end();
      throw explained(thrown);
    }
  }

  get contentType(): string {
    return header(this.headers, "content-type")?.toLowerCase() ?? "";
  }

  /** The rest of the body: all of it, when no piece was read before. Ends the exchange. */
  async bytes(): Promise<Buffer> {
    this.#maxWaitingBytes = Infinity;
    this.#resume();
    try {
      await this.#reach("end");
      return this.#take();
    } finally {
      this.end();
    }
  }

  /** Everything that arrived since the last piece, as soon as there is something; `undefined` after the end. Close with `end()`. */
  async piece(): Promise<Buffer | undefined> {
    await this.#reach("piece");
    const piece = this.#pieces.length === 0 ? undefined : this.#take();
    this.#resume();
    return piece;
  }

  /** Stops the clock: from now on the reader watches the time. */
  untimed(): void {
    clearTimeout(this.#timer);
  }

  /** Breaks the exchange off; whoever is reading gets this error. A connection on which it has not ended is lost. */
  cut(why: FailedAttempt | Stopped): void {
    if (this.#failure) return;
    this.#failure = why;
    this.#pieces = [];
    if (!this.#hasArrived) this.#controller?.abort(why);
    this.#decoder?.destroy();
    this.onCut?.();
    this.#wake();
  }

  /** Lets go of the exchange: a body that has not come to its end costs the connection. */
  end(): void {
    clearTimeout(this.#timer);
    this.#cancellation.listen(undefined);
    if (!this.#hasEnded) this.cut(explained(new Error("the answer was left before its end")));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure) controller.abort(this.#failure);
    else this.#onSent?.();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    // Informational responses precede the real one.
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.#coding = codingOf(headers);
    this.#hasHead = true;
    this.#wake();
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#failure) return;
    if (this.#coding === undefined) this.#receive(piece, controller);
    else this.#decode(piece, controller, this.#coding);
  }

  onResponseEnd(): void {
    this.#hasArrived = true;
    if (this.#decoder) this.#decoder.end();
    else this.#finish();
  }

  onResponseError(_: Dispatcher.DispatchController, why: Error): void {
    const fail = () => {
      this.#failure ??= explained(why);
      this.#wake();
    };
    // The part that arrived before the failure is still decoded.
    if (this.#decoder && !this.#failure) this.#decoder.flush(fail);
    else fail();
  }

  #decode(piece: Buffer, controller: Dispatcher.DispatchController, coding: string): void {
    try {
      this.#decoder ??= bodyDecoder(coding, piece[0]!, {
        onPiece: (decoded) => this.#receive(decoded, this.#decoder!),
        onDrain: () => controller.resume(),
        onEnd: () => this.#finish(),
        onError: (why) => this.cut(why),
      });
      if (!this.#decoder.write(piece)) controller.pause();
    } catch (thrown) {
      this.cut(explained(thrown));
    }
  }

  #receive(piece: Buffer, source: { readonly pause: () => unknown }): void {
    if (this.#failure) return;
    this.#arrivedBytes += piece.length;
    if (this.#arrivedBytes > this.#maxBytes) {
      this.cut(this.#tooLarge());
      return;
    }
    this.#pieces.push(piece);
    this.#waitingBytes += piece.length;
    this.#wake();
    if (this.#waitingBytes > this.#maxWaitingBytes) source.pause();
  }

  #tooLarge(): FailedAttempt {
    const declared = this.#coding === undefined ? header(this.headers, "content-length") : undefined;
    const size = declared === undefined ? `more than ${this.#maxBytes} bytes` : `${declared} bytes`;
    const message = `the reply has ${size}, at most ${this.#maxBytes} are read: maxReplyBytes of createTransport() raises the limit`;
    return badReply(message, { status: this.status });
  }

  #finish(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  #resume(): void {
    if (this.#decoder) this.#decoder.resume();
    else if (this.#controller?.paused) this.#controller.resume();
  }

  #take(): Buffer {
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#waitingBytes = 0;
    this.receivedBytes += bytes.length;
    return bytes;
  }

  async #reach(stage: Stage): Promise<void> {
    while (!this.#hasReached(stage)) {
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Pieces that came before a failure are still read. */
  #hasReached(stage: Stage): boolean {
    if (stage === "head") return this.#hasHead;
    if (stage === "piece" && this.#pieces.length > 0) return true;
    return this.#hasEnded && !this.#failure;
  }
}

/** Translates what was thrown on the way: why the exchange was cut, or what is wrong with the connection. */
function explained(thrown: unknown): Stopped | FailedAttempt {
  if (thrown instanceof Stopped || thrown instanceof FailedAttempt) return thrown;
  return new FailedAttempt(connectionFailure(asError(thrown)));
}

function tooSlow(timeoutMs: number): FailedAttempt {
  const message = `no complete answer within ${timeoutMs} ms`;
  return new FailedAttempt({ code: "timeout", message, retryable: true, undelivered: false });
}
