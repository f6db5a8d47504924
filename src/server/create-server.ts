import { once } from "node:events";
import { createServer as createNodeServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OptionsError, systemMessage } from "../core/errors.js";
import { resolve } from "../core/options.js";
import type { KnowledgeBase } from "../knowledge-base/options.js";
import { Connections } from "../network/connections.js";
import { createHandler } from "./create-handler.js";
import { isOwnMachine, loopbackNames, type ServerOptions, serverOptions } from "./options.js";

/** A running server. */
export interface Server {
  /** Address of the page, without a slash at its end; the API is below it. */
  readonly url: string;
  /** Takes no more requests, stops the answers, which are kept as far as they came, and frees the port. */
  readonly close: () => Promise<void>;
}

/**
 * Serves a knowledge base on this machine: page and API, as `createHandler` has them. The knowledge base stays open when the
 * server is closed.
 *
 * @throws OptionsError for bad options, for an address that others reach without `token` or `access`, or when the port is taken.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { createServer } from "citewell/server";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const { url } = await createServer(kb, { port: 3000, host: "0.0.0.0", token: "secret" });
 * ```
 */
export async function createServer<Fields extends object>(
  kb: KnowledgeBase<Fields>,
  options: ServerOptions = {},
): Promise<Server> {
  const { port, host, closeGraceMs, log, ...settings } = resolve("createServer", serverOptions, options);
  const isGuarded = settings.token !== undefined || settings.access !== undefined;
  if (!isGuarded && !isOwnMachine(host)) {
    const message = `${host} can be reached from other machines: give a token, or say by access who may see what`;
    throw new OptionsError("options", message, { call: "createServer", option: "host" });
  }
  const { port: _port, host: _host, closeGraceMs: _grace, log: _log, ...given } = options;
  const handler = createHandler(kb, isGuarded ? given : { hosts: [...loopbackNames, host], ...given });
  const server = createNodeServer((request, response) => void handler.node(request, response));
  const connections = new Connections(server, log);
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    await handler.close();
    throw new OptionsError("options", `Cannot listen at ${host}:${port}: ${systemMessage(error as Error)}`, {
      call: "createServer",
      option: "port",
    });
  }
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}${settings.basePath}`,
    close: async () => {
      const closed = connections.close(closeGraceMs);
      await handler.close();
      await closed;
    },
  };
}
