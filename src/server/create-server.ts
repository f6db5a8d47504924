import { once } from "node:events";
import { createServer as createNodeServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OptionsError, systemMessage } from "../core/errors.js";
import { resolve } from "../core/options.js";
import type { KnowledgeBase } from "../knowledge-base/options.js";
import { Connections } from "../network/connections.js";
import { createHandler } from "./create-handler.js";
import { isGuardedBy, isOwnMachine, loopbackNames, type ServerOptions, serverOptions } from "./options.js";

/**
 * Connections that the system holds until they are accepted; it may hold fewer. With Node's default of 511, a crowd that comes in one
 * moment is turned away, and clients try again after seconds.
 */
const maxPendingConnections = 4096;

/**
 * Time that an idle connection is kept, in milliseconds: longer than the 60 s after which usual balancers let go of theirs. With Node's
 * default of 5 s, a client that uses its connection again in just that moment loses a request.
 */
const keepAliveTimeout = 65_000;

/** A running server. */
export interface Server {
  /** Address of the page, without a slash at its end; the API is below it. */
  readonly url: string;
  /**
   * Refuses new requests and frees the port. Answers under way have `closeGraceMs` to finish, and are then stopped and kept as
   * far as they came.
   */
  readonly close: () => Promise<void>;
}

/**
 * Serves a knowledge base on this machine: page and API, as `createHandler` has them. The knowledge base stays open when the
 * server is closed.
 *
 * @throws OptionsError for bad options, for an address that others reach without `token`, `access`, `keys` or `openId`, or when the port is taken.
 * @example
 * ```ts
 * import { randomBytes } from "node:crypto";
 * import { openKnowledgeBase } from "citewell";
 * import { createServer } from "citewell/server";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const { url } = await createServer(kb, { port: 3000, host: "0.0.0.0", token: randomBytes(16).toString("hex") });
 * ```
 */
export async function createServer<Fields extends object>(
  kb: KnowledgeBase<Fields>,
  options: ServerOptions = {},
): Promise<Server> {
  const { port, host, log, ...settings } = resolve("createServer", serverOptions, options);
  const isGuarded = isGuardedBy(settings);
  if (!isGuarded && !isOwnMachine(host)) {
    const message = `${host} can be reached from other machines: give a token or keys, or say by access or openId who may see what`;
    throw new OptionsError("options", message, { call: "createServer", option: "host" });
  }
  const { port: _port, host: _host, log: _log, ...given } = options;
  const handler = createHandler(kb, isGuarded ? given : { hosts: [...loopbackNames, host], ...given });
  const server = createNodeServer({ keepAliveTimeout }, (request, response) => void handler.node(request, response));
  const connections = new Connections(server, log);
  try {
    await once(server.listen(port, host, maxPendingConnections), "listening");
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
      // Stopped answers need a moment to reach their readers.
      const closed = connections.close(settings.closeGraceMs + 1000);
      await handler.close();
      await closed;
    },
  };
}
