import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Header that carries the id of a request on its reply. */
export const requestIdHeader = "x-request-id";
/** Header that names the fields of a request that had no effect. */
export const ignoredHeader = "x-citewell-ignored";

/** Log record of a request, written when its answer is over. */
export interface RequestLog {
  /** Time of arrival: ISO 8601, on the wall clock. */
  readonly time: string;
  /** The `x-request-id` of its reply. */
  readonly requestId: string;
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
  /** Fields of the request that had no effect, as `x-citewell-ignored` names them; left out when there are none. */
  readonly ignored?: string;
}

/** The requests of one server that are being answered. */
export class Connections {
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();
  #isClosing = false;

  /** Gives every request its id. @param log hears of every request at its end */
  constructor(server: Server, log?: (entry: RequestLog) => void) {
    this.#server = server;
    // Before the listener that answers, so that a request counts while it is answered.
    server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#open.add(response);
      const started = performance.now();
      const time = new Date().toISOString();
      response.setHeader(requestIdHeader, randomUUID());
      response.once("close", () => {
        this.#open.delete(response);
        // The caller may keep its connection for another request, which a server that closes takes no more. Node's
        // closeIdleConnections would also break others, whose answers are written but not yet sent.
        if (this.#isClosing && ![...this.#open].some(({ req }) => req.socket === request.socket))
          request.socket.destroySoon();
        const ignored = response.getHeader(ignoredHeader);
        log?.({
          time,
          requestId: String(response.getHeader(requestIdHeader)),
          milliseconds: Math.round(performance.now() - started),
          method: request.method ?? "",
          path: request.url?.split("?", 1)[0] ?? "",
          status: response.headersSent ? response.statusCode : 0,
          aborted: !response.writableFinished,
          ...(ignored !== undefined && { ignored: String(ignored) }),
        });
      });
    });
  }

  /** Number of requests being answered, including the caller's own. */
  get active(): number {
    return this.#open.size;
  }

  /** Refuses new requests, gives running ones a grace period, and breaks the rest. */
  close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    return new Promise((closed) => {
      const forced = setTimeout(() => this.#server.closeAllConnections(), graceMs);
      // The callback's error says only that it was closed before.
      this.#server.close(() => {
        clearTimeout(forced);
        closed();
      });
      if (this.#open.size === 0) this.#server.closeAllConnections();
    });
  }
}
