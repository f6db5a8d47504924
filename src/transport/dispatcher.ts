import { rootCertificates } from "node:tls";
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import type { Connecting } from "./connecting.js";
import type { TransportSettings } from "./options.js";

/** Connections of a transport's own: kept alive, and through the proxy where there is one. */
export function openDispatcher(settings: TransportSettings, connecting: Connecting): Dispatcher {
  const { proxyUrl, noProxy, http2, connectTimeoutMs, certificates } = settings;
  const connection = {
    timeout: connectTimeoutMs,
    allowH2: http2,
    // Given to Node as they are, they would stand in for its own.
    ...(certificates.length > 0 && { ca: [...rootCertificates, ...certificates] }),
  };
  // Time-outs of the client are off (undici's own end a call after 300 s): operations have their own.
  const shared = { headersTimeout: 0, bodyTimeout: 0, allowH2: http2, connect: connecting.connector(connection) };
  if (proxyUrl === undefined) return new Agent(shared);
  return new EnvHttpProxyAgent({
    ...shared,
    requestTls: connection,
    // A tunnel is asked for over HTTP/1.1.
    proxyTls: { ...connection, allowH2: false },
    // All three are given, since the agent looks into the environment for those that are not.
    httpProxy: proxyUrl,
    httpsProxy: proxyUrl,
    noProxy: noProxy.join(","),
  });
}
