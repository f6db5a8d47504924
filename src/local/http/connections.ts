import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** One request, told when its answer is over. */
export interface RequestLog {
  /** When it came in: ISO 8601, on the wall clock. */
  readonly time: string;
  /** HTTP method, in capital letters. */
  readonly method: string;
  /** Without its query, which may carry a link's secret. */
  readonly path: string;
  /** 0 when the connection broke before there was one. */
  readonly status: number;
  /** Time from the request to the end of its answer. */
  readonly milliseconds: number;
  /** Whether the caller went away before the end. */
  readonly aborted: boolean;
}

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
        log?.({
          time,
          milliseconds: Math.round(performance.now() - started),
          method: request.method ?? "",
          path: request.url?.split("?", 1)[0] ?? "",
          status: response.headersSent ? response.statusCode : 0,
          aborted: !response.writableFinished,
        });
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
      const forced = setTimeout(() => this.#server.closeAllConnections(), graceMs);
      // The callback's error says only that it was closed before.
      this.#server.close(() => {
        clearTimeout(forced);
        closed();
      });
      if (this.#active === 0) this.#server.closeAllConnections();
    });
  }
}
