import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { beforeAll, afterAll, describe, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { served } from "../../support/served.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days." }];
const question = JSON.stringify({ question: "When do API keys expire?" });

const encodings: readonly (readonly [string, (text: string) => Buffer])[] = [
  ["gzip", (text) => gzipSync(text)],
  ["x-gzip", (text) => gzipSync(text)],
  ["GZIP", (text) => gzipSync(text)],
  ["br", (text) => brotliCompressSync(text)],
  ["deflate", (text) => deflateSync(text)],
  ["deflate", (text) => deflateRawSync(text)],
  ["identity, gzip", (text) => gzipSync(text)],
  ["gzip, br", (text) => brotliCompressSync(gzipSync(text))],
];

describe("the server", () => {
  test("unpacks what is compressed, up to its limit", async () => {
    const { send } = await served(documents, { limits: { maxBodyBytes: 1000 } });
    const post = (encoding: string, body: Uint8Array) =>
      send("POST", "/api/search", body, { "content-encoding": encoding });
    const statuses: unknown[] = [];
    for (const [encoding, pack] of encodings) statuses.push((await post(encoding, pack(question))).status);
    expect(statuses).toEqual(encodings.map(() => 200));
    const bomb = JSON.stringify({ question: "a".repeat(100_000_000) });
    for (const [encoding, pack] of encodings.slice(0, 5)) {
      const packed = pack(bomb.slice(0, encoding === "br" ? undefined : 500_000));
      expect([encoding, packed.length < 1000, (await post(encoding, packed)).status]).toEqual([encoding, true, 413]);
    }
  });

  test("says which encodings it reads, and which body is damaged", async () => {
    const { send } = await served(documents);
    const refusal = async (encoding: string, body: Uint8Array, path = "/api/search", method = "POST") => {
      const reply = await send(method, path, body, { "content-encoding": encoding });
      return [reply.status, ((await reply.json()) as { error: { message: string } }).error.message];
    };
    const packed = gzipSync(question);
    expect(await refusal("zstd", packed)).toEqual([415, expect.stringContaining("gzip, deflate or br")]);
    expect(await refusal("gzip, gzip, gzip", packed)).toEqual([415, expect.stringContaining("3 encodings")]);
    expect(await refusal("__proto__", packed)).toEqual([415, expect.stringContaining("gzip, deflate or br")]);
    expect(await refusal("gzip", packed.subarray(0, 30))).toEqual([400, expect.stringContaining("damaged or cut off")]);
    expect(await refusal("br", packed)).toEqual([400, expect.stringContaining("damaged or cut off")]);
  });

  test("stores no file that comes compressed, and says so", async () => {
    const { json, send } = await served(documents, (folder) => ({ uploads: { folder } }));
    const packed = await send("PUT", "/api/uploads/a.txt", gzipSync("text"), { "content-encoding": "gzip" });
    expect([packed.status, await packed.text()]).toEqual([415, expect.stringContaining("without content-encoding")]);
    expect((await json("GET", "/api/uploads")).uploads).toEqual([]);
  });

  test.each([
    ["/api/search", { question: "a", filter: "DEEP" }],
    ["/api/ask", { question: "a", history: "DEEP" }],
    ["/v1/chat/completions", { model: "citewell", messages: [{ role: "user", content: "a" }], tools: "DEEP" }],
    ["/v1/chat/completions", { model: "citewell", messages: "DEEP" }],
    [
      "/api/chat",
      { id: "a", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "a", more: "DEEP" }] }] },
    ],
  ])("refuses what is nested too deep at %s: %j", async (path, body) => {
    const { send } = await served(documents);
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      for (const levels of [300, 100_000]) {
        const deep = `${open.repeat(levels)}1${close.repeat(levels)}`;
        const reply = await send(
          "POST",
          path,
          JSON.stringify(body).replace('"DEEP"', () => deep),
        );
        expect([levels, reply.status, await reply.text()]).toEqual([
          levels,
          400,
          expect.stringContaining("deeper than 100 levels"),
        ]);
      }
    }
  });
});

describe("the local service", () => {
  let service: LocalService;
  beforeAll(async () => {
    service = await startLocalService();
  });
  afterAll(() => service.close());
  const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    fetch(service.url + path, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json", ...headers },
    });

  test("unpacks what is compressed, and says what it does not", async () => {
    const body = JSON.stringify({ model: "citewell/local-lexical-m3", input: "keys" });
    const statuses: unknown[] = [];
    for (const [encoding, pack] of [...encodings, ["zstd", (text: string) => Buffer.from(text)] as const]) {
      statuses.push(
        (await post("/v1/embeddings", new Uint8Array(pack(body)), { "content-encoding": encoding })).status,
      );
    }
    expect(statuses).toEqual([...encodings.map(() => 200), 415]);
  });

  test.each(["/v1/chat/completions", "/llm/v1/chat/completions"])(
    "refuses deep schemas of tools at %s",
    async (path) => {
      for (const levels of [250, 3000, 100_000]) {
        const parameters = `${'{"type":"object","properties":{"a":'.repeat(levels)}{}${"}}".repeat(levels)}`;
        const tools = `[{"type":"function","function":{"name":"f","parameters":${parameters}}}]`;
        const body = `{"model":"citewell/local-extractive","messages":[{"role":"user","content":"a"}],"tools":${tools}}`;
        const reply = await post(path, body);
        expect([levels, reply.status, await reply.text()]).toEqual([
          levels,
          400,
          expect.stringContaining("deeper than 100 levels"),
        ]);
      }
    },
  );
});
