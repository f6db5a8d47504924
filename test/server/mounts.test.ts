// In test:all alone: it starts a server of each framework as a process, for 15 s.
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { test } from "vitest";
import { expectMounted } from "../support/mounted.js";

test("a handler runs in Hono, which keeps its path", async () => {
  await expectMounted(({ fetch }) => {
    const app = new Hono().all("/docs/*", (c) => fetch(c.req.raw, c.env));
    return getRequestListener(app.fetch, { overrideGlobalObjects: false });
  });
});

test("a handler runs in Hono's mount, which cuts the path off", async () => {
  await expectMounted(({ fetch }) => {
    const app = new Hono().mount("/docs", fetch);
    return getRequestListener(app.fetch, { overrideGlobalObjects: false });
  });
});

test("a handler runs behind a proxy that cuts the path off", async () => {
  await expectMounted(({ node }) => (request, response) => {
    request.url = request.url!.replace(/^\/docs/, "");
    return node(request, response);
  });
});

test("a handler runs in a route of Next.js, whose methods are functions of a request", async () => {
  await expectMounted(({ fetch }) => {
    const route: Record<string, (request: Request) => Promise<Response>> = { GET: fetch, POST: fetch };
    return getRequestListener((request) => route[request.method]!(request), { overrideGlobalObjects: false });
  });
});

test("a handler is a listener of node:http", async () => {
  await expectMounted(
    ({ node }) =>
      (request, response) =>
        void node(request, response),
  );
});
