import { setTimeout as sleep } from "node:timers/promises";
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import { maxBodyBytes } from "../contract/operation.js";
import { failureResponse } from "./failure/failure-shapes.js";
import { asRequestFailure, RequestFailure, shapedFailure } from "./failure/request-failure.js";
import type { Faults } from "./faults/faults.js";
import { halved, scriptedResponse, streamFrames } from "./faults/faulty-responses.js";
import { requestIdHeader } from "../network/connections.js";
import { eventStream } from "../network/event-stream-response.js";
import type { RateLimits } from "./http/rate-limits.js";
import { authorizedKey, checkContentType, queryFields, readJsonObject } from "./http/request.js";
import type { Fields, Route, RouteReply, ServiceParts } from "./route.js";
import { routes } from "./routes.js";

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

/** The environment of a request: its connection, and the key of its caller. */
export interface Environment {
  readonly Bindings: HttpBindings;
  readonly Variables: { readonly key: string };
}
type Request = Context<Environment>;

/** Path at which faults are read, replaced and cleared, when they are enabled. */
const faultsPath = "/local/faults";

/** Puts everything that the service answers on an empty application. */
export function mount(application: Hono<Environment>, parts: ApplicationParts): void {
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
    c.set("key", authorizedKey(c.req.header("authorization"), parts.apiKeys));
    await next();
  });
  for (const path of new Set(routes.map((row) => row.path))) {
    const rows = routes.filter((row) => row.path === path);
    const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
    for (const row of rows) application.on(row.method, pattern, (c) => answer(c, row, parts));
    const allow = rows.map(({ method }) => method).join(", ");
    application.all(pattern, () => {
      throw new RequestFailure("method", `${path} takes ${allow} only`, { headers: { allow } });
    });
  }
  if (parts.faultControl) mountFaultControl(application, parts.faults);
  application.notFound((c) => refusal(c, new RequestFailure("no-path", missingPath(c.req.path)), parts.faults));
  application.onError((error, c) => refusal(c, error, parts.faults));
}

function mountFaultControl(application: Hono<Environment>, faults: Faults): void {
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

async function answer(c: Request, { name, errorShape, serve }: Route, parts: ApplicationParts): Promise<Response> {
  const { signal } = c.req.raw;
  const { faults, limits } = parts;
  const { outgoing } = c.env;
  const scripted = faults.take(name);
  const waitMs = (scripted?.delayMs ?? 0) + (faults.settings.latencyMs[name] ?? 0);
  if (waitMs > 0) await sleep(waitMs, undefined, { signal, ref: false });
  if (scripted !== undefined && scripted.disconnect === undefined) {
    return scriptedResponse(scripted, faults.settings.errorShapes[name] ?? errorShape, requestIdOf(c));
  }
  if (scripted?.disconnect === "before") return disconnect(c);
  let limitHeaders: Readonly<Record<string, string>> = {};
  const admit = (model: string, tokens: number): void => {
    const { headers, release } = limits.admit(c.get("key"), model, tokens);
    limitHeaders = headers;
    // The request ends with its answer or its connection, whichever is first.
    if (outgoing.closed) release();
    else outgoing.once("close", release);
  };
  const reply = await serve(await readFields(c), { ...parts, signal, admit });
  if (scripted?.disconnect === "after") return disconnect(c);
  const cut = () => c.env.incoming.socket.destroy();
  const whole = respond(reply, parts, { signal, cut });
  const response = scripted?.disconnect === "within" ? await halved(whole, cut) : whole;
  for (const [header, value] of Object.entries({ ...limitHeaders, ...reply.headers }))
    response.headers.set(header, value);
  return response;
}

async function readFields(c: Request): Promise<Fields> {
  const fields = { ...queryFields(c.req.queries()), ...c.req.param() };
  if (c.req.method !== "POST") return fields;
  checkContentType(c.req.header("content-type"));
  const inPath = Object.keys(c.req.param()).length > 0;
  // A path with parameters is a whole request by itself; only then may the body be empty.
  return { ...(await readJsonObject(c.req.raw, maxBodyBytes, inPath ? {} : undefined)), ...fields };
}

function respond(
  reply: RouteReply,
  { faults, keepAliveMs }: ApplicationParts,
  connection: Parameters<typeof streamFrames>[2],
): Response {
  const { stream, emptyLines } = faults.settings;
  if ("response" in reply) return reply.response;
  if ("events" in reply) {
    // Pieces of frames have to arrive as pieces.
    const together = stream.splitBytes === undefined ? undefined : 0;
    return eventStream(streamFrames(reply, stream, connection), keepAliveMs, together);
  }
  return new Response("\n".repeat(emptyLines) + JSON.stringify(reply.json), {
    headers: { "content-type": "application/json" },
  });
}

function disconnect(c: Request): Response {
  c.env.incoming.socket.destroy();
  return new Response(null);
}

/** Prefixes of the neighbours' paths. */
const neighbourPath = /^\/v[12]\//;

/** The contract's service says no more than this; to clients of the neighbours the paths that there are may be of help. */
function missingPath(asked: string): string {
  if (!neighbourPath.test(asked)) return "404 page not found";
  const served = routes.filter(({ path }) => neighbourPath.test(path)).map(({ method, path }) => `${method} ${path}`);
  return `Nothing is served at ${asked.slice(0, 100)}. Served are ${served.join(", ")}`;
}

/** Answers a request that is not carried out, in the shape of errors that belongs to its path. */
function refusal(c: Request, error: Error, { settings }: Faults): Response {
  const failure = asRequestFailure(error);
  const asked = c.req.path;
  const row = routes.find(({ path }) => path === asked || asked.startsWith(path.replace(/\{.*/, "")));
  const shape =
    (row && settings.errorShapes[row.name]) ??
    row?.errorShape ??
    (neighbourPath.test(asked) ? "openai" : "flat-with-error");
  return failureResponse(shape, shapedFailure(failure, requestIdOf(c)), failure.headers);
}

function requestIdOf(c: Request): string {
  return String(c.env.outgoing.getHeader(requestIdHeader));
}
