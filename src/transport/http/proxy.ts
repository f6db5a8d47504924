import type { ClientRequest, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import { FailedAttempt } from "../failures/failure.js";

/** A connection that is being opened. */
export interface PendingConnection {
  readonly destroy: (error: Error) => unknown;
}

/** Opens a connection, and calls back once: with the socket, or with what went wrong. */
export type Connect = (
  target: buildConnector.Options,
  callback: buildConnector.Callback,
) => PendingConnection | undefined;

interface ProxyOptions {
  /** `http://` or `https://`, perhaps with credentials. */
  readonly url: string;
  /** Covers connecting to the proxy, its answer, and TLS with the service behind it. */
  readonly timeoutMs: number;
  /** Certificates to trust for the proxy itself. Default: Node's own. */
  readonly ca?: readonly string[];
  /** Starts TLS over the tunnel. */
  readonly secure: Connect;
}

/**
 * Opens connections through the tunnels of a proxy (https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6). undici's
 * ProxyAgent reports a refused tunnel in its message alone, and cannot give up a tunnel that is being opened.
 */
export function connectThroughProxy({ url, timeoutMs, ca, secure }: ProxyOptions): Connect {
  const proxy = new URL(url);
  return (target, callback) => {
    const authority = authorityOf(target);
    let stage: PendingConnection;
    const settle: buildConnector.Callback = (...result) => {
      clearTimeout(timer);
      callback(...result);
    };
    const timer = setTimeout(() => {
      stage.destroy(proxyFailure(`the proxy ${proxy.origin} opened no tunnel to ${authority} within ${timeoutMs} ms`));
    }, timeoutMs);
    const request = requestTunnel(proxy, authority, ca);
    stage = request;
    request.on("error", (cause: NodeJS.ErrnoException) => {
      const { code, message } = cause;
      const text = `no connection to the proxy ${proxy.origin} (${code ?? message})`;
      settle(cause instanceof FailedAttempt ? cause : proxyFailure(text, { cause }), null);
    });
    request.once("connect", ({ statusCode = 0 }, socket: Socket) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        settle(refused(proxy, authority, statusCode), null);
        return;
      }
      socket.setNoDelay(true).setKeepAlive(true, 60_000);
      if (target.protocol === "https:") stage = secure({ ...target, httpSocket: socket }, settle) ?? socket;
      else settle(null, socket);
    });
    request.end();
    return { destroy: (error) => stage.destroy(error) };
  };
}

function requestTunnel(proxy: URL, authority: string, ca: readonly string[] | undefined): ClientRequest {
  const { protocol, hostname, port, username, password } = proxy;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const options: RequestOptions = {
    method: "CONNECT",
    host: withoutBrackets(hostname),
    port: port === "" ? undefined : Number(port),
    path: authority,
    headers: {
      host: authority,
      ...(username !== "" && { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` }),
    },
    agent: false,
  };
  // Loaded here, since few have a proxy, and a third of the modules of Node come with them.
  if (protocol !== "https:") return process.getBuiltinModule("node:http").request(options);
  return process.getBuiltinModule("node:https").request({ ...options, ...(ca && { ca: [...ca] }) });
}

function authorityOf({ hostname, port, protocol }: buildConnector.Options): string {
  const host = hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
  return `${host}:${port || (protocol === "https:" ? 443 : 80)}`;
}

function refused({ origin }: URL, authority: string, status: number): FailedAttempt {
  const message = `the proxy ${origin} opened no tunnel to ${authority} (status ${status})`;
  if (status === 407)
    return proxyFailure(`${message}: it requires other credentials in proxyUrl`, { retryable: false });
  return proxyFailure(message, { retryable: status >= 500 || status === 408 || status === 429 });
}

/** The proxy opened no tunnel, so nothing can have reached the service. The message holds no credentials. */
function proxyFailure(message: string, details: { retryable?: boolean; cause?: unknown } = {}): FailedAttempt {
  return new FailedAttempt({ code: "network", message, retryable: true, undelivered: true, ...details });
}

/**
 * Whether a host is reached without the proxy. Entries are `host`, `host:port`, `.domain` or `*.domain` for everything
 * below it, and `*` for all; a plain host covers everything below it too. Pure.
 */
export function bypassesProxy(
  entries: readonly string[],
  { hostname, port, protocol }: Pick<buildConnector.Options, "hostname" | "port" | "protocol">,
): boolean {
  const host = withoutBrackets(hostname).toLowerCase();
  const targetPort = Number(port) || (protocol === "https:" ? 443 : 80);
  return entries.some((entry) => {
    if (entry === "*") return true;
    const [, name = entry, wantedPort] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
    if (wantedPort !== undefined && Number(wantedPort) !== targetPort) return false;
    const domain = withoutBrackets(name)
      .toLowerCase()
      .replace(/^\*?\./, "");
    return host === domain || host.endsWith(`.${domain}`);
  });
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
