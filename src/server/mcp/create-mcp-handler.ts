import { z } from "zod";
import { checkStorePart } from "../../core/check-port.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import { accessName, type AccessOf, CheckedAccess, WrongAccess } from "../access.js";
import { admissionOf } from "../callers/admission-of.js";
import { Refusal, refusalOf } from "../guard/refusal.js";
import { CallerLimiter } from "../guard/caller-limiter.js";
import { reasonToRefuse, senderOf } from "../guard/same-origin.js";
import { type HandlerOptions, handlerOptions, isGuardedBy, loopbackNames } from "../options.js";
import { ClientSessions } from "./client-sessions.js";
import { type McpServerOptions, mcpServerOptions } from "./options.js";
import { carriedDocuments, carryDocuments } from "./request-documents.js";
import { loadSdk, type Sdk } from "./sdk.js";
import { sdkServers } from "./sdk-server.js";

export interface McpHandlerOptions
  extends McpServerOptions, Pick<HandlerOptions, "hosts" | "origins" | "limits" | "keys" | "openId" | "groups"> {
  /** Callers must send it, as `Authorization: Bearer …`. At least 8 characters. Default: none is needed. */
  readonly token?: string;
  /** Documents that each request may see; only its `filter` and `owner` count here. Default: every request sees all. */
  readonly access?: AccessOf;
  /** Maximum clients before version 2026-07-28 of the protocol at once; the one idle for longest has to begin again. Default: 1,000. */
  readonly maxSessions?: number;
}

const { token, access, keys, openId, groups, hosts, origins, limits } = handlerOptions.shape;
const mcpHandlerOptions = optionsOf<McpHandlerOptions>()({
  ...mcpServerOptions.shape,
  token,
  access,
  keys,
  openId,
  groups,
  hosts,
  origins,
  limits,
  maxSessions: z.int().min(1).default(1000),
});

/** The documents for clients of the Model Context Protocol, for every server that takes a fetch-style handler. */
export interface McpHandler {
  /** Answers one request, at whatever path it is mounted. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Ends the calls under way and forgets all clients. The knowledge base stays open. */
  readonly close: () => Promise<void>;
}

/**
 * Serves what `createMcpServer` does over streamable HTTP. Mount `handler.fetch` at one path, such as `/mcp`, for all methods.
 *
 * @throws OptionsError when an option is unknown or out of range, and `missing-package` without the package
 * `@modelcontextprotocol/server`.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { createMcpHandler } from "citewell/mcp";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const handler = await createMcpHandler(kb, { hosts: ["docs.example.com"], token: "…" });
 * export const answer = (request: Request) => handler.fetch(request);
 * ```
 */
export async function createMcpHandler(
  documents: ScopedKnowledgeBase,
  options: McpHandlerOptions = {},
): Promise<McpHandler> {
  const settings = resolve("createMcpHandler", mcpHandlerOptions, options);
  checkStorePart("createMcpHandler", documents, ["search", "ask", "document", "scoped"]);
  const sdk = await loadSdk();
  const { onError, maxSessions } = settings;
  const { requestsPerMinute, maxConcurrentAnswers, maxBodyBytes } = settings.limits;
  const isGuarded = isGuardedBy(settings);
  const trusted = { hosts: settings.hosts ?? (isGuarded ? undefined : loopbackNames), origins: settings.origins };
  const checkedAccess = new CheckedAccess(settings.access ?? (() => ({})), options.onError);
  // Programs send their token with each request: there is no page here on which a person could sign in.
  const tokensAlone = settings.openId && { ...settings.openId, page: undefined };
  const admission = admissionOf(
    "createMcpHandler",
    { ...settings, openId: tokensAlone, onError: options.onError },
    checkedAccess,
  );
  const limiter = new CallerLimiter();
  const createServer = sdkServers(sdk, settings, carriedDocuments, maxConcurrentAnswers);
  const latest = sdk.createMcpHandler(createServer, { legacy: "reject", onerror: onError });
  const earlier = new ClientSessions(sdk, createServer, maxSessions);
  let closed: Promise<unknown> | undefined;

  const answer = async (request: Request): Promise<Response> => {
    const reason = reasonToRefuse(senderOf(request), trusted);
    if (reason !== undefined) throw new Refusal(403, "forbidden", reason);
    if (closed) throw new Refusal(503, "closed", "This server is ending");
    // The caller's address is unknown here.
    const { access: seen, name, limits: own } = await admission.admit(request, undefined);
    limiter.admitRequest({ name: name ?? accessName(seen), limits: { requestsPerMinute, ...own } });
    const session = { request, caller: name };
    const authInfo = carryDocuments(seen.filter === undefined ? documents : documents.scoped(seen.filter));
    if (request.method === "DELETE") return earlier.handle(session, undefined, { authInfo });
    if (request.method !== "POST") {
      // GET is refused, too: this server sends nothing unasked, so it has no stream for that.
      throw new Refusal(405, "method", "Only POST and DELETE are served here", { allow: "POST, DELETE" });
    }
    const body = await readJson(sdk, request, maxBodyBytes);
    const parts = { authInfo, parsedBody: body };
    return (await sdk.isLegacyRequest(request, body))
      ? earlier.handle(session, body, parts)
      : latest.fetch(request, parts);
  };

  return {
    fetch: async (request) => {
      try {
        return await answer(request);
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal.status === 500 && !(error instanceof WrongAccess)) onError(error);
        return inProtocol(refusal);
      }
    },
    close: async () => {
      await (closed ??= Promise.all([latest.close(), earlier.close()]));
    },
  };
}

async function readJson(sdk: Sdk, request: Request, maxBytes: number): Promise<unknown> {
  if (!sdk.isJsonContentType(request.headers.get("content-type"))) {
    throw new Refusal(415, "options", "Requests are sent as application/json");
  }
  const read = await sdk.readRequestBody(request, maxBytes);
  if (read.tooLarge) throw new Refusal(413, "too-large", `The request body must have at most ${maxBytes} bytes`);
  try {
    return JSON.parse(read.text);
  } catch {
    throw new Refusal(400, "options", "The request body is not valid JSON");
  }
}

/** A refusal, as clients of the protocol read errors. */
function inProtocol({ status, message, headers }: Refusal): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status, headers });
}
