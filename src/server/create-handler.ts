import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { routePath } from "hono/route";
import { getPath } from "hono/utils/url";
import { checkPort } from "../core/check-port.js";
import { OptionsError } from "../core/errors.js";
import { given } from "../core/given.js";
import { checkFilter } from "../core/filter.js";
import { resolve } from "../core/options.js";
import type { KnowledgeBase, ReaderThreads } from "../knowledge-base/options.js";
import { requestIdHeader } from "../network/connections.js";
import { eventStream } from "../network/event-stream-response.js";
import { accessName, CheckedAccess, hasRole, WrongAccess } from "./access.js";
import { openApiDocument, type OperationGroup } from "./api/openapi.js";
import { fieldsOf, queryFieldsOf, requireUnreadBytes } from "./api/request-fields.js";
import {
  type Asked,
  type Environment,
  incomingOf,
  mountHint,
  type NodeEnvironment,
  publicPath,
  type Serve,
  wholePath,
} from "./asked.js";
import type { Caller } from "./callers/caller.js";
import { admissionOf } from "./callers/admission-of.js";
import { mountSession } from "./callers/session-routes.js";
import { operatorOperations, sessionOperations } from "./api/session-operations.js";
import { type AuditedDeed, AuditLog } from "./operations/audit.js";
import { Metrics } from "./operations/metrics.js";
import { Probes } from "./operations/probes.js";
import type { NumberedEvents, Reply, Route, RouteContext, RouteParts } from "./api/route.js";
import { routes, routeGroups } from "./api/routes.js";
import { RunningAnswers } from "./api/running-answers.js";
import { Uploads } from "./api/uploads.js";
import { Refusal, refusalOf } from "./guard/refusal.js";
import { CallerLimiter, type Counted } from "./guard/caller-limiter.js";
import { reasonToRefuse, senderOf } from "./guard/same-origin.js";
import { addressOf as callerAddressOf } from "./guard/caller-address.js";
import { ownModelOperations, openAiOperations, uiMessageOperations } from "./neighbours/described-operations.js";
import { serveChatCompletion } from "./neighbours/chat-completions.js";
import { modelInfo, modelList, openAiFailure } from "./neighbours/openai-answer.js";
import { serveEmbeddings, serveRerank, sharedModels } from "./neighbours/own-models.js";
import { RecentAnswers } from "./api/recent-answers.js";
import { readResponse, serveResponse } from "./neighbours/responses.js";
import { serveUiMessages, uiMessagesFailure } from "./neighbours/ui-messages.js";
import { apiPage } from "./page/api-page.js";
import { pageServer } from "./page/serve-page.js";
import { type HandlerOptions, handlerOptions, isGuardedBy, loopbackNames } from "./options.js";

/** The HTTP handlers of a knowledge base, for every server that takes a fetch-style handler. */
export interface Handler {
  /** Responds to one request; mount it for all methods. */
  readonly fetch: (request: Request, environment?: unknown) => Promise<Response>;
  /** Like `fetch`, as a listener of `node:http`, which Express takes, too. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /**
   * Takes no more questions, and ends the answers and uploads under way: answers have `closeGraceMs` to finish, and are then
   * stopped and kept as far as they came. The knowledge base stays open.
   */
  readonly close: () => Promise<void>;
}

/** Interval of the keep-alive events of a stream, so that proxies do not drop the connection. */
const keepAliveMs = 15_000;

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
  const { basePath, token, hosts, origins, limits, uploads, title, trustProxy, onError } = settings;
  const access = new CheckedAccess(settings.access ?? (() => ({ role: uploads ? "manage" : "ask" })), onError);
  const isGuarded = isGuardedBy(settings);
  const readers =
    settings.workers > 0 ? kb.readers({ workers: settings.workers, maxWaiting: limits.maxWaitingSearches }) : undefined;
  const answers = new RunningAnswers(limits.maxConcurrentAnswers);
  const limiter = new CallerLimiter();
  const admission = admissionOf("createHandler", settings, access);
  const audit = settings.audit && new AuditLog(settings.audit, onError);
  const probes = new Probes(kb, onError);
  const figures = metricsOf(settings, kb, answers, readers);
  const parts: RouteParts = {
    kb,
    title,
    ask: options.ask ?? {},
    choices: settings.choices,
    metrics: figures?.metrics,
    onError,
    recentAnswers: new RecentAnswers(),
    originals: settings.originals,
    pictures: settings.pictures,
    uploads: uploads && new Uploads(kb, uploads),
    approvesWrites: (seen) => hasRole(seen, "manage") || (settings.access === undefined && !admission.isPersonal),
  };
  const trusted = { hosts: hosts ?? (isGuarded ? undefined : loopbackNames), origins };
  const app = new Hono<Environment>({ getPath: (request) => wholePath(getPath(request), basePath) }).basePath(basePath);
  const served = new Map<string, string[]>();
  /** Serves a path, whose other methods are refused with those that there are. */
  const on: Serve = (method, path, serve) => {
    app.on(method, path, serve);
    served.set(path, [...(served.get(path) ?? []), method]);
  };

  // Before the check of names: a probe addresses the container by an address of its own.
  app.get("/livez", () => probes.live());
  app.get("/readyz", () => probes.ready());
  app.use(async (c, next) => {
    const startedMs = performance.now();
    await next();
    figures?.metrics.request(c.req.method, routePath(c, -1), c.res.status, performance.now() - startedMs);
  });
  app.use(async (c, next) => {
    const sender = senderOf(c.req.raw);
    const reason = reasonToRefuse(sender, trusted);
    if (reason !== undefined) throw new Refusal(403, "forbidden", reason);
    await next();
    c.res.headers.set("x-content-type-options", "nosniff");
    // Hono's server for Node.js then sends the headers at once, rather than after it has tried to read the whole body.
    const isStream = c.res.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (isStream && incomingOf(c)?.httpVersion === "1.1") c.res.headers.set("transfer-encoding", "chunked");
    if (sender.origin !== null && origins.includes(sender.origin))
      allowOrigin(c.res.headers, sender.origin, c.req.raw.headers);
  });
  app.options("*", (c) => c.body(null, 204));
  const hasSessions = token !== undefined || admission.isPersonal;
  const groups: readonly OperationGroup[] = [
    ...routeGroups,
    openAiOperations,
    ...(settings.shareModels ? [ownModelOperations] : []),
    uiMessageOperations,
    ...(hasSessions ? [sessionOperations] : []),
    operatorOperations,
  ];
  let description: ReturnType<typeof openApiDocument> | undefined;
  // It takes milliseconds, and whoever asks for it has not signed in.
  const described = () => (description ??= openApiDocument(groups, { title, basePath }));
  on("GET", "/api/openapi.json", (c) => c.json(described()));
  on("GET", "/api", (c) => {
    const isFolder = new URL(c.req.url).pathname.endsWith("/");
    const { html, policy } = apiPage(described(), isFolder ? "openapi.json" : "api/openapi.json");
    return c.html(html, 200, { "content-security-policy": policy, "referrer-policy": "no-referrer" });
  });
  if (figures) {
    on("GET", "/metrics", async (c) => {
      if (figures.token !== undefined) await admission.requireToken(c.req.raw, addressOf(c), figures.token);
      return figures.metrics.reply();
    });
  }
  if (hasSessions) mountSession(app, on, { admission, addressOf, record });
  for (const path of ["/api/*", "/v1/*"]) app.use(path, (c, next) => admit(c, next));
  for (const row of routes) {
    const path = row.path.replaceAll(/\{(\w+)\}/g, ":$1");
    on(row.method, path, (c) => answer(c, row));
  }
  on("POST", "/api/chat", async (c) => serveUiMessages(await jsonOf(c), contextOf(c)));
  // An answer ends with its reader, so that a page that is loaded again finds none to go on with.
  on("GET", "/api/chat/:id/stream", (c) => c.body(null, 204));
  on("POST", "/v1/chat/completions", async (c) => serveChatCompletion(await jsonOf(c), contextOf(c)));
  on("POST", "/v1/responses", async (c) => serveResponse(await jsonOf(c), contextOf(c)));
  on("GET", "/v1/responses/:id", (c) => readResponse(c.req.param("id") ?? "", contextOf(c)));
  const shared = settings.shareModels ? sharedModels(kb) : [];
  on("GET", "/v1/models", (c) => c.json(modelList(shared)));
  // An id may have a slash in it.
  on("GET", "/v1/models/:id{.+}", (c) => c.json(modelInfo(c.req.param("id") ?? "", shared)));
  if (settings.shareModels) {
    on("POST", "/v1/embeddings", async (c) => serveEmbeddings(await jsonOf(c), contextOf(c)));
    on("POST", "/v1/rerank", async (c) => serveRerank(await jsonOf(c), contextOf(c)));
  }
  if (settings.page) {
    const page = pageServer();
    on("GET", "/", (c) => page.html(c.req.raw, publicPath(c)));
    app.get("/page/*", async (c, next) => {
      const path = c.req.path.slice(`${basePath}/page/`.length);
      return (await page.file(c.req.raw, path)) ?? next();
    });
  }
  for (const [path, methods] of served) {
    app.all(path, (c) => {
      const allowed = methods.includes("GET") ? [...methods, "HEAD"] : methods;
      const message = `${c.req.path} is not served by ${c.req.method}, but by ${allowed.join(", ")}`;
      throw new Refusal(405, "no-method", message, { allow: allowed.join(", ") });
    });
  }
  app.notFound((c) => {
    throw new Refusal(404, "no-path", `Nothing is served at ${c.req.method} ${c.req.path}. ${mountHint(c, basePath)}`);
  });
  app.onError((error, c) => {
    const refusal = refusalOf(error);
    if (refusal.status >= 500 && !(error instanceof WrongAccess)) onError?.(error);
    if (auditedRefusals.has(refusal.status)) record(c, { event: "refusal", code: refusal.code });
    figures?.metrics.failure(refusal.code);
    if (c.req.path.startsWith(`${basePath}/v1/`)) return openAiFailure(refusal);
    return c.req.path === `${basePath}/api/chat` ? uiMessagesFailure(refusal) : refused(refusal);
  });

  async function admit(c: Asked, next: () => Promise<void>): Promise<void> {
    const caller = await admission.admit(c.req.raw, addressOf(c));
    c.set("caller", caller);
    const counted = countedOf(c, caller);
    limiter.admitRequest(counted);
    await next();
    for (const [name, value] of Object.entries(limiter.headers(counted))) c.res.headers.set(name, value);
  }

  /** Callers that cannot be told apart by name are by address. */
  function countedOf(c: Asked, { name, access: seen, limits: own }: Caller): Counted {
    return { name: name ?? addressOf(c) ?? accessName(seen), limits: { ...limits, ...own } };
  }

  function record(c: Asked, deed: AuditedDeed, caller = c.var.caller): void {
    const { outgoing } = (c.env ?? {}) as Partial<NodeEnvironment>;
    const requestId = outgoing?.getHeader(requestIdHeader)?.toString();
    audit?.record({
      time: new Date().toISOString(),
      ...given({ caller: caller?.name, address: addressOf(c), requestId }),
      request: `${c.req.method} ${publicPath(c)}`,
      ...deed,
    });
  }

  function addressOf(c: Asked): string | undefined {
    const connection = incomingOf(c)?.socket?.remoteAddress;
    return callerAddressOf({ connection, forwardedFor: c.req.header("x-forwarded-for") ?? null }, trustProxy);
  }

  function contextOf(c: Asked): RouteContext {
    const caller = c.var.caller!;
    const { access: seen } = caller;
    const { filter } = seen;
    const counted = countedOf(c, caller);
    const documents = readers?.as(counted.name) ?? kb;
    return {
      ...parts,
      answers: answers.forCaller(() => limiter.admitAnswer(counted)),
      spent: (tokens) => limiter.spend(counted, tokens),
      audit: (deed) => record(c, deed),
      request: c.req.raw,
      access: seen,
      documents: filter === undefined ? documents : documents.scoped(filter),
      passages: filter === undefined ? kb.store : kb.store.scoped(filter),
      accessName: accessName(seen),
    };
  }

  function jsonOf(c: Asked) {
    return fieldsOf(c.req, limits.maxBodyBytes, incomingOf(c));
  }

  async function answer(c: Asked, row: Route): Promise<Response> {
    if (row.takesBytes) requireUnreadBytes(c.req.raw, incomingOf(c));
    const sent = { ...(row.takesBytes ? queryFieldsOf(c.req) : await jsonOf(c)), ...c.req.param() };
    const fields = resolve(`${row.method} ${row.path}`, row.request, sent);
    // Filters are checked here, since a stream of events that has begun has no status to refuse it with.
    if (fields["filter"] !== undefined) checkFilter(`${row.method} ${row.path}: filter`, fields["filter"]);
    return responseTo(await row.serve(fields as never, contextOf(c)));
  }

  const fetch: Handler["fetch"] = async (request, environment) => app.fetch(request, environment);
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  return {
    fetch,
    node: async (request, response) => listener(request, response),
    close: async () => {
      probes.end();
      const ending = new Refusal(503, "closed", "The server is ending. The answer is kept as far as it came");
      await Promise.all([answers.close(ending, settings.closeGraceMs), parts.uploads?.close()]);
      await Promise.all([audit?.close(), readers?.close()]);
    },
  };
}

/** The figures of a server that keeps them, and the token that reads them, if one is needed. */
function metricsOf(
  { metrics, token, access, keys, openId }: HandlerOptions,
  { store }: KnowledgeBase,
  answers: RunningAnswers,
  readers: ReaderThreads | undefined,
): { readonly metrics: Metrics; readonly token: string | undefined } | undefined {
  if (metrics === undefined || metrics === false) return undefined;
  const own = metrics === true ? token : metrics.token;
  if (own === undefined && (access ?? keys ?? openId) !== undefined) {
    const message =
      "Where callers are told apart, the figures need a token of their own: metrics: { token }. They are those of all callers";
    throw new OptionsError("options", message, { call: "createHandler", option: "metrics" });
  }
  const state = {
    store,
    answersInProgress: () => answers.running,
    searchesWaiting: () => readers?.waiting() ?? 0,
    readers: () => readers?.threads() ?? 0,
  };
  return { metrics: new Metrics(state), token: own };
}

/** Statuses of requests that were not let in, may not do what they ask for, or ask too often. */
const auditedRefusals: ReadonlySet<number> = new Set([401, 403, 429]);

function responseTo(reply: Reply): Response {
  if ("nothing" in reply) return new Response(null, { status: 204 });
  if ("response" in reply) return reply.response;
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
  // Only `access` knows which headers identify the caller, so all are allowed.
  const wanted = asked.get("access-control-request-headers");
  if (wanted !== null) headers.set("access-control-allow-headers", wanted);
  headers.append("vary", "origin");
}
