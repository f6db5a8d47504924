import { describe, expect, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { createHandler } from "../../../src/server/create-handler.js";
import { createServer } from "../../../src/server/create-server.js";
import { CallerLimiter } from "../../../src/server/guard/caller-limiter.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const page = (tenant: string) => ({
  uri: `${tenant}:keys`,
  title: `Keys of ${tenant}`,
  text: `API keys of ${tenant} expire after 90 days.`,
  metadata: { tenant },
});
const pages = [page("north"), page("south")];

describe("tenants", () => {
  const access = (request: Request) => {
    const tenant = request.headers.get("x-tenant");
    return tenant === null ? undefined : { filter: { metadata: { tenant } }, owner: tenant };
  };
  const asked = { question: "When do API keys expire?" };

  test("see, find, read, ask about and list their own alone", async () => {
    const { as, json } = await served(pages, { access }, { requireScope: true });
    const [north, south] = [as({ "x-tenant": "north" }), as({ "x-tenant": "south" })];
    expect(await json("GET", "/api/status", undefined, 401)).toMatchObject({ error: { code: "unauthorized" } });
    expect(await north.json("GET", "/api/status")).toMatchObject({ documents: 1, mayWrite: false });
    expect(await north.json("GET", "/api/statistics")).toEqual({
      documents: 1,
      chunks: 1,
      embeddings: "citewell/local-lexical-m3",
      dimension: 1024,
      sources: [{ documents: 1, chunks: 1 }],
    });
    expect((await north.json("GET", "/api/documents")).documents).toMatchObject([{ uri: "north:keys" }]);
    expect((await north.json("POST", "/api/search", asked)).passages).toMatchObject([{ uri: "north:keys" }]);
    expect(await north.json("GET", "/api/passages?uri=south:keys", undefined, 404)).toBeDefined();
    const begun = await north.events("/api/conversations", asked);
    expect(JSON.stringify(begun)).not.toContain("south");
    expect(begun.at(-1)).toMatchObject({ type: "finish", answered: true });
    const { id } = begun[0] as { id: string };
    expect((await south.json("GET", "/api/conversations")).conversations).toEqual([]);
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["PATCH", "", { title: "Mine" }],
      ["DELETE", "", undefined],
      ["POST", "/questions", asked],
      ["POST", "/regenerate", {}],
      ["POST", "/approvals", { approvals: {} }],
      ["POST", "/branch", { exchanges: 1, ...asked }],
      ["GET", "/events", undefined],
      ["POST", "/stop", {}],
    ] as const) {
      const refused = await south.json(method, `/api/conversations/${id}${path}`, body, 404);
      expect(refused).toMatchObject({ error: { code: "not-found" } });
    }
    expect((await north.json("GET", `/api/conversations/${id}`)).history).toHaveLength(1);
  });

  test("of one filter and two owners have conversations of their own", async () => {
    const owners = (request: Request) => ({ owner: request.headers.get("x-owner") ?? "nobody" });
    const { as } = await served(pages, { access: owners });
    const [ada, bob] = [as({ "x-owner": "ada" }), as({ "x-owner": "bob" })];
    const { id } = (await ada.events("/api/conversations", asked))[0] as { id: string };
    expect(await bob.json("GET", `/api/conversations/${id}`, undefined, 404)).toBeDefined();
    expect((await bob.json("GET", "/api/conversations")).conversations).toEqual([]);
    expect((await ada.json("GET", "/api/conversations")).conversations).toMatchObject([{ id }]);
  });

  test("cannot widen their view by a filter of the request", async () => {
    const { as } = await served(pages, { access });
    const north = as({ "x-tenant": "north" });
    const filter = { any: [{ metadata: { tenant: "south" } }, { uri: { exists: true } }] };
    const { passages } = await north.json("POST", "/api/search", { ...asked, filter });
    expect(passages).toMatchObject([{ uri: "north:keys" }]);
  });

  test("delete documents only where they may, and only their own", async () => {
    const writing = (request: Request) => ({ ...access(request)!, role: "manage" as const });
    const reading = await served(pages, { access });
    expect(
      await reading.as({ "x-tenant": "north" }).json("DELETE", "/api/documents?uri=north:keys", undefined, 403),
    ).toBeDefined();
    const { as, kb } = await served(pages, { access: writing });
    const north = as({ "x-tenant": "north" });
    expect(await north.json("DELETE", "/api/documents?uri=south:keys")).toEqual({ documents: 0, chunks: 0 });
    expect(await north.json("DELETE", "/api/documents?uri=north:keys")).toEqual({ documents: 1, chunks: 1 });
    expect((await kb.documents()).map(({ uri }) => uri)).toEqual(["south:keys"]);
  });
});

describe("a token", () => {
  const token = "let-me-in-please";

  test("is needed, as a header or as the cookie that the page is given for it", async () => {
    const { send, as, url } = await served(pages, { token });
    expect((await send("GET", "/api/status")).status).toBe(401);
    expect((await as({ authorization: "Bearer let-me-in-pleasf" }).send("GET", "/api/status")).status).toBe(401);
    expect((await as({ authorization: `Bearer ${token}` }).send("GET", "/api/status")).status).toBe(200);
    const refused = await send("POST", "/api/session", { token: "wrong-token" });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("set-cookie")).toBeNull();
    const cookies = [
      (await send("POST", "/api/session", { token })).headers.get("set-cookie")!,
      (await fetch(`${url}/?token=${token}`, { redirect: "manual" })).headers.get("set-cookie")!,
    ];
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^citewell=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/);
      expect(cookie).not.toContain(token);
      expect((await as({ cookie: `other=1; ${cookie.split(";")[0]}` }).send("GET", "/api/status")).status).toBe(200);
    }
    expect((await as({ cookie: "citewell=wrong" }).send("GET", "/api/status")).status).toBe(401);
    expect((await as({ cookie: `citewell=${token}` }).send("GET", "/api/status")).status).toBe(401);
  });

  test("is not shown in the address bar: a page that is opened with it is sent to one without", async () => {
    const { url } = await served(pages, { token });
    const reply = await fetch(`${url}/?token=${token}`, { redirect: "manual" });
    expect([reply.status, reply.headers.get("location")]).toEqual([303, "/"]);
  });
});

test("an address that other machines reach is refused without a token or a function of the access", async () => {
  const kb = await openKnowledgeBase({ path: await temporaryFolder() });
  await expect(createServer(kb, { host: "0.0.0.0" })).rejects.toThrow(
    "createServer: 0.0.0.0 can be reached from other machines: give a token or keys, or say by access or openId who may see what",
  );
  const server = await createServer(kb, { host: "0.0.0.0", token: "let-me-in-please" });
  await server.close();
  await kb.close();
});

test("a caller that asks too often is told when to try again, and others are not kept waiting", async () => {
  let nowMs = 0;
  const limiter = new CallerLimiter(() => nowMs);
  const ask = (name: string) => limiter.admitRequest({ name, limits: { requestsPerMinute: 60 } });
  for (let at = 0; at < 60; at++) ask("ada");
  expect(() => ask("ada")).toThrow("More than 60 requests in a minute: try again in 1 s");
  ask("bob");
  nowMs = 999;
  expect(() => ask("ada")).toThrow("More than 60 requests");
  nowMs = 1001;
  ask("ada");
  expect(() => ask("ada")).toThrow("More than 60 requests");
  nowMs = 10 * 60_000;
  for (let at = 0; at < 60; at++) ask("ada");
  expect(() => ask("ada")).toThrow("More than 60 requests");

  const { send } = await served(pages, { limits: { requestsPerMinute: 2 } });
  const statuses = [];
  for (let at = 0; at < 3; at++) statuses.push((await send("GET", "/api/documents")).status);
  expect(statuses).toEqual([200, 200, 429]);
});

test("a body that is too large is refused without being read, and errors from within are not told", async () => {
  const errors: unknown[] = [];
  const { json, kb } = await served(pages, { limits: { maxBodyBytes: 1000 }, onError: (error) => errors.push(error) });
  const large = { question: "a".repeat(2000) };
  expect(await json("POST", "/api/search", large, 413)).toMatchObject({ error: { code: "too-large" } });
  const handler = createHandler(kb, {
    access: () => {
      throw new Error("the secret of the database");
    },
    onError: (error) => errors.push(error),
  });
  const reply = await handler.fetch(new Request("http://any.example/api/status"));
  expect([reply.status, await reply.text()]).toEqual([
    500,
    '{"error":{"code":"internal","message":"The server failed to answer. Its log says why"}}',
  ]);
  expect(errors).toEqual([new Error("the secret of the database")]);
});

test("a handler works below a path, as it is mounted in other servers", async () => {
  const { kb } = await served(pages);
  const handler = createHandler(kb, { basePath: "/docs", access: () => ({}) });
  const at = async (path: string) => (await handler.fetch(new Request(`https://example.com${path}`))).status;
  // Middleware before it may cut the path off, as Hono's mount does.
  expect([await at("/docs/api/status"), await at("/api/status")]).toEqual([200, 200]);
  const nowhere = await handler.fetch(new Request("https://example.com/help/api/status"));
  expect(await nowhere.json()).toMatchObject({
    error: { code: "no-path", message: expect.stringContaining("This handler serves below /docs") as string },
  });
  expect(() => createHandler(kb, { basePath: "/docs/" })).toThrow("basePath: must be like /docs");
  expect(() => createHandler(kb, { basepath: "/docs" } as never)).toThrow('did you mean "basePath"');
});
