import type { Dispatcher, buildConnector } from "undici";
import { httpConnections } from "../../network/http-client.js";
import type { RequestDispatcher, TransportSettings } from "../options.js";
import { type Connect, type PendingConnection, bypassesProxy, connectThroughProxy } from "./proxy.js";

/** Receiver of the answer to a request. */
export interface CuttableHandler extends Dispatcher.DispatchHandler {
  /** Called when the exchange is cut: undici tells nobody before there is a connection. */
  onCut: (() => void) | undefined;
}

/**
 * The connections of one transport: kept alive, and through the proxy when one is set.
 *
 * undici hears of an abort only when the connection stands or its own time-out passes: beside a host that accepts TCP and
 * stays silent, a request aborted after 100 ms ended after 10.6 s, and held its socket so long. Here a connection attempt
 * ends with the request that started it.
 */
export class Connections {
  readonly #dispatcher: RequestDispatcher;
  /** The dispatcher, unless it belongs to the caller, who closes it. */
  readonly #own: Dispatcher | undefined;
  readonly #pending = new Set<PendingConnection>();
  /** The exchange that is being dispatched. */
  #dispatching: CuttableHandler | undefined;
  #closed = false;

  constructor(settings: TransportSettings) {
    if (!settings.dispatcher) this.#own = this.#openAgent(settings);
    this.#dispatcher = settings.dispatcher ?? this.#own!;
  }

  /**
   * Sends a request; a connection that undici opens for it at once ends when the exchange is cut. A connection that
   * undici opens later, because the one before it is still closing, is kept for the next request.
   */
  dispatch(request: Dispatcher.DispatchOptions, exchange: CuttableHandler): void {
    this.#dispatching = exchange;
    try {
      this.#dispatcher.dispatch(request, exchange);
    } finally {
      this.#dispatching = undefined;
    }
  }

  /** Ends all connections and connection attempts, and attempts that undici is still to make. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const connection of this.#pending) connection.destroy(new Error("the transport was closed"));
    await this.#own?.destroy();
  }

  #openAgent(settings: TransportSettings): Dispatcher {
    const connect = connectWith(settings);
    return new (httpConnections().Agent)({
      // undici's own time-outs would end a call after 300 s; each operation has its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: settings.http2,
      connect: (target, callback) => this.#connect(connect, target, callback),
    });
  }

  #connect(connect: Connect, target: buildConnector.Options, callback: buildConnector.Callback): void {
    const exchange = this.#dispatching;
    const settle: buildConnector.Callback = (...result) => {
      if (connection) this.#pending.delete(connection);
      if (exchange) exchange.onCut = undefined;
      callback(...result);
    };
    const connection = connect(target, settle);
    if (!connection) return;
    const giveUp = () => void connection.destroy(new Error("the request was given up"));
    this.#pending.add(connection);
    if (exchange) exchange.onCut = giveUp;
    if (this.#closed) giveUp();
  }
}

function connectWith({ proxyUrl, noProxy, http2, connectTimeoutMs, certificates }: TransportSettings): Connect {
  // Node uses given certificates instead of its own, so its own are added.
  const trusted = certificates.length > 0 && {
    ca: [...process.getBuiltinModule("node:tls").rootCertificates, ...certificates],
  };
  const direct = connectDirectly({ timeout: connectTimeoutMs, allowH2: http2, ...trusted });
  if (proxyUrl === undefined) return direct;
  const proxied = connectThroughProxy({ url: proxyUrl, timeoutMs: connectTimeoutMs, secure: direct, ...trusted });
  return (target, callback) => (bypassesProxy(noProxy, target) ? direct : proxied)(target, callback);
}

function connectDirectly(options: buildConnector.BuildOptions): Connect {
  const connect = httpConnections().buildConnector(options);
  const { Socket } = process.getBuiltinModule("node:net");
  return (target, callback) => {
    // undici returns the socket, though its type does not say so.
    const opened: unknown = connect(target, callback);
    return opened instanceof Socket ? opened : undefined;
  };
}
