/** One event of a `text/event-stream`. */
export interface StreamEvent {
  /** Empty where the stream names none. */
  readonly event: string;
  readonly data: string;
}

const lineFeed = 10;
const carriageReturn = 13;

/**
 * Reads server-sent events from bytes that break anywhere
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). Lines end with `\n`,
 * `\r\n` or `\r`; `id:`, `retry:` and comments are passed over. Unlike a browser, `end()` hands out a last event that
 * no blank line follows: services leave it out.
 *
 * Bytes become text a line at a time, and no character spans two lines, so no character is ever torn.
 */
export class EventStreamParser {
  readonly #maxEventBytes: number;
  /** The unfinished last line, as it came. */
  #open: Uint8Array[] = [];
  #openBytes = 0;
  #eventBytes = 0;
  #event = "";
  #data: string[] = [];
  #atStart = true;
  /** The last byte was `\r`: a `\n` that follows belongs to it. */
  #skipLineFeed = false;

  /** An event longer than `maxEventBytes` is refused, so that a stream without line ends cannot fill the memory. */
  constructor(maxEventBytes = 8 * 1024 * 1024) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Events that these bytes complete. @throws RangeError when an event is longer than the limit. */
  push(bytes: Uint8Array): StreamEvent[] {
    const events: StreamEvent[] = [];
    let from = 0;
    if (this.#skipLineFeed && bytes.length > 0) {
      this.#skipLineFeed = false;
      if (bytes[0] === lineFeed) from = 1;
    }
    const end = Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1;
    if (end > from) {
      this.#skipLineFeed = end === bytes.length && bytes[end - 1] === carriageReturn;
      this.#lines(this.#takeOpen(bytes.subarray(from, end)), events);
      from = end;
    }
    if (from < bytes.length) {
      this.#open.push(bytes.subarray(from));
      this.#openBytes += bytes.length - from;
    }
    if (this.#openBytes + this.#eventBytes > this.#maxEventBytes) {
      throw new RangeError(`an event is longer than ${this.#maxEventBytes} bytes`);
    }
    return events;
  }

  /** The event that the end of the stream completes, if any. */
  end(): StreamEvent[] {
    const events: StreamEvent[] = [];
    this.#lines(`${this.#takeOpen(new Uint8Array())}\n\n`, events);
    return events;
  }

  #takeOpen(rest: Uint8Array): string {
    const parts = this.#open;
    this.#openBytes = 0;
    if (parts.length === 0) return text(rest);
    this.#open = [];
    return text(Buffer.concat([...parts, rest]));
  }

  /** Whole lines, the last one ended too. */
  #lines(region: string, events: StreamEvent[]): void {
    const lines = region.includes("\r") ? region.replace(/\r\n?/g, "\n") : region;
    let start = 0;
    if (this.#atStart && lines !== "") {
      this.#atStart = false;
      if (lines.startsWith("\uFEFF")) start = 1;
    }
    for (let stop = lines.indexOf("\n", start); stop !== -1; stop = lines.indexOf("\n", start)) {
      if (stop === start) this.#dispatch(events);
      else this.#field(lines.slice(start, stop));
      start = stop + 1;
    }
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    if (name !== "data" && name !== "event") return;
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#event = value;
    else {
      this.#data.push(value);
      this.#eventBytes += value.length;
    }
  }

  #dispatch(events: StreamEvent[]): void {
    const data = this.#data.length === 1 ? this.#data[0]! : this.#data.join("\n");
    if (data !== "") events.push({ event: this.#event, data });
    this.#event = "";
    this.#data = [];
    this.#eventBytes = 0;
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
