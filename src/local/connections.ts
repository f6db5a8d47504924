import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { RequestLog } from "./request-log.js";

/** The requests of one server that are being answered. */
export class Connections {
  readonly #server: Server;
  #active = 0;

  /** @param log hears of every request at its end */
  constructor(server: Server, log?: (entry: RequestLog) => void) {
    this.#server = server;
    // Before the listener that answers, so that a request counts while it is answered.
    server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#active++;
      const started = performance.now();
      const time = new Date().toISOString();
      response.once("close", () => {
        this.#active--;
        log?.(entry(request, response, { time, milliseconds: Math.round(performance.now() - started) }));
      });
    });
  }

  /** Requests that are being answered, with the one that asks. */
  get active(): number {
    return this.#active;
  }

  /** Takes no more, gives those that are under way a while to end, and breaks what is left. */
  close(graceMs: number): Promise<void> {
    return new Promise((closed) => {
      const impatient = setTimeout(() => this.#server.closeAllConnections(), graceMs);
      // The callback's error says only that it was closed before.
      this.#server.close(() => {
        clearTimeout(impatient);
        closed();
      });
      if (this.#active === 0) this.#server.closeAllConnections();
    });
  }
}

function entry(
  { method = "", url = "" }: IncomingMessage,
  response: ServerResponse,
  times: Pick<RequestLog, "time" | "milliseconds">,
): RequestLog {
  return {
    ...times,
    method,
    path: url.split("?", 1)[0] ?? "",
    status: response.headersSent ? response.statusCode : 0,
    aborted: !response.writableFinished,
  };
}
