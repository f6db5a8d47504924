import { type ClientRequest, type RequestOptions, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import type { Open, Opening } from "./connecting.js";

/** The proxy did not open a way to the service: nothing can have reached it. Holds no credentials. */
export class ProxyFailure extends Error {
  /** Whether the proxy may do better later. */
  readonly passing: boolean;

  constructor(message: string, { passing, cause }: { readonly passing: boolean; readonly cause?: unknown }) {
    super(message, cause === undefined ? {} : { cause });
    this.passing = passing;
  }
}

interface ProxyTunnel {
  /** `http://` or `https://`, perhaps with credentials. */
  readonly url: string;
  /** For the whole way: to the proxy, its answer, and TLS with the service behind it. */
  readonly timeoutMs: number;
  /** Trusted for the proxy itself; Node's own when left out. */
  readonly ca?: readonly string[];
  /** Makes a tunnel's connection one of TLS. */
  readonly secure: Open;
}

/** Opens connections by asking a proxy for tunnels (https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6). */
export function openThroughProxy({ url, timeoutMs, ca, secure }: ProxyTunnel): Open {
  const proxy = new URL(url);
  return (target, callback) => {
    const authority = authorityOf(target);
    let stage: Opening;
    const settle: buildConnector.Callback = (...result) => {
      clearTimeout(timer);
      callback(...result);
    };
    const timer = setTimeout(() => {
      const message = `the proxy ${proxy.origin} opened no way to ${authority} within ${timeoutMs} ms`;
      stage.destroy(new ProxyFailure(message, { passing: true }));
    }, timeoutMs);
    const request = askForTunnel(proxy, authority, ca);
    stage = request;
    request.on("error", (cause) => {
      settle(cause instanceof ProxyFailure ? cause : unreachable(proxy, cause), null);
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

function askForTunnel(proxy: URL, authority: string, ca: readonly string[] | undefined): ClientRequest {
  const { protocol, hostname, port, username, password } = proxy;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const options: RequestOptions = {
    method: "CONNECT",
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? undefined : Number(port),
    path: authority,
    headers: {
      host: authority,
      ...(username !== "" && { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` }),
    },
    agent: false,
  };
  return protocol === "https:" ? secureRequest({ ...options, ...(ca && { ca: [...ca] }) }) : plainRequest(options);
}

function authorityOf({ hostname, port, protocol }: buildConnector.Options): string {
  const host = hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
  return `${host}:${port || (protocol === "https:" ? 443 : 80)}`;
}

function unreachable({ origin }: URL, cause: Error): ProxyFailure {
  const { code } = cause as NodeJS.ErrnoException;
  return new ProxyFailure(`no connection to the proxy ${origin} (${code ?? cause.message})`, { passing: true, cause });
}

function refused({ origin }: URL, authority: string, status: number): ProxyFailure {
  const message = `the proxy ${origin} opened no way to ${authority} (status ${status})`;
  if (status === 407) return new ProxyFailure(`${message}: it wants other credentials in proxyUrl`, { passing: false });
  return new ProxyFailure(message, { passing: status >= 500 || status === 408 || status === 429 });
}
