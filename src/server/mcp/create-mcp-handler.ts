import { z } from "zod";
import { checkStorePart } from "../../core/check-port.js";
import { asError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { functionOption, optionsOf, resolve } from "../../core/options.js";
import type { ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import { ClientSessions, failure } from "./client-sessions.js";
import { type McpServerOptions, mcpServerOptions } from "./options.js";
import { carriedDocuments, carryDocuments } from "./request-documents.js";
import { loadSdk } from "./sdk.js";
import { sdkServer } from "./sdk-server.js";

/** What one request may see. */
export interface McpAccess {
  /** The documents that it may search, read and ask about. Default: all. */
  readonly filter?: Filter;
}

export interface McpHandlerOptions extends McpServerOptions {
  /**
   * Says what a request may see, by its headers: `undefined` refuses it with 401. It is asked for each request, so that
   * clients are held apart by the server. Default: every request sees all documents.
   */
  readonly access?: (request: Request) => McpAccess | undefined | Promise<McpAccess | undefined>;
  /**
   * Names that the server may be addressed by, without ports, and that pages which call it may come from; others are refused
   * with 403. `any` leaves that check to what stands before the handler. Default: `localhost`, `127.0.0.1` and `[::1]`, so
   * that no page elsewhere reaches a server on this machine by a name of its own.
   */
  readonly hosts?: readonly string[] | "any";
  /** Maximum size of a request in bytes, 1,000 or more. Default: 1,000,000. */
  readonly maxRequestBytes?: number;
  /** Maximum clients before version 2026-07-28 of the protocol at once; the one idle for longest has to begin again. Default: 1,000. */
  readonly maxSessions?: number;
}

const mcpHandlerOptions = optionsOf<McpHandlerOptions>()({
  ...mcpServerOptions.shape,
  access: functionOption<NonNullable<McpHandlerOptions["access"]>>().default(() => () => ({})),
  hosts: z.union([z.array(z.string().min(1)).readonly(), z.literal("any")]).optional(),
  maxRequestBytes: z.int().min(1000).default(1_000_000),
  maxSessions: z.int().min(1).default(1000),
});

/** A fetch-style handler, to be mounted at a path such as `/mcp`. */
export interface McpHandler {
  (request: Request): Promise<Response>;
  /** Ends the calls under way and forgets all clients. The knowledge base stays open. */
  close(): Promise<void>;
}

/**
 * Serves what `createMcpServer` does over streamable HTTP, in Hono, Express, Next-style routes and bare Node: mount it at one
 * path, for GET, POST and DELETE.
 *
 * @throws OptionsError when an option is unknown or out of range, and `missing-package` without the package
 * `@modelcontextprotocol/server`.
 */
export async function createMcpHandler(
  documents: ScopedKnowledgeBase,
  options: McpHandlerOptions = {},
): Promise<McpHandler> {
  const settings = resolve("createMcpHandler", mcpHandlerOptions, options);
  const { access, hosts, maxRequestBytes, maxSessions, onError } = settings;
  checkStorePart("createMcpHandler", documents, ["search", "ask", "document", "scoped"]);
  const sdk = await loadSdk();
  const createServer = () => sdkServer(sdk, settings, carriedDocuments);
  const latest = sdk.createMcpHandler(createServer, { legacy: "reject", onerror: onError });
  const earlier = new ClientSessions(sdk, createServer, maxSessions);

  const refusedByName = (request: Request) => {
    if (hosts === "any") return undefined;
    const names = [...(hosts ?? sdk.localhostAllowedHostnames())];
    return sdk.hostHeaderValidationResponse(request, names) ?? sdk.originValidationResponse(request, names);
  };

  let closed: Promise<unknown> | undefined;
  const answer = async (request: Request): Promise<Response> => {
    const refused = refusedByName(request);
    if (refused) return refused;
    if (closed) return failure(503, "This server is closing");
    const granted = await access(request);
    if (!granted) {
      return failure(401, "This server needs a token that it knows", { "www-authenticate": "Bearer" });
    }
    // This server says nothing unasked, so it has no stream for that.
    if (request.method === "GET") return failure(405, "Only POST and DELETE are served", { allow: "POST, DELETE" });
    const authInfo = carryDocuments(granted.filter === undefined ? documents : documents.scoped(granted.filter));
    if (request.method !== "POST") return earlier.handle(request, undefined, { authInfo });
    if (!sdk.isJsonContentType(request.headers.get("content-type"))) {
      return failure(415, "Requests are sent as application/json");
    }
    const read = await sdk.readRequestBody(request, maxRequestBytes);
    if (read.tooLarge) return failure(413, `Requests are at most ${maxRequestBytes} bytes long`);
    const body = parsed(read.text);
    if (body === undefined) return failure(400, "The request is not JSON");
    const parts = { authInfo, parsedBody: body };
    return (await sdk.isLegacyRequest(request, body))
      ? earlier.handle(request, body, parts)
      : latest.fetch(request, parts);
  };

  const handler = async (request: Request): Promise<Response> => {
    try {
      return await answer(request);
    } catch (error) {
      onError(asError(error));
      return failure(500, "The server failed to answer. Its log says why");
    }
  };
  return Object.assign(handler, {
    close: async () => {
      await (closed ??= Promise.all([latest.close(), earlier.close()]));
    },
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
