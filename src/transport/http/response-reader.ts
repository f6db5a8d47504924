import type { Dispatcher } from "undici";
import type { ResponseHeaders } from "../failures/response-headers.js";

/** Bytes that may wait for a slow reader before the service is held back. */
const highWaterBytes = 64 * 1024;

type Stage = "head" | "piece" | "end";

interface Waiter {
  readonly stage: Stage;
  readonly resolve: (pieces: readonly Buffer[]) => void;
  readonly reject: (why: Error) => void;
}

/**
 * Reads one response as the HTTP client delivers it: the head, then the body, whole or piece by piece. Its reader waits
 * for one thing at a time. Stands in for undici's `request`: the README says why.
 */
export class ResponseReader implements Dispatcher.DispatchHandler {
  status = 0;
  headers: ResponseHeaders = {};
  /** Bytes of the body that were read so far. */
  readBytes = 0;
  /** Called when the response is broken off: undici tells nobody before there is a connection. */
  onBreak: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #hasHead = false;
  #ended = false;
  #failure: Error | undefined;
  /** Arrived and not yet read. */
  #pieces: Buffer[] = [];
  #waitingBytes = 0;
  #maxWaitingBytes = highWaterBytes;
  #waiter: Waiter | undefined;
  readonly #onSent: () => void;

  /** @param onSent Called when the request goes onto a connection: until then nothing of it can have arrived. */
  constructor(onSent: () => void) {
    this.#onSent = onSent;
  }

  /** Resolves once `status` and `headers` are set. */
  async head(): Promise<void> {
    await this.#reach("head");
  }

  /** Everything that arrived since the last piece, as soon as there is something; `undefined` after the end. */
  async piece(): Promise<Buffer | undefined> {
    const pieces = await this.#reach("piece");
    this.#resume();
    return pieces.length === 0 ? undefined : this.#joined(pieces);
  }

  /** Everything that has not been read yet, once all of it has arrived. */
  async rest(): Promise<Buffer> {
    this.#maxWaitingBytes = Infinity;
    this.#resume();
    return this.#joined(await this.#reach("end"));
  }

  /** Breaks the response off with an error for its reader. A connection on which it has not ended is lost. */
  break(why: Error): void {
    if (this.#failure) return;
    this.#failure = why;
    this.#take();
    if (!this.#ended) this.#controller?.abort(why);
    this.onBreak?.();
    this.#settle();
  }

  /** Stops reading. */
  leave(): void {
    if (!this.#ended) this.break(new Error("the answer was left before its end"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure) controller.abort(this.#failure);
    else this.#onSent();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    // Informational responses precede the real one.
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.#hasHead = true;
    this.#settle();
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#failure) return;
    this.#pieces.push(piece);
    this.#waitingBytes += piece.length;
    this.#settle();
    if (this.#waitingBytes > this.#maxWaitingBytes) controller.pause();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#settle();
  }

  onResponseError(_: Dispatcher.DispatchController, why: Error): void {
    this.#failure ??= why;
    this.#settle();
  }

  #resume(): void {
    if (this.#controller?.paused) this.#controller.resume();
  }

  #joined(pieces: readonly Buffer[]): Buffer {
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    this.readBytes += bytes.length;
    return bytes;
  }

  #take(): readonly Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#waitingBytes = 0;
    return pieces;
  }

  /** The pieces come with the promise, so that nothing can happen between the two. */
  #reach(stage: Stage): Promise<readonly Buffer[]> {
    return new Promise((resolve, reject) => {
      this.#waiter = { stage, resolve, reject };
      this.#settle();
    });
  }

  #settle(): void {
    const waiter = this.#waiter;
    if (!waiter) return;
    if (this.#hasReached(waiter.stage)) waiter.resolve(waiter.stage === "head" ? [] : this.#take());
    else if (this.#failure) waiter.reject(this.#failure);
    else return;
    this.#waiter = undefined;
  }

  /** Pieces that came before a failure are still read. */
  #hasReached(stage: Stage): boolean {
    if (stage === "head") return this.#hasHead;
    if (stage === "piece" && this.#pieces.length > 0) return true;
    return this.#ended && !this.#failure;
  }
}
