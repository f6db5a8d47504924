import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { OptionsError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { given } from "../../core/given.js";
import type { ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import { createMcpHandler, type McpHandlerOptions } from "../../server/mcp/create-mcp-handler.js";
import { createMcpServer } from "../../server/mcp/create-mcp-server.js";
import type { McpServerOptions } from "../../server/mcp/options.js";
import { loadStdio } from "../../server/mcp/sdk.js";
import type { KeyBook } from "../../server/callers/key.js";
import { loopbackNames } from "../../server/options.js";
import { print, withKnowledgeBase, type CommandIo, type StoreFlags } from "../command-context.js";
import { describeFailure, exitCodes } from "../output/failure.js";
import { readCallers } from "../settings/callers-file.js";
import { withKeys } from "../settings/keys-path.js";

export interface McpFlags extends StoreFlags {
  readonly filter?: Filter;
  readonly about?: string;
  readonly http?: boolean;
  readonly port?: number;
  /** False: no token is required. */
  readonly token?: string | false;
  readonly keys?: boolean;
  readonly keysFile?: string;
  readonly callers?: string;
}

/** Serves one client on stdin and stdout until it goes, or many over HTTP until Ctrl-C. */
export async function mcpCommand(io: CommandIo, { filter, about, ...flags }: McpFlags): Promise<number> {
  const { http = false, port, token, keys, keysFile, callers } = flags;
  if (!http && [port, token, keys, keysFile, callers].some((value) => value !== undefined)) {
    const message = "--port, --token, --no-token, --keys, --keys-file and --callers belong to --http";
    throw new OptionsError("options", message);
  }
  if (isPersonal(flags) && token !== undefined) {
    const message = "Callers are known by their own keys with --keys and --callers: leave --token and --no-token out";
    throw new OptionsError("options", message);
  }
  return withKnowledgeBase(io, flags, false, async (kb) => {
    const documents = filter === undefined ? kb : kb.scoped(filter);
    const onError = (error: unknown) => void io.stderr.write(`${describeFailure(error, false)}\n`);
    const options = { ...given({ about }), onError };
    const serve = (kept?: KeyBook) => serveHttp(io, documents, { ...options, ...given({ keys: kept }) }, flags);
    if (!http) await serveStdio(io, documents, options);
    else await (takesKeys(flags) ? withKeys(io, flags, serve) : serve());
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

function takesKeys({ keys, keysFile }: McpFlags): boolean {
  return keys ?? keysFile !== undefined;
}

/** Whether callers are told apart by keys or tokens of their own. */
function isPersonal(flags: McpFlags): boolean {
  return takesKeys(flags) || flags.callers !== undefined;
}

async function serveHttp(
  io: CommandIo,
  documents: ScopedKnowledgeBase,
  options: McpHandlerOptions,
  flags: Omit<McpFlags, "filter" | "about">,
): Promise<void> {
  const { port = 0, token: asked, json = false, callers } = flags;
  const hasToken = !isPersonal(flags) && asked !== false;
  const token = hasToken ? (asked ?? randomBytes(18).toString("base64url")) : undefined;
  const handler = await createMcpHandler(documents, {
    ...options,
    ...given({ token }),
    ...(callers !== undefined && readCallers(io, callers)),
    hosts: loopbackNames,
  });
  const { createAdaptorServer } = await import("@hono/node-server");
  const server = createAdaptorServer({
    fetch: (request) =>
      new URL(request.url).pathname === "/mcp" ? handler.fetch(request) : new Response(null, { status: 404 }),
    overrideGlobalObjects: false,
  }) as Server;
  await once(server.listen(port, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const sent = isPersonal(flags) ? "…" : token;
  const headers = sent === undefined ? {} : { headers: { Authorization: `Bearer ${sent}` } };
  const configuration = { mcpServers: { documents: { type: "http", url, ...headers } } };
  const own = isPersonal(flags) ? "Each client sends its own key or access token in place of the dots.\n" : "";
  const text = `${JSON.stringify(configuration, undefined, 2)}\n\n${own}Serves this machine until Ctrl-C.\n`;
  print(io, { json }, { url, ...(token !== undefined && { token }) }, text);
  if (!io.signal.aborted) await once(io.signal, "abort");
  await handler.close();
  server.close();
  server.closeAllConnections();
}
