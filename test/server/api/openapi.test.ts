import { join } from "node:path";
import { expect, test } from "vitest";
import { served } from "../../support/served.js";

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: { readonly examples?: readonly unknown[] };
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

interface OpenApi {
  readonly tags: readonly { readonly name: string }[];
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

const documents = [{ uri: "file:///docs/keys.md", title: "Keys", text: "API keys expire after 90 days." }];

async function withDocument(options: Parameters<typeof served>[1] = {}) {
  const server = await served(documents, options);
  const document = (await (await server.send("GET", "/api/openapi.json")).json()) as OpenApi;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return { ...server, document, operations };
}

/** The path with examples for its parameters. */
function example({ path, operation }: { readonly path: string; readonly operation: Described }): string {
  const given = (operation.parameters ?? []).flatMap(({ name, in: place, schema }) => {
    const value = schema.examples?.[0];
    return value === undefined && place === "query" ? [] : [{ name, place, value: encodeURIComponent(String(value)) }];
  });
  const query = given.filter(({ place }) => place === "query").map(({ name, value }) => `${name}=${value}`);
  const filled = given
    .filter(({ place }) => place === "path")
    .reduce((text, { name, value }) => text.replace(`{${name}}`, value), path);
  return query.length > 0 ? `${filled}?${query.join("&")}` : filled;
}

test("every operation has a name of its own, a tag, and replies; references lead somewhere", async () => {
  const { document, operations } = await withDocument();
  const names = operations.map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const name of ["search", "beginConversation", "createChatCompletion", "createResponse", "chat", "isReady"]) {
    expect(names).toContain(name);
  }
  const tags = document.tags.map(({ name }) => name);
  for (const { operation } of operations) {
    expect(tags).toContain(operation.tags[0]);
    expect(Object.keys(operation.responses).some((status) => status.startsWith("2"))).toBe(true);
  }
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!);
  expect(references.length).toBeGreaterThan(50);
  for (const reference of references) {
    expect(Object.keys(document.components.schemas)).toContain(reference.replace("#/components/schemas/", ""));
  }
  expect(JSON.stringify(document)).not.toContain("$defs");
});

test("each operation answers its example with a status that is described, of the type that is described", async () => {
  const { operations, send } = await withDocument((folder) => ({ uploads: { folder: join(folder, "uploads") } }));
  const seen: Record<string, number> = {};
  const [deletions, others] = [true, false].map((isDeletion) =>
    operations.filter(({ method }) => (method === "DELETE") === isDeletion),
  );
  for (const row of [...others!, ...deletions!]) {
    const { method, operation } = row;
    const content = operation.requestBody?.content ?? {};
    const body = content["application/json"]?.example ?? ("application/octet-stream" in content ? "text" : undefined);
    const reply = await send(method, example(row), body);
    const text = await reply.text();
    const described = operation.responses[reply.status];
    expect({ operation: operation.operationId, status: reply.status, text, described }).toMatchObject({
      described: expect.any(Object) as object,
    });
    const type = reply.headers.get("content-type")?.split(";")[0];
    if (type !== undefined)
      expect([operation.operationId, Object.keys(described!.content ?? {})]).toEqual([
        operation.operationId,
        expect.arrayContaining([type]),
      ]);
    seen[operation.operationId] = reply.status;
  }
  // The examples are of use: what needs nothing to be there first is done.
  const done = Object.entries(seen)
    .filter(([, status]) => status < 300)
    .map(([name]) => name);
  expect(done).toEqual(
    expect.arrayContaining([
      "search",
      "ask",
      "getPassage",
      "beginConversation",
      "createChatCompletion",
      "createResponse",
      "chat",
    ]),
  );
  expect(seen).toMatchObject({ getConversation: 404, decideCalls: 404 });
});

test("callers without a key get the status that is described, everywhere but at what is open", async () => {
  const { operations, send } = await withDocument({ token: "let-me-in-please" });
  for (const row of operations) {
    const { method, operation } = row;
    if (["openSession", "closeSession", "isAlive", "isReady"].includes(operation.operationId)) continue;
    expect([operation.operationId, (await send(method, example(row))).status]).toEqual([operation.operationId, 401]);
    expect(operation.responses).toHaveProperty("401");
  }
});

test("the page of the API shows every operation, runs no scripts and loads nothing from elsewhere", async () => {
  const title = `Keys </title><script>alert(1)</script> & "more"`;
  const { operations, url } = await withDocument({ title });
  for (const [path, link] of [
    ["/api", "api/openapi.json"],
    ["/api/", "openapi.json"],
  ] as const) {
    const reply = await fetch(url + path);
    const html = await reply.text();
    expect(reply.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
    for (const { operation } of operations) expect(html).toContain(`id="${operation.operationId}"`);
    expect(html).not.toMatch(/<script|<link|<img|https?:\/\/|@import/);
    expect(html).toContain(`href="${link}"`);
    expect((await fetch(new URL(link, url + path))).status).toBe(200);
  }
});
