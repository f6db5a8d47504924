import { checkStorePart } from "../../core/check-port.js";
import { resolve } from "../../core/options.js";
import type { ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import { type McpServerOptions, mcpServerOptions } from "./options.js";
import { loadSdk, loadStdio } from "./sdk.js";
import { sdkServers } from "./sdk-server.js";

/** A transport of the official SDK that lasts as long as its client, such as its `StdioServerTransport`. */
export interface McpTransport {
  /** Starts receiving messages. */
  readonly start: () => Promise<void>;
  /** Sends one message. */
  readonly send: (message: never) => Promise<void>;
  /** Closes the connection. */
  readonly close: () => Promise<void>;
  /** Callback that the server sets, for the end of the connection. */
  onclose?: (() => void) | undefined;
}

/** Serves documents to clients of the Model Context Protocol. */
export interface McpServer {
  /** Serves one client, in the version of the protocol that it speaks. Resolves when it has gone. Several may be served at once. */
  readonly serve: (transport: McpTransport) => Promise<void>;
  /** Ends all connections, and the calls under way. The knowledge base stays open. */
  readonly close: () => Promise<void>;
}

/**
 * Makes documents readable for editors, agents and chat programs over the Model Context Protocol: the tools `search`, `ask` and
 * `read_source`, the documents as resources, and two prompts. Clients see what `documents` admits: a whole knowledge base, or
 * what its `scoped(filter)` returned. Needs the package `@modelcontextprotocol/server`.
 *
 * @throws OptionsError when an option is unknown or out of range, and `missing-package` without that package.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { createMcpServer } from "citewell/mcp";
 * const server = await createMcpServer(await openKnowledgeBase({ path: "./.citewell" }));
 * ```
 */
export async function createMcpServer(
  documents: ScopedKnowledgeBase,
  options: McpServerOptions = {},
): Promise<McpServer> {
  const settings = resolve("createMcpServer", mcpServerOptions, options);
  checkStorePart("createMcpServer", documents, ["search", "ask", "document"]);
  const [sdk, { serveStdio }] = await Promise.all([loadSdk(), loadStdio()]);
  const create = sdkServers(sdk, settings, () => documents);
  const connections = new Set<{ readonly close: () => Promise<void> }>();
  return {
    serve: (transport) =>
      new Promise((resolveServed) => {
        // Whatever the transport, this side of the SDK serves clients of all versions of the protocol.
        const connection = serveStdio(create, { transport, onerror: settings.onError });
        connections.add(connection);
        const { onclose } = transport;
        // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport of the SDK has no other way to tell
        transport.onclose = () => {
          onclose?.();
          connections.delete(connection);
          resolveServed();
        };
      }),
    close: async () => {
      await Promise.all([...connections].map((connection) => connection.close()));
    },
  };
}
