import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Hono } from "hono";
import { maxBodyBytes } from "../contract/operation.js";
import { operations, type OperationName } from "../contract/operations.js";
import { failureResponse, type FailureShape } from "./failure/failure-shapes.js";
import { RequestFailure, failureKinds } from "./failure/request-failure.js";
import type { Faults } from "./faults/faults.js";
import { halved, scriptedResponse, streamFrames, type StreamConnection } from "./faults/faulty-responses.js";
import { eventStream } from "./http/event-stream.js";
import type { Admission, RateLimits } from "./http/rate-limits.js";
import { authorizedKey, queryFields, readJsonObject } from "./http/request.js";
import { route, type Fields, type Route, type RouteContext, type RouteReply } from "./http/route.js";
import type { ServiceParts } from "./service-parts.js";

export interface ApplicationParts extends ServiceParts {
  /** Keys that callers may use. */
  readonly apiKeys: readonly string[];
  readonly limits: RateLimits;
  readonly maxConcurrentRequests: number;
  /** Requests that are being answered, with the one that asks. */
  readonly activeRequests: () => number;
  readonly keepAliveMs: number;
  /** Whether the faults may be changed over HTTP. */
  readonly faultControl: boolean;
}

/** The part of the connection that the adaptor passes on. */
interface Bindings {
  readonly incoming: IncomingMessage;
}
type Application = Hono<{ Bindings: Bindings }>;
type Request = Context<{ Bindings: Bindings }>;

/** Where faults are read, replaced and cleared, when they are enabled. */
const faultsPath = "/local/faults";

/** Puts everything that the service answers on an empty application. */
export function mount(application: Application, parts: ApplicationParts): void {
  application.use(async (_, next) => {
    if (parts.activeRequests() > parts.maxConcurrentRequests) {
      throw new RequestFailure("busy", `More than ${parts.maxConcurrentRequests} requests at the same time`);
    }
    await next();
  });
  application.get("/openapi.json", async (c) => {
    const { openApiDocument } = await import("./openapi.js");
    return c.json(openApiDocument());
  });
  application.get("/files/:task/:name", async (c) => {
    const { serveFile } = await import("./video/file-route.js");
    const { task, name } = c.req.param();
    const range = c.req.header("range");
    return serveFile({ task, name, link: c.req.query("link") ?? "", range }, parts);
  });
  application.use(async (c, next) => {
    authorizedKey(c.req.header("authorization"), parts.apiKeys);
    await next();
  });
  for (const [path, rows] of byPath(routes)) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
    for (const row of rows) application.on(row.method, pattern, (c) => answer(c, row, parts));
    // The contract says that all operations are POST, and leaves the query's method open: both are answered.
    const query = rows.find(({ name }) => name === "videoTask");
    if (query !== undefined) application.post(pattern, (c) => answer(c, query, parts));
    const allowed = [...rows.map(({ method }) => method), ...(query === undefined ? [] : ["POST"])].join(", ");
    application.all(pattern, () => {
      throw new RequestFailure("method", `${path} takes ${allowed} only`, { headers: { allow: allowed } });
    });
  }
  if (parts.faultControl) mountFaultControl(application, parts.faults);
  application.notFound((c) =>
    refuse(new RequestFailure("no-path", "404 page not found"), shapeOf(c.req.path, parts.faults)),
  );
  application.onError((error, c) => refuse(asRequestFailure(error), shapeOf(c.req.path, parts.faults)));
}

function mountFaultControl(application: Application, faults: Faults): void {
  application.get(faultsPath, (c) => c.json(faults.remaining()));
  application.put(faultsPath, async (c) => {
    const given = await readJsonObject(c.req.raw, maxBodyBytes);
    try {
      faults.replace(given);
    } catch (error) {
      throw new RequestFailure("invalid", error instanceof Error ? error.message : String(error));
    }
    return c.json(faults.remaining());
  });
  application.delete(faultsPath, (c) => {
    faults.replace({});
    return c.json(faults.remaining());
  });
}

function byPath(rows: readonly Route[]): ReadonlyMap<string, readonly Route[]> {
  const paths = new Map<string, Route[]>();
  for (const row of rows) paths.set(row.path, [...(paths.get(row.path) ?? []), row]);
  return paths;
}

async function answer(c: Request, { name, serve }: Route, parts: ApplicationParts): Promise<Response> {
  const { signal } = c.req.raw;
  const { faults, limits } = parts;
  const key = authorizedKey(c.req.header("authorization"), parts.apiKeys);
  const scripted = faults.take(name);
  const waitMs = (scripted?.delayMs ?? 0) + (faults.settings.latencyMs[name] ?? 0);
  if (waitMs > 0) await sleep(waitMs, undefined, { signal, ref: false });
  if (scripted !== undefined && scripted.disconnect === undefined) {
    return scriptedResponse(scripted, ownShape(name, faults), randomUUID());
  }
  if (scripted?.disconnect === "before") return disconnect(c);
  let admission: Admission | undefined;
  const admit = (model: string, tokens: number): void => {
    admission = limits.admit(key, model, tokens);
  };
  const release = (): void => admission?.release();
  try {
    const reply = await serve(await readFields(c), { ...parts, signal, admit });
    if (scripted?.disconnect === "after") {
      release();
      return disconnect(c);
    }
    const cut = () => c.env.incoming.socket.destroy();
    const whole = respond(reply, parts, { signal, cut }, release);
    const response = scripted?.disconnect === "within" ? await halved(whole, cut) : whole;
    for (const [header, value] of Object.entries(admission?.headers ?? {})) response.headers.set(header, value);
    return response;
  } catch (error) {
    release();
    throw error;
  }
}

async function readFields(c: Request): Promise<Fields> {
  const fields = { ...queryFields(c.req.queries()), ...c.req.param() };
  if (c.req.method !== "POST") return fields;
  const inPath = Object.keys(c.req.param()).length > 0;
  // A path with parameters is a whole request by itself; only then may the body be empty.
  return { ...(await readJsonObject(c.req.raw, maxBodyBytes, inPath ? {} : undefined)), ...fields };
}

function respond(
  reply: RouteReply,
  { faults, keepAliveMs }: ApplicationParts,
  connection: StreamConnection,
  release: () => void,
): Response {
  const { stream, emptyLines } = faults.settings;
  if ("events" in reply) {
    return eventStream(
      streamFrames(releasing(reply.events, connection.signal, release), stream, connection),
      keepAliveMs,
    );
  }
  if ("response" in reply) {
    const { body, status, headers } = reply.response;
    if (body === null) release();
    return new Response(body && releasingBytes(body, release), { status, headers });
  }
  release();
  return new Response("\n".repeat(emptyLines) + JSON.stringify(reply.json), {
    headers: { "content-type": "application/json" },
  });
}

async function* releasing(events: AsyncIterable<unknown>, signal: AbortSignal, release: () => void): AsyncGenerator {
  signal.addEventListener("abort", release, { once: true });
  try {
    yield* events;
  } finally {
    // The platform keeps a request's signal until the request is collected, which a listener that knows it would prevent.
    signal.removeEventListener("abort", release);
    release();
  }
}

function releasingBytes(body: ReadableStream<Uint8Array>, release: () => void): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  // The reader of the other end hears of a failure; here it only says that the request is over.
  body.pipeTo(writable).then(release, release);
  return readable;
}

function disconnect(c: Request): Response {
  c.env.incoming.socket.destroy();
  return new Response(null);
}

function asRequestFailure(error: Error): RequestFailure {
  return error instanceof RequestFailure
    ? error
    : new RequestFailure("internal", `Internal error of the local service: ${error.message}`);
}

function refuse({ kind, status, message, field, headers }: RequestFailure, shape: FailureShape): Response {
  const requestId = randomUUID();
  const described = failureKinds[kind];
  const failure = { ...described, status: status ?? described.status, message, field, requestId };
  return failureResponse(shape, failure, { "x-request-id": requestId, ...headers });
}

function shapeOf(path: string, faults: Faults): FailureShape {
  const found = routes.find((row) => row.path === path || path.startsWith(row.path.replace(/\{.*/, "")));
  return ownShape(found?.name, faults);
}

function ownShape(operation: OperationName | undefined, faults: Faults): FailureShape {
  if (operation === undefined) return "flat";
  const isVideo = operations[operation].path.startsWith(operations.createVideoTask.path);
  return faults.settings.errorShapes[operation] ?? (isVideo ? "nested" : "flat");
}

const videoRoutes = () => import("./video/task-routes.js");

/** Every operation of the contract, with what carries it out here. */
export const routes: readonly Route[] = [
  route(operations.embeddings, async () => (await import("./http/embeddings-route.js")).serveEmbeddings, ["embedding"]),
  route(operations.rerank, async () => (await import("./http/rerank-route.js")).serveRerank, ["rerank"]),
  route(operations.chat, async () => (await import("./http/chat-route.js")).serveChat, ["llm", "vlm"]),
  route(operations.createVideoTask, async () => (await videoRoutes()).serveCreateVideoTask, ["video"]),
  route(operations.videoTask, async () => (await videoRoutes()).serveVideoTask),
  route(operations.listVideoTasks, async () => (await videoRoutes()).serveVideoTaskList),
  route(operations.cancelVideoTask, async () => (await videoRoutes()).serveCancelVideoTask),
  route(operations.listModels, () => Promise.resolve(serveModelList)),
];

function serveModelList(_: object, { models }: RouteContext): Promise<RouteReply> {
  const data = models.map(({ id, type, family }) => ({ id, object: "model", type, ...(family && { family }) }));
  return Promise.resolve({ json: { object: "list", data } });
}
