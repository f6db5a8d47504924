import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ChatChunk } from "../../../src/contract/chat.js";
import { RerankReply } from "../../../src/contract/rerank.js";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { call } from "../call.js";
import { eventData, paths, post } from "../conformance.js";

const faultsPath = "/local/faults";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService({ faults: {}, keepAliveMs: 30 });
});
afterAll(() => service.close());
afterEach(() => call(service, "DELETE", faultsPath));

async function set(faults: object): Promise<void> {
  expect((await call(service, "PUT", faultsPath, faults)).status).toBe(200);
}

const embeddings = (input: unknown = "a", more: object = {}) =>
  post(service, paths.embeddings, { model: "citewell/local-lexical", input, ...more });
const context = "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?";
const chat = (more: object = {}) =>
  post(service, paths.chat, {
    model: "citewell/local-extractive",
    messages: [{ role: "user", content: context }],
    ...more,
  });

describe("setting faults", () => {
  test("faults are read, replaced and cleared while the service runs", async () => {
    await set({ emptyLines: 2, next: [{ status: 503, times: 2 }] });
    await embeddings();
    const { body } = await call(service, "GET", faultsPath);
    expect(body).toMatchObject({ emptyLines: 2, next: [{ status: 503, times: 1 }] });
    await call(service, "DELETE", faultsPath);
    expect((await call(service, "GET", faultsPath)).body).toMatchObject({ emptyLines: 0, next: [] });
  });

  test("unknown and invalid faults are refused by name and change nothing", async () => {
    await set({ emptyLines: 1 });
    for (const bad of [{ emptyLine: 1 }, { emptyLines: -1 }, { next: [{ status: 99 }] }]) {
      const answer = await call(service, "PUT", faultsPath, bad);
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toMatch(/emptyLine|status/);
    }
    expect((await call(service, "GET", faultsPath)).body).toMatchObject({ emptyLines: 1 });
  });

  test("a service started without faults does not serve the faults path", async () => {
    const plain = await startLocalService();
    try {
      expect((await call(plain, "GET", faultsPath)).status).toBe(404);
      expect((await call(plain, "PUT", faultsPath, {})).status).toBe(404);
    } finally {
      await plain.close();
    }
  });

  test("invalid faults at the start throw an OptionsError", async () => {
    await expect(startLocalService({ faults: { emptyLines: -1 } })).rejects.toMatchObject({ code: "options" });
  });
});

describe("scripted answers", () => {
  test("a scripted answer is given the stated number of times, to its operation only, before the real answer", async () => {
    await set({ next: [{ operation: "embeddings", status: 503, times: 2 }, { status: 500 }] });
    expect((await chat({ stream: false })).status).toBe(500);
    expect([(await embeddings()).status, (await embeddings()).status]).toEqual([503, 503]);
    expect((await embeddings()).status).toBe(200);
  });

  test("a 429 carries retry-after only when it is configured", async () => {
    await set({ next: [{ status: 429 }, { status: 429, retryAfterSeconds: 7 }] });
    const [silent, telling] = [await embeddings(), await embeddings()];
    expect(silent.headers.get("retry-after")).toBeNull();
    expect(telling.headers.get("retry-after")).toBe("7");
    expect(telling.body).toEqual({
      message: "Injected fault",
      data: null,
      error: { message: "Injected fault", type: "rate_limit_error", param: null, code: null },
    });
  });

  test.each([
    ["flat", { code: 50_505, message: "Injected fault", data: null }],
    [
      "flat-with-error",
      { data: null, error: { message: "Injected fault", type: "server_error", param: null, code: 50_505 } },
    ],
    ["openai", { error: { message: "Injected fault", type: "server_error", param: null, code: null } }],
    ["nested", { error: expect.objectContaining({ code: "ServerOverloaded", type: "InternalServerError" }) }],
    ["object", expect.objectContaining({ object: "error", message: "Injected fault" })],
    ["typed", { message: "Injected fault", code: 503, type: "InternalServerError" }],
    ["named", { error: "Injected fault", error_type: "InternalServerError" }],
    ["errors", expect.objectContaining({ errors: { message: "Injected fault" } })],
    ["detail", { detail: "Injected fault" }],
    ["string", "Injected fault"],
  ])("an error can have the shape %s", async (shape, body) => {
    await set({ next: [{ status: 503, shape }] });
    expect(await embeddings()).toMatchObject({ status: 503, body });
  });

  test("an error can be a gateway's HTML page", async () => {
    await set({ next: [{ status: 502, shape: "html", message: "<b>" }] });
    const { status, text, headers } = await embeddings();
    expect([status, headers.get("content-type")]).toEqual([502, "text/html; charset=utf-8"]);
    expect(text).toContain("<p>&lt;b></p>");
  });

  test("a 200 can carry an error or any other body", async () => {
    await set({ next: [{ status: 200, code: 20_042, message: "no" }, { status: 200, text: "{" }, { json: [1] }] });
    expect(await embeddings()).toMatchObject({ status: 200, body: { code: 20_042, message: "no", data: null } });
    expect((await embeddings()).text).toBe("{");
    expect(await embeddings()).toMatchObject({ status: 500, body: [1] });
  });

  test("scripted headers are sent", async () => {
    await set({ next: [{ status: 500, headers: { "x-should-retry": "false" } }] });
    expect((await embeddings()).headers.get("x-should-retry")).toBe("false");
  });

  test("a connection can break before or after the request is carried out", async () => {
    const video = { model: "vendor/vendor-video-2.0", content: [{ type: "text", text: "a cat" }] };
    const count = async () => (await call(service, "GET", paths.createVideoTask)).body as { readonly total: number };
    await set({ next: ["before", "after"].map((disconnect) => ({ operation: "createVideoTask", disconnect })) });
    await expect(post(service, paths.createVideoTask, video)).rejects.toThrow("fetch failed");
    expect((await count()).total).toBe(0);
    await expect(post(service, paths.createVideoTask, video)).rejects.toThrow("fetch failed");
    expect((await count()).total).toBe(1);
  });
});

describe("probability", () => {
  const statuses = async (seed: number) => {
    await set({ seed, next: [{ status: 503, probability: 0.4, times: 1_000_000 }] });
    const seen: number[] = [];
    while (seen.length < 30) seen.push((await embeddings()).status);
    return seen;
  };

  test("a fault can affect a share of requests, chosen by the seed", async () => {
    const first = await statuses(7);
    const failed = first.filter((status) => status === 503).length;
    expect(failed).toBeGreaterThan(5);
    expect(failed).toBeLessThan(20);
    expect(await statuses(7)).toEqual(first);
    expect(await statuses(8)).not.toEqual(first);
  });

  test("a probability of 0 is refused, since it would never be used up", async () => {
    expect((await call(service, "PUT", faultsPath, { next: [{ probability: 0 }] })).status).toBe(400);
  });
});

describe("replies", () => {
  test("a reply can break off in its middle", async () => {
    const whole = (await chat({ stream: false })).text;
    await set({ next: [{ disconnect: "within" }] });
    const response = await fetch(service.url + paths.chat, {
      method: "POST",
      headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "citewell/local-extractive",
        messages: [{ role: "user", content: context }],
        stream: false,
      }),
    });
    expect(response.status).toBe(200);
    let bytes = 0;
    const read = async () => {
      for await (const part of response.body as AsyncIterable<Uint8Array>) bytes += part.length;
    };
    await expect(read()).rejects.toThrow("terminated");
    expect(bytes).toBe(Math.ceil(Buffer.byteLength(whole) / 2));
  });

  test("vectors and vector components can be missing", async () => {
    await set({ embeddings: { missingVectors: 1, missingNumbers: 12 } });
    const { body } = await embeddings(["a", "b", "c"]);
    const { data } = body as { readonly data: readonly { readonly embedding: readonly number[] }[] };
    expect(data.map(({ embedding }) => embedding.length)).toEqual([500, 500]);
  });

  test("errors of an operation take the configured shape", async () => {
    await set({ errorShapes: { embeddings: "nested", createVideoTask: "flat" } });
    expect((await embeddings("")).body).toMatchObject({ error: { code: "InvalidParameter", param: "input" } });
    expect((await post(service, paths.createVideoTask, {})).body).toMatchObject({ code: 20_015 });
    expect((await chat({ n: 0 })).body).toMatchObject({ code: 20_015 });
  });

  test("empty lines can precede a complete reply", async () => {
    await set({ emptyLines: 3 });
    const { text, body } = await chat({ stream: false });
    expect(text.startsWith("\n\n\n{")).toBe(true);
    expect(body).toMatchObject({ object: "chat.completion" });
  });

  test("vectors can be out of order, each with its own index", async () => {
    const plain = (await embeddings(["a", "b", "c"])).body as { readonly data: readonly unknown[] };
    await set({ embeddings: { shuffle: true } });
    const { data } = (await embeddings(["a", "b", "c"])).body as { readonly data: readonly unknown[] };
    expect(data).not.toEqual(plain.data);
    expect(data.toReversed()).toEqual(plain.data);
  });

  test("numbers can be sent when base64 was requested, and the batch limit can be lowered", async () => {
    await set({ embeddings: { alwaysFloat: true, maxBatchTexts: 1 } });
    const { body } = await embeddings("a", { encoding_format: "base64" });
    expect(body).toMatchObject({ data: [{ embedding: expect.any(Array) }] });
    expect(await embeddings(["a", "b"])).toMatchObject({
      status: 413,
      body: { message: "input batch size 2 > maximum allowed batch size 1" },
    });
  });

  test.each([
    ["sample", ["relevance_score"], { text: "an apple" }, "tokens"],
    ["described", ["score"], "an apple", "tokens"],
    ["meta", ["relevance_score"], { text: "an apple" }, "meta"],
    ["both", ["relevance_score", "score"], { text: "an apple" }, "tokens"],
  ])("a rerank reply can be named as in %s", async (naming, scores, document, usage) => {
    await set({ rerank: { naming } });
    const request = { model: "citewell/local-lexical-rerank", query: "apple", documents: ["a pear", "an apple"] };
    const { body } = await post(service, paths.rerank, { ...request, return_documents: true });
    const { results } = RerankReply.parse(body);
    expect(results.map(({ index }) => index)).toEqual([1, 0]);
    expect(Object.keys(results[0] ?? {}).toSorted()).toEqual(["document", "index", ...scores].toSorted());
    expect(results[0]?.document).toEqual(document);
    expect(body).toHaveProperty(usage);
  });

  test("an operation can be slow while others are not", async () => {
    await set({ latencyMs: { embeddings: 300 } });
    let answered = false;
    const slow = embeddings().then(() => (answered = true));
    await chat({ stream: false });
    expect(answered).toBe(false);
    await slow;
    expect(answered).toBe(true);
  });
});

describe("streams", () => {
  const chunks = (text: string) =>
    eventData(text)
      .filter((data) => data !== "[DONE]")
      .map((data) => ChatChunk.parse(JSON.parse(data)));

  test("a stream can be cut without a finish", async () => {
    await set({ stream: { cutAfterEvents: 2 } });
    const response = await fetch(service.url + paths.chat, {
      method: "POST",
      headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "citewell/local-extractive", messages: [{ role: "user", content: context }] }),
    });
    let text = "";
    const read = async () => {
      for await (const part of response.body as AsyncIterable<Uint8Array>) text += Buffer.from(part).toString();
    };
    await expect(read()).rejects.toThrow("terminated");
    expect(chunks(text)).toHaveLength(2);
    expect(text).not.toContain("[DONE]");
  });

  test("[DONE] can be missing or repeated", async () => {
    await set({ stream: { omitDone: true } });
    expect((await chat()).text).not.toContain("[DONE]");
    await set({ stream: { repeatDone: true } });
    expect(eventData((await chat()).text).slice(-2)).toEqual(["[DONE]", "[DONE]"]);
  });

  test("single bytes and CRLF line ends carry the same events", async () => {
    const contents = (text: string) =>
      chunks(text.replaceAll("\r\n", "\n"))
        .map(({ choices }) => choices?.[0]?.delta?.content ?? "")
        .join("");
    const messages = [{ role: "user", content: "Context: 密钥的有效期为九十天。\n\nQuestion: 密钥的有效期是多久？" }];
    const plain = contents((await chat({ messages })).text);
    await set({ stream: { splitBytes: 1, lineEnd: "\r\n" } });
    const { text } = await chat({ messages });
    expect(text).toMatch(/^data: .*\r\n\r\ndata: /);
    expect(contents(text)).toBe(plain);
    expect(plain).toContain("九十天");
  });

  test("a stalled stream is kept alive by comments and then continues", async () => {
    await set({ stream: { stallAfterEvents: 2, stallMs: 200 } });
    const { text } = await chat();
    expect(text.match(/^: keep-alive$/gm)?.length).toBeGreaterThan(1);
    const rest = text.replaceAll(": keep-alive\n\n", "");
    expect(eventData(rest).at(-1)).toBe("[DONE]");
    expect(chunks(rest).length).toBeGreaterThan(3);
  });

  test("a comment can precede every event", async () => {
    await set({ stream: { comments: true } });
    const { text } = await chat();
    expect(text.match(/^: keep-alive\n\ndata: {/gm)).toHaveLength(
      chunks(text.replaceAll(": keep-alive\n\n", "")).length,
    );
  });

  test.each([
    ["nested", /^data: {"error":{.*}}$/],
    ["object", /^data: {"object":"error",.*}$/],
    ["flat", /^data: {"code":50500,"message":"Injected fault","data":null}$/],
    ["event", /^event: error\ndata: {"error":{.*}}$/],
  ])("an error in its middle can have the shape %s, and is the last that comes", async (errorShape, expected) => {
    await set({ stream: { errorAfterEvents: 2, errorShape } });
    const events = (await chat()).text.trimEnd().split("\n\n");
    expect(events).toHaveLength(3);
    expect(events[2]).toMatch(expected);
  });

  test.each([
    ["last", 1],
    ["none", 0],
    ["final-empty", 1],
  ])("usage %s is on %i chunks", async (usage, count) => {
    await set({ stream: { usage } });
    const all = chunks((await chat()).text);
    expect(all.filter((one) => one.usage)).toHaveLength(count);
    const last = all.at(-1);
    expect(last?.choices).toHaveLength(usage === "final-empty" ? 0 : 1);
  });

  test("usage on every chunk grows to the total of the reply", async () => {
    const whole = chunks((await chat()).text).at(-1)?.usage;
    await set({ stream: { usage: "every" } });
    const counts = chunks((await chat()).text).map(({ usage }) => usage?.completion_tokens ?? -1);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts[0]).toBe(0);
    expect(counts.at(-1)).toBe(whole?.completion_tokens);
  });

  test.each([
    ["missing", undefined],
    ["null", null],
    ["empty", ""],
  ])("later deltas of a tool call can have their id and name %s", async (toolCallFields, stand) => {
    await set({ stream: { toolCallFields } });
    const { text } = await chat({
      messages: [{ role: "user", content: "What is the weather in New York and in Paris?" }],
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          },
        },
      ],
    });
    const calls = chunks(text).flatMap(({ choices }) => choices?.[0]?.delta?.tool_calls ?? []);
    expect(calls.length).toBeGreaterThan(1);
    expect(calls[0]?.function?.name).toBe("get_weather");
    // The first delta of each call names it, the later ones do not.
    const later = calls.filter(({ index }, place) => calls.findIndex((delta) => delta.index === index) < place);
    expect(later.length).toBeGreaterThan(1);
    expect(later.map(({ id }) => id)).toEqual(later.map(() => stand));
  });
});
