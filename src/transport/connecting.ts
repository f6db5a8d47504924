import { Socket } from "node:net";
import type { buildConnector } from "undici";
import { httpClient } from "../network/http-client.js";
import type { Incoming } from "./incoming.js";

/** A connection on its way. */
export interface Opening {
  readonly destroy: (error: Error) => unknown;
}

/** Opens a connection, and calls back once: with it, or with what went wrong. */
export type Open = (target: buildConnector.Options, callback: buildConnector.Callback) => Opening | undefined;

/** The HTTP client's own way. */
export function openDirectly(options: buildConnector.BuildOptions): Open {
  const connect = httpClient().buildConnector(options);
  return (target, callback) => {
    // It returns the socket, which its type keeps to itself.
    const opened: unknown = connect(target, callback);
    return opened instanceof Socket ? opened : undefined;
  };
}

/**
 * Connections on their way. The HTTP client lets a request that was given up, and its own end, wait until the
 * connection stands or its time is over: beside a host that takes connections and stays silent, short time-outs would
 * pile up sockets. Here a connection ends with the request that it was opened for.
 */
export class Connecting {
  readonly #openings = new Set<Opening>();
  #incoming: Incoming | undefined;
  #closed = false;

  /** What the HTTP client opens its connections by. */
  connector(open: Open): buildConnector.connector {
    return (target, callback) => {
      const incoming = this.#incoming;
      const settle: buildConnector.Callback = (...result) => {
        if (opening) this.#openings.delete(opening);
        if (incoming) incoming.gaveUp = undefined;
        callback(...result);
      };
      const giveUp = () => opening?.destroy(new Error("the request was given up"));
      const opening = open(target, settle);
      if (!opening) return;
      this.#openings.add(opening);
      if (incoming) incoming.gaveUp = giveUp;
      if (this.#closed) giveUp();
    };
  }

  /**
   * Sends; a connection that is opened for it at once ends when it is broken off. Where the client opens one late, since the
   * connection before it is still closing, it is kept for the next request.
   */
  during(incoming: Incoming, send: () => unknown): void {
    this.#incoming = incoming;
    try {
      send();
    } finally {
      this.#incoming = undefined;
    }
  }

  /** Ends all of them, and those that are still to come. */
  close(): void {
    this.#closed = true;
    for (const opening of this.#openings) opening.destroy(new Error("the transport was closed"));
  }
}
