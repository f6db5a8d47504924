import { chat as operation } from "../../../contract/chat.js";
import { FailedAttempt, badReply } from "../../failures/failure.js";
import type { Exchange } from "../../http/exchange.js";
import { utf8 } from "../../http/reply-json.js";
import type { TransportSettings } from "../../options.js";
import type { ChatStreamEvent } from "../chat-result.js";
import { parseReply } from "../json-call.js";
import { ChatAssembler } from "./chat-assembler.js";
import { EventStreamReader } from "./event-stream-reader.js";
import { IdleWatch } from "./idle-watch.js";

/** Time to wait after `[DONE]` for the end of the body: with it the connection can be used again. */
const drainMs = 250;

/**
 * Reads a reply to chat as events, whether it came streamed or whole. Events leave in groups, one for each piece of
 * the body, so that a stream of small pieces costs one wait per piece and not one per event.
 */
export class ChatReader {
  readonly #exchange: Exchange;
  readonly #assembler: ChatAssembler;
  readonly #stream = new EventStreamReader();
  readonly #watch: IdleWatch;
  #state: "begin" | "open" | "ended" | "over" = "begin";
  /** Failure found after events of the same piece; the events are returned first. */
  #failure: { readonly thrown: unknown } | undefined;

  constructor(
    exchange: Exchange,
    { model, n: choices = 1 }: { readonly model: string; readonly n?: number | undefined },
    settings: TransportSettings,
  ) {
    const { status, headers } = exchange;
    this.#exchange = exchange;
    this.#assembler = new ChatAssembler({ status, headers, model, choices, thinkTags: settings.thinkTags });
    this.#watch = new IdleWatch(settings, (why) => exchange.cut(why));
  }

  /** The next group of events, never empty; `undefined` after the last. */
  async read(): Promise<readonly ChatStreamEvent[] | undefined> {
    try {
      if (this.#failure) throw this.#failure.thrown;
      if (this.#state === "begin") {
        if (!this.#exchange.contentType.includes("event-stream")) return await this.#readWhole();
        this.#exchange.untimed();
        this.#state = "open";
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
    this.#watch.stop();
    this.#state = "over";
    this.#exchange.end();
  }

  async #readPiece(): Promise<readonly ChatStreamEvent[]> {
    let piece: Buffer | undefined;
    this.#watch.waiting();
    try {
      piece = await this.#exchange.piece();
    } catch (thrown) {
      if (!(thrown instanceof FailedAttempt)) throw thrown;
      if (thrown.failure.code !== "network") throw this.#assembler.withPartial(thrown.failure);
      const events = this.#assembler.end(thrown.failure.cause);
      this.close();
      return events;
    }
    const received = this.#parse(piece);
    this.#watch.arrived(received.length > 0);
    const events: ChatStreamEvent[] = [];
    try {
      let torn: unknown;
      for (const { event, data } of received) {
        try {
          this.#assembler.take(event, data, events);
        } catch (thrown) {
          if (piece || !isTornEvent(thrown)) throw thrown;
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
      this.#watch.stop();
      this.#state = "ended";
    }
    return events;
  }

  #parse(piece: Buffer | undefined) {
    try {
      return piece ? this.#stream.push(piece) : this.#stream.end();
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw badReply(cause.message, { cause, partialText: this.#assembler.partialText });
    }
  }

  /** Reads a reply that is no stream by its content type; some are streams nevertheless. */
  async #readWhole(): Promise<readonly ChatStreamEvent[]> {
    const body = await this.#exchange.bytes();
    this.#state = "over";
    if (/^\s*(data|event|id|retry)?:/.test(utf8(body))) {
      const events: ChatStreamEvent[] = [];
      for (const { event, data } of [...this.#stream.push(body), ...this.#stream.end()]) {
        this.#assembler.take(event, data, events);
      }
      return [...events, ...this.#assembler.end()];
    }
    const { reply, received } = parseReply(operation, body, this.#exchange);
    return [...this.#assembler.takeWhole(reply, received.raw), ...this.#assembler.end()];
  }

  async #drain(): Promise<void> {
    const timer = setTimeout(() => this.close(), drainMs);
    try {
      while (this.#state === "ended" && (await this.#exchange.piece()));
    } catch {
      // Everything that was asked for has been read.
    }
    clearTimeout(timer);
    this.close();
  }
}

/** The last event of a body that broke off may be the beginning of one. */
function isTornEvent(thrown: unknown): boolean {
  return thrown instanceof FailedAttempt && thrown.failure.cause instanceof SyntaxError;
}
