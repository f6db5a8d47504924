import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { OptionsError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { given } from "../../core/given.js";
import type { ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import { createMcpHandler } from "../../server/mcp/create-mcp-handler.js";
import { createMcpServer } from "../../server/mcp/create-mcp-server.js";
import type { McpServerOptions } from "../../server/mcp/options.js";
import { loadStdio } from "../../server/mcp/sdk.js";
import { loopbackNames } from "../../server/options.js";
import { print, withKnowledgeBase, type CommandIo, type StoreFlags } from "../command-context.js";
import { describeFailure, exitCodes } from "../output/failure.js";

export interface McpFlags extends StoreFlags {
  readonly filter?: Filter;
  readonly about?: string;
  readonly http?: boolean;
  readonly port?: number;
  /** False: no token is required. */
  readonly token?: string | false;
}

/** Serves one client on stdin and stdout until it goes, or many over HTTP until Ctrl-C. */
export async function mcpCommand(io: CommandIo, { filter, about, ...flags }: McpFlags): Promise<number> {
  const { http = false, port, token } = flags;
  if (!http && (port !== undefined || token !== undefined)) {
    throw new OptionsError("options", "--port, --token and --no-token belong to --http");
  }
  return withKnowledgeBase(io, flags, false, async (kb) => {
    const documents = filter === undefined ? kb : kb.scoped(filter);
    const onError = (error: unknown) => void io.stderr.write(`${describeFailure(error, false)}\n`);
    const serve = http ? serveHttp : serveStdio;
    await serve(io, documents, { ...given({ about }), onError }, flags);
    return exitCodes.done;
  });
}

/** Stdout carries the protocol and nothing else. */
async function serveStdio(io: CommandIo, documents: ScopedKnowledgeBase, options: McpServerOptions): Promise<void> {
  const { StdioServerTransport } = await loadStdio();
  const server = await createMcpServer(documents, options);
  const close = () => void server.close();
  io.signal.addEventListener("abort", close, { once: true });
  if (!io.signal.aborted) await server.serve(new StdioServerTransport(io.stdin, io.stdout as NodeJS.WriteStream));
  io.signal.removeEventListener("abort", close);
}

async function serveHttp(
  io: CommandIo,
  documents: ScopedKnowledgeBase,
  options: McpServerOptions,
  { port = 0, token: asked, json = false }: Pick<McpFlags, "port" | "token" | "json">,
): Promise<void> {
  const token = asked === false ? undefined : (asked ?? randomBytes(18).toString("base64url"));
  const handler = await createMcpHandler(documents, { ...options, ...given({ token }), hosts: loopbackNames });
  const { createAdaptorServer } = await import("@hono/node-server");
  const server = createAdaptorServer({
    fetch: (request) =>
      new URL(request.url).pathname === "/mcp" ? handler.fetch(request) : new Response(null, { status: 404 }),
    overrideGlobalObjects: false,
  }) as Server;
  await once(server.listen(port, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const headers = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
  const configuration = { mcpServers: { documents: { type: "http", url, ...headers } } };
  const text = `${JSON.stringify(configuration, undefined, 2)}\n\nServes this machine until Ctrl-C.\n`;
  print(io, { json }, { url, ...(token !== undefined && { token }) }, text);
  if (!io.signal.aborted) await once(io.signal, "abort");
  await handler.close();
  server.close();
  server.closeAllConnections();
}
