import { rootCertificates } from "node:tls";
import type { Dispatcher } from "undici";
import { httpClient } from "../network/http-client.js";
import { type Connecting, type Open, openDirectly } from "./connecting.js";
import { passesByProxy } from "./no-proxy.js";
import type { TransportSettings } from "./options.js";
import { openThroughProxy } from "./proxy-tunnel.js";

/** Connections of a transport's own: kept alive, and through the proxy where there is one. */
export function openDispatcher(settings: TransportSettings, connecting: Connecting): Dispatcher {
  const { http2 } = settings;
  const { Agent } = httpClient();
  // Time-outs of the client are off (undici's own end a call after 300 s): operations have their own.
  const shared = { headersTimeout: 0, bodyTimeout: 0, allowH2: http2 };
  return new Agent({ ...shared, connect: connecting.connector(opener(settings)) });
}

function opener({ proxyUrl, noProxy, http2, connectTimeoutMs, certificates }: TransportSettings): Open {
  // Given to Node as they are, they would stand in for its own.
  const trusted = certificates.length > 0 && { ca: [...rootCertificates, ...certificates] };
  const direct = openDirectly({ timeout: connectTimeoutMs, allowH2: http2, ...trusted });
  if (proxyUrl === undefined) return direct;
  const tunnel = openThroughProxy({ url: proxyUrl, timeoutMs: connectTimeoutMs, secure: direct, ...trusted });
  return (target, callback) => {
    const port = Number(target.port) || (target.protocol === "https:" ? 443 : 80);
    const open = passesByProxy(noProxy, { hostname: target.hostname, port }) ? direct : tunnel;
    return open(target, callback);
  };
}
