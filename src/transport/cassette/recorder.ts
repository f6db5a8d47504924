import { DecoratorHandler, Dispatcher } from "undici";
import type { RequestDispatcher } from "../options.js";
import type { Secrecy } from "../failures/secrecy.js";
import {
  type RecordedExchange,
  encodeChunk,
  recordedRequest,
  redactPieces,
  secrecyOf,
  writeCassette,
} from "./cassette-file.js";

type Ending = Pick<RecordedExchange, "reply" | "failure">;

/** Sends requests on, and writes them with their replies when it is closed. */
export class Recorder extends Dispatcher {
  readonly #path: string;
  readonly #inner: RequestDispatcher;
  /** The inner dispatcher, unless it belongs to the caller, who closes it. */
  readonly #own: Dispatcher | undefined;
  /** Exchanges in the order in which they were sent; those in progress have no end yet. */
  readonly #exchanges: RecordedExchange[] = [];

  constructor(path: string, inner: RequestDispatcher, own?: Dispatcher) {
    super();
    this.#path = path;
    this.#inner = inner;
    this.#own = own;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const place = this.#exchanges.push({ request: recordedRequest(options) }) - 1;
    const recorder = recording(handler, secrecyOf(options), (ending) => {
      this.#exchanges[place] = { ...this.#exchanges[place]!, ...ending };
    });
    return this.#inner.dispatch(options, recorder);
  }

  override async close(): Promise<void> {
    const ended = this.#exchanges.filter(({ reply, failure }) => reply ?? failure);
    await writeCassette(this.#path, ended);
    await this.#own?.close();
  }

  override async destroy(): Promise<void> {
    await this.#own?.destroy();
  }
}

/** Passes everything on, and reports the whole exchange at the end. */
function recording(
  handler: Dispatcher.DispatchHandler,
  secrecy: Secrecy,
  onEnd: (ending: Ending) => void,
): Dispatcher.DispatchHandler {
  let head: { readonly status: number; readonly headers: Readonly<Record<string, string | string[]>> } | undefined;
  const pieces: Buffer[] = [];
  let sent = false;
  const reply = (): Ending => {
    if (!head) return {};
    const clean = redactPieces(pieces, secrecy);
    const headers = { ...head.headers };
    if (clean !== pieces) delete headers["content-length"];
    return { reply: { status: head.status, headers, chunks: clean.map(encodeChunk) } };
  };
  // undici's own handlers still have the older methods, which its decorator translates.
  const inner: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
  return {
    onRequestStart(controller, context) {
      sent = true;
      inner.onRequestStart?.(controller, context);
    },
    onResponseStart(controller, status, headers, message) {
      // Informational responses precede the real one.
      if (status < 200) return;
      head = { status, headers: safeHeaders(headers, secrecy) };
      inner.onResponseStart?.(controller, status, headers, message);
    },
    onResponseData(controller, piece) {
      // The client may use the memory again.
      pieces.push(Buffer.from(piece));
      inner.onResponseData?.(controller, piece);
    },
    onResponseEnd(controller, trailers) {
      onEnd(reply());
      inner.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      const failure = { code, message: secrecy.redact(error.message), ...(!sent && { sent }) };
      onEnd({ ...reply(), failure });
      inner.onResponseError?.(controller, error);
    },
  };
}

function safeHeaders(headers: Readonly<Record<string, string | string[] | undefined>>, { redactAll }: Secrecy) {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name === "set-cookie" ? [] : [[name, redactAll(value)]],
    ),
  );
}
