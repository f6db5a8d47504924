import { chat as operation } from "../contract/chat.js";
import { ChatAssembler } from "./chat-assembler.js";
import type { ChatStreamEvent } from "./chat-result.js";
import { EventStreamParser } from "./event-stream.js";
import type { Exchange } from "./exchange.js";
import { FailedAttempt, badReply } from "./failure.js";
import { type IdleLimits, IdleWatch } from "./idle-watch.js";
import { parseReply } from "./read-reply.js";
import { utf8 } from "./reply-json.js";
import { requestIdOf } from "./refusal.js";

/** How long to wait behind `[DONE]` for the end of the body: with it the connection can be used again. */
const drainMs = 250;

/**
 * Reads a reply to chat as events, whether it came streamed or whole. Events leave in groups, one for each piece of
 * the body, so that a stream of small pieces costs one wait a piece and not one an event.
 */
export class ChatReader {
  readonly #exchange: Exchange;
  readonly #limits: IdleLimits;
  readonly #assembler: ChatAssembler;
  #state: "begin" | "open" | "ended" | "over" = "begin";
  #parser = new EventStreamParser();
  #watch: IdleWatch | undefined;
  /** Found behind events of the same piece, which go first. */
  #failure: { readonly thrown: unknown } | undefined;

  constructor(exchange: Exchange, model: string, limits: IdleLimits, thinkTags: boolean) {
    const { status, headers } = exchange;
    const requestId = requestIdOf(headers);
    this.#exchange = exchange;
    this.#limits = limits;
    this.#assembler = new ChatAssembler({
      status,
      headers,
      model,
      thinkTags,
      ...(requestId !== undefined && { requestId }),
    });
  }

  /** The next group of events, never empty; `undefined` behind the last. */
  async read(): Promise<readonly ChatStreamEvent[] | undefined> {
    try {
      if (this.#failure) throw this.#failure.thrown;
      if (this.#state === "begin") {
        if (!this.#exchange.contentType.includes("event-stream")) return await this.#readWhole();
        this.#begin();
      }
      while (this.#state === "open") {
        const events = await this.#readPiece();
        if (events.length > 0) return events;
      }
      if (this.#state === "ended") await this.#drain();
      return undefined;
    } catch (thrown) {
      this.close();
      throw thrown;
    }
  }

  /** Cuts the connection unless the reply was read to its end. */
  close(): void {
    this.#watch?.stop();
    this.#state = "over";
    this.#exchange.end();
  }

  #begin(): void {
    this.#exchange.untimed();
    this.#watch = new IdleWatch(this.#limits, (silentMs, limit) => this.#exchange.cut(tooQuiet(silentMs, limit)));
    this.#state = "open";
  }

  async #readPiece(): Promise<readonly ChatStreamEvent[]> {
    let piece: Buffer | undefined;
    this.#watch!.waiting();
    try {
      piece = await this.#exchange.piece();
    } catch (thrown) {
      const why = this.#exchange.explain(thrown);
      if (!(why instanceof FailedAttempt)) throw why;
      if (why.failure.code !== "network") throw this.#assembler.withPartial(why.failure);
      const events = this.#assembler.end(why.failure.cause);
      this.close();
      return events;
    }
    const lines = this.#parse(piece);
    this.#watch!.arrived(lines.length > 0);
    const events: ChatStreamEvent[] = [];
    try {
      let torn: unknown;
      for (const { event, data } of lines) {
        try {
          this.#assembler.take(event, data, events);
        } catch (thrown) {
          if (piece || !isTornLine(thrown)) throw thrown;
          torn = thrown;
        }
      }
      if (!piece || this.#assembler.done) events.push(...this.#assembler.end(torn));
    } catch (thrown) {
      if (events.length === 0) throw thrown;
      this.#failure = { thrown };
      return events;
    }
    if (!piece) this.close();
    else if (this.#assembler.done) {
      this.#watch!.stop();
      this.#state = "ended";
    }
    return events;
  }

  #parse(piece: Buffer | undefined) {
    try {
      return piece ? this.#parser.push(piece) : this.#parser.end();
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw badReply(cause.message, { cause, partialText: this.#assembler.partialText });
    }
  }

  /** A reply that is no stream by its type; some are streams nevertheless. */
  async #readWhole(): Promise<readonly ChatStreamEvent[]> {
    const body = await this.#exchange.bytes();
    this.#state = "over";
    if (/^\s*(data|event|id|retry)?:/.test(utf8(body))) {
      const lines = this.#parser.push(body).concat(this.#parser.end());
      const events: ChatStreamEvent[] = [];
      for (const { event, data } of lines) this.#assembler.take(event, data, events);
      return [...events, ...this.#assembler.end()];
    }
    const { reply, raw } = parseReply(operation, body, this.#exchange);
    return [...this.#assembler.takeWhole(reply, raw), ...this.#assembler.end()];
  }

  async #drain(): Promise<void> {
    const timer = setTimeout(() => this.close(), drainMs);
    try {
      while (this.#state === "ended" && (await this.#exchange.piece()));
    } catch {
      // All that was asked for has been read.
    }
    clearTimeout(timer);
    this.close();
  }
}

/** The last line of a body that broke off is the beginning of one. */
function isTornLine(thrown: unknown): boolean {
  return thrown instanceof FailedAttempt && thrown.failure.cause instanceof SyntaxError;
}

function tooQuiet(silentMs: number, limit: keyof IdleLimits): FailedAttempt {
  const what = limit === "idleMs" ? "silent" : "without anything but keep-alive";
  return new FailedAttempt({
    code: "timeout",
    message: `the stream was ${what} for ${Math.round(silentMs)} ms`,
    retryable: true,
    undelivered: false,
  });
}
