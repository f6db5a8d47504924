import type { EventEmitter } from "node:events";
import { Socket } from "node:net";
import { buildConnector } from "undici";

/**
 * Connections on their way. The HTTP client lets a request that was given up, and its own end, wait until the
 * connection stands or its time is over: beside a host that takes connections and stays silent, short time-outs would
 * pile up sockets. Here a connection ends with the request that it was opened for.
 */
export class Connecting {
  readonly #sockets = new Set<Socket>();
  #signal: EventEmitter | undefined;
  #closed = false;

  /** Opens connections for the HTTP client. */
  connector(options: buildConnector.BuildOptions): buildConnector.connector {
    const connect = buildConnector(options);
    return (target, callback) => {
      const signal = this.#signal;
      const settle: buildConnector.Callback = (...result) => {
        if (socket) this.#sockets.delete(socket);
        signal?.off("abort", giveUp);
        callback(...result);
      };
      const giveUp = () => socket?.destroy(new Error("the request was given up"));
      // It returns the socket, which its type keeps to itself.
      const opened: unknown = connect(target, settle);
      const socket = opened instanceof Socket ? opened : undefined;
      if (!socket) return;
      this.#sockets.add(socket);
      signal?.once("abort", giveUp);
      if (this.#closed) giveUp();
    };
  }

  /** Sends; a connection that is opened for it, which the client does at once or never, ends with its `abort`. */
  during<T>(signal: EventEmitter, send: () => T): T {
    this.#signal = signal;
    try {
      return send();
    } finally {
      this.#signal = undefined;
    }
  }

  /** Ends all of them, and those that are still to come. */
  close(): void {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy(new Error("the transport was closed"));
  }
}
