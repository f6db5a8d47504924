import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono, type HonoRequest } from "hono";
import { checkPort } from "../core/check-port.js";
import { isRecord } from "../core/json.js";
import { resolve } from "../core/options.js";
import type { KnowledgeBase } from "../knowledge-base/options.js";
import { eventStream } from "../network/event-stream.js";
import { readBody } from "../network/request-body.js";
import { type Access, accessName, type AccessOf } from "./access.js";
import { openApiDocument } from "./api/openapi.js";
import type { NumberedEvents, Reply, Route, RouteContext, RouteParts } from "./api/route.js";
import { routes } from "./api/routes.js";
import { RunningAnswers } from "./api/running-answers.js";
import { Uploads } from "./api/uploads.js";
import { Refusal, refusalOf } from "./guard/refusal.js";
import { RequestLimits } from "./guard/request-limits.js";
import { reasonToRefuse, senderOf } from "./guard/same-origin.js";
import { hasToken, isToken, sessionCookie } from "./guard/token.js";
import { modelId, modelInfo, modelList, openAiFailure, serveChatCompletion } from "./neighbours/chat-completions.js";
import { serveUiMessages, uiMessagesFailure } from "./neighbours/ui-messages.js";
import { pageServer } from "./page/serve-page.js";
import { type HandlerOptions, handlerOptions, loopbackNames } from "./options.js";

/** The doors of a knowledge base, for every server that takes a fetch-style handler. */
export interface Handler {
  /** Answers one request. */
  readonly fetch: (request: Request, environment?: unknown) => Promise<Response>;
  /** The same as a listener of `node:http`, which Express takes, too: before what reads bodies, and with the whole path in `url`. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Stops the answers and uploads that are under way; answers are kept as far as they came. The knowledge base stays open. */
  readonly close: () => Promise<void>;
}

/** A stream says that it is alive this often, so that nothing in between takes the connection for dead. */
const keepAliveMs = 15_000;

type Environment = { readonly Variables: { readonly access: Access } };
type Asked = Context<Environment>;

/**
 * Serves a knowledge base over HTTP: the API below `/api`, with its description at `/api/openapi.json`; what clients of
 * OpenAI's API and of the AI SDK's `useChat` expect, at `/v1` and `/api/chat`; and the chat page. `handler.fetch` takes a
 * `Request` and returns a `Response`, as Hono, Next.js, Bun and Deno have them, and
 * `handler.node` is for `node:http` and Express; on a port of its own, `createServer` listens.
 *
 * @throws OptionsError for bad options.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { createHandler } from "citewell/server";
 * const handler = createHandler(await openKnowledgeBase({ path: "./.citewell" }), { basePath: "/docs" });
 * const reply = await handler.fetch(new Request("https://example.com/docs/api/status"));
 * ```
 */
export function createHandler<Fields extends object>(
  typed: KnowledgeBase<Fields>,
  options: HandlerOptions = {},
): Handler {
  checkPort("createHandler", "knowledgeBase", typed);
  // Filters of requests come as JSON, and are checked against the schema of the metadata at run time.
  const kb = typed as unknown as KnowledgeBase;
  const settings = resolve("createHandler", handlerOptions, options);
  const { basePath, token, hosts, origins, limits, uploads, title, onError } = settings;
  const access: AccessOf = settings.access ?? (() => ({ mayWrite: uploads !== undefined }));
  const isGuarded = token !== undefined || settings.access !== undefined;
  const answers = new RunningAnswers(limits.maxConcurrentAnswers);
  const requests = new RequestLimits(limits.requestsPerMinute);
  const parts: RouteParts = {
    kb,
    title,
    ask: options.ask ?? {},
    answers,
    onError,
    uploads: uploads && new Uploads(kb, uploads),
  };
  const trusted = { hosts: hosts ?? (isGuarded ? undefined : loopbackNames), origins };
  // A mounted page is found with the slash at the end of its address and without it.
  const app = new Hono<Environment>({ strict: false }).basePath(basePath);

  app.use(async (c, next) => {
    const sender = senderOf(c.req.raw);
    const reason = reasonToRefuse(sender, trusted);
    if (reason !== undefined) throw new Refusal(403, "forbidden", reason);
    await next();
    c.res.headers.set("x-content-type-options", "nosniff");
    if (sender.origin !== null && origins.includes(sender.origin))
      allowOrigin(c.res.headers, sender.origin, c.req.raw.headers);
  });
  app.options("*", (c) => c.body(null, 204));
  app.get("/api/openapi.json", (c) => c.json(openApiDocument(routes, title)));
  if (token !== undefined) mountSession(app, token, `${basePath}/`);
  for (const path of ["/api/*", "/v1/*"]) app.use(path, (c, next) => admit(c, next));
  for (const row of routes) {
    const path = row.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(row.method, path, (c) => answer(c, row));
  }
  app.post("/api/chat", async (c) => serveUiMessages(await fieldsOf(c.req, limits.maxBodyBytes), contextOf(c)));
  // An answer ends with its reader, so that a page that is loaded again finds none to go on with.
  app.get("/api/chat/:id/stream", (c) => c.body(null, 204));
  app.post("/v1/chat/completions", async (c) => {
    return serveChatCompletion(await fieldsOf(c.req, limits.maxBodyBytes), contextOf(c));
  });
  app.get("/v1/models", (c) => c.json(modelList()));
  app.get(`/v1/models/${modelId}`, (c) => c.json(modelInfo()));
  if (settings.page) {
    const page = pageServer();
    app.get("/", (c) => page.html(c.req.raw));
    app.get("/page/*", async (c, next) => {
      const path = c.req.path.slice(`${basePath}/page/`.length);
      return (await page.file(c.req.raw, path)) ?? next();
    });
  }
  app.notFound((c) => {
    throw new Refusal(404, "no-path", `Nothing is served at ${c.req.method} ${c.req.path}`);
  });
  app.onError((error, c) => {
    const refusal = refusalOf(error);
    if (refusal.status >= 500) onError?.(error);
    if (c.req.path.startsWith(`${basePath}/v1/`)) return openAiFailure(refusal);
    return c.req.path === `${basePath}/api/chat` ? uiMessagesFailure(refusal) : refused(refusal);
  });

  async function admit(c: Asked, next: () => Promise<void>): Promise<void> {
    const isKnown = token === undefined || hasToken(c.req.raw, token);
    const given = isKnown ? await access(c.req.raw) : undefined;
    if (!given) throw unauthorized();
    requests.admit(given.owner ?? addressOf(c) ?? accessName(given));
    c.set("access", given);
    await next();
  }

  function contextOf(c: Asked): RouteContext {
    const { access: given } = c.var;
    const { filter } = given;
    return {
      ...parts,
      request: c.req.raw,
      access: given,
      documents: filter === undefined ? kb : kb.scoped(filter),
      passages: filter === undefined ? kb.store : kb.store.scoped(filter),
      accessName: accessName(given),
    };
  }

  async function answer(c: Asked, row: Route): Promise<Response> {
    const given = { ...(await fieldsOf(c.req, row.takesBytes === true ? 0 : limits.maxBodyBytes)), ...c.req.param() };
    const fields = resolve(`${row.method} ${row.path}`, row.request, given);
    return responseTo(await row.serve(fields as never, contextOf(c)));
  }

  const fetch: Handler["fetch"] = async (request, environment) => app.fetch(request, environment);
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  return {
    fetch,
    node: async (request, response) => listener(request, response),
    close: async () => {
      const ending = new Refusal(503, "closed", "The server is ending. The answer is kept as far as it came");
      await Promise.all([answers.close(ending), parts.uploads?.close()]);
    },
  };
}

/** Lets a browser in that has the token, by a cookie. */
function mountSession(app: Hono<Environment>, token: string, path: string): void {
  app.post("/api/session", async (c) => {
    const fields = await fieldsOf(c.req, 10_000);
    if (!isToken(String(fields["token"]), token)) throw unauthorized();
    return c.body(null, 204, { "set-cookie": sessionCookie(token, path) });
  });
  app.delete("/api/session", (c) => c.body(null, 204, { "set-cookie": sessionCookie(undefined, path) }));
  app.get("/", async (c, next) => {
    const given = c.req.query("token");
    if (given === undefined || !isToken(given, token)) return next();
    // The token leaves the address bar, and with it the history.
    return c.body(null, 303, { location: path, "set-cookie": sessionCookie(token, path) });
  });
}

function unauthorized(): Refusal {
  const message = "A token is needed, and a right one: send it as Authorization: Bearer …";
  return new Refusal(401, "unauthorized", message, { "www-authenticate": "Bearer" });
}

/** The fields of a JSON body of at most `maxBytes`, or of the query where there is no such body. */
async function fieldsOf(request: HonoRequest, maxBytes: number): Promise<Record<string, unknown>> {
  if (maxBytes === 0 || request.method === "GET" || request.method === "DELETE") {
    const query = Object.entries(request.queries());
    return Object.fromEntries(query.map(([name, values]) => [name, values.length > 1 ? values : values[0]]));
  }
  const body = await readBody(request.raw, maxBytes);
  if (!body) {
    const message = `The request body must have at most ${maxBytes} bytes`;
    throw new Refusal(413, "too-large", message, { connection: "close" });
  }
  if (body.length === 0) return {};
  try {
    const fields: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    if (isRecord(fields)) return { ...fields };
  } catch (error) {
    throw new Refusal(400, "options", `The request body is not valid JSON: ${(error as Error).message}`);
  }
  throw new Refusal(400, "options", "The request body must be a JSON object");
}

function responseTo(reply: Reply): Response {
  if ("nothing" in reply) return new Response(null, { status: 204 });
  if ("events" in reply) return eventStream(frames(reply.events), keepAliveMs);
  return Response.json(reply.json, { status: reply.status ?? 200, headers: { "cache-control": "no-store" } });
}

const encoder = new TextEncoder();

async function* frames(events: NumberedEvents): AsyncGenerator<Uint8Array> {
  for await (const [number, event] of events) {
    yield encoder.encode(`id: ${number}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
}

function refused({ status, code, message, headers }: Refusal): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}

function allowOrigin(headers: Headers, origin: string, asked: Headers): void {
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-allow-credentials", "true");
  headers.set("access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE");
  // Which headers say who a request is, `access` alone knows.
  const wanted = asked.get("access-control-request-headers");
  if (wanted !== null) headers.set("access-control-allow-headers", wanted);
  headers.append("vary", "origin");
}

/** The address of the caller, where the server tells it. */
function addressOf(c: Asked): string | undefined {
  const bindings = c.env as
    | { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } }
    | undefined;
  return bindings?.incoming?.socket?.remoteAddress;
}
