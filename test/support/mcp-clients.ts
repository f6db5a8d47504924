import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandFile } from "./citewell.js";

/** The versions of the protocol that the official client speaks: what it does by itself, and the latest. */
export const protocols = { "2025-11-25": "legacy", "2026-07-28": { pin: "2026-07-28" } } as const;
export type Protocol = keyof typeof protocols;

/** The official client, connected to `citewell mcp …` as a child process. The caller closes it. */
export async function stdioClient(
  protocol: Protocol,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const args = [commandFile, "mcp", ...words];
  const { PATH = "", NODE_PATH = "" } = process.env;
  const env = { PATH, NODE_PATH, ...environment };
  return connected(protocol, new StdioClientTransport({ command: process.execPath, args, env, stderr: "inherit" }));
}

/** The official client, connected to a server over streamable HTTP. The caller closes it. */
export async function httpClient(
  protocol: Protocol,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Client> {
  return connected(protocol, new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
}

async function connected(protocol: Protocol, transport: Parameters<Client["connect"]>[0]): Promise<Client> {
  const options: ClientOptions = { versionNegotiation: { mode: protocols[protocol] } };
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(transport);
  return client;
}

/** Serves a fetch-style handler on loopback until `close` is called. */
export async function serveHandler(
  handler: (request: Request) => Promise<Response>,
): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createAdaptorServer({ fetch: handler, overrideGlobalObjects: false }) as Server;
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
