import type { Hono } from "hono";
import { maxBodyBytes } from "../contract/operation.js";
import { checkAuthorization } from "./authorization.js";
import { eventStream } from "./event-stream.js";
import { failureBody, Refusal } from "./refusal.js";
import { readJsonObject } from "./request-body.js";
import type { Route, RouteContext } from "./route.js";

/** Code of a failure that is the service's own. */
const internalCode = 50_500;

/** Puts the route table on an empty application, and the model list beside it. */
export function mount(
  application: Hono,
  routes: readonly Route[],
  apiKey: string,
  context: Omit<RouteContext, "signal">,
): void {
  application.use(async (c, next) => {
    checkAuthorization(c.req.header("authorization"), apiKey);
    await next();
  });
  application.get("/llm/v1/models", (c) =>
    c.json({
      object: "list",
      data: context.models.map(({ id, type, family }) => ({ id, object: "model", type, ...(family && { family }) })),
    }),
  );
  for (const { method, path, serve } of routes) {
    application.on(method, path, async (c) => {
      const { signal } = c.req.raw;
      const reply = await serve(await readJsonObject(c.req.raw, maxBodyBytes), { ...context, signal });
      return "json" in reply ? c.json(reply.json) : eventStream(reply.events);
    });
    application.all(path, () => {
      throw new Refusal(405, failureBody(20_015, `${path} takes ${method} only`), { allow: method });
    });
  }
  application.notFound((c) => c.json("404 page not found", 404));
  application.onError((error) => {
    const refusal =
      error instanceof Refusal
        ? error
        : new Refusal(500, failureBody(internalCode, `Internal error of the local service: ${error.message}`));
    return Response.json(refusal.body, { status: refusal.status, headers: { ...refusal.headers } });
  });
}
