import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";

/** One event of a `text/event-stream`. */
export interface StreamEvent {
  /** Event name; empty when the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** An event longer than this is refused, so that a stream without line ends cannot fill the memory. */
const defaultMaxEventCharacters = 8 * 1024 * 1024;

/**
 * Reads server-sent events from bytes that break anywhere, with the package eventsource-parser. Unlike a browser, `end()`
 * returns a last event that no blank line follows, because some services leave that line out; events without data are
 * skipped.
 */
export class EventStreamReader {
  // A StringDecoder takes two thirds of a TextDecoder's time; both keep a split character for the next piece.
  readonly #decoder = new StringDecoder("utf8");
  readonly #parser;
  #events: StreamEvent[] = [];
  #atStart = true;
  /** The last character was `\r`: a `\n` that follows belongs to it. */
  #skipLineFeed = false;

  constructor(maxEventCharacters = defaultMaxEventCharacters) {
    this.#parser = createParser({
      maxBufferSize: maxEventCharacters,
      onEvent: ({ event = "", data }) => {
        if (data !== "") this.#events.push({ event, data });
      },
      onError: ({ type }) => {
        if (type !== "max-buffer-size-exceeded") return;
        throw new RangeError(`an event is longer than ${maxEventCharacters} characters`);
      },
    });
  }

  /** Returns the events that these bytes complete. @throws RangeError when an event is longer than the limit. */
  push(bytes: Uint8Array): readonly StreamEvent[] {
    return this.#feed(this.#decoder.write(bytes));
  }

  /** Returns the event that the end of the stream completes, if any. */
  end(): readonly StreamEvent[] {
    return this.#feed(`${this.#decoder.end()}\n\n`);
  }

  #feed(decoded: string): readonly StreamEvent[] {
    if (decoded === "") return [];
    let text = decoded;
    if (this.#atStart) {
      this.#atStart = false;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    if (this.#skipLineFeed && text.startsWith("\n")) text = text.slice(1);
    this.#skipLineFeed = decoded.endsWith("\r");
    // The package would hold a `\r` at the end of a piece back until the next piece comes, and the event with it.
    this.#parser.feed(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
