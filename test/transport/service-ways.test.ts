import { describe, expect, test } from "vitest";
import type { TransportEvent } from "../../src/transport/calls/events.js";
import type { TransportOptions } from "../../src/transport/options.js";
import { failure, streamed, transportFor, vectors } from "../support/transport-for.js";
import { catVideo, taskBody } from "../support/video-task.js";

const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };
const whole = (finish_reason = "stop") => ({
  json: {
    choices: [{ index: 0, message: { content: "x" }, finish_reason }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  },
});

describe("documents split over requests (R5)", () => {
  const documents = ["0.1", "0.9", "0.5", "0.7", "0.9"];
  // A service whose scores are what the documents say.
  const reranking = (request: { readonly body: unknown }) => {
    const sent = (request.body as { readonly documents: readonly string[] }).documents;
    const results = sent.map((text, index) => ({ index, relevance_score: Number(text), document: { text } }));
    return { json: { results, tokens: { input_tokens: sent.length, output_tokens: 1 } } };
  };

  test("come back in one order, with their places in the whole list and the sum of the tokens", async () => {
    const { transport, upstream } = await transportFor(reranking, { maxDocumentsPerRequest: 2 });
    const result = await transport.rerank({ model: "r", query: "q", documents });
    expect(result.results.map(({ index, score }) => [index, score])).toEqual([
      [1, 0.9],
      [4, 0.9],
      [3, 0.7],
      [2, 0.5],
      [0, 0.1],
    ]);
    expect(result.usage).toEqual({ inputTokens: 5, outputTokens: 3 });
    expect(upstream.requests).toHaveLength(3);
  });

  test("keep top_n for the whole", async () => {
    const { transport } = await transportFor(reranking, { maxDocumentsPerRequest: 3 });
    const { results } = await transport.rerank({ model: "r", query: "q", documents, top_n: 4 });
    expect(results.map(({ index }) => index)).toEqual([1, 4, 3, 2]);
  });

  test("fail together, with the error of the one that failed, and the rest is cut", async () => {
    const { transport, upstream } = await transportFor(
      ({ body }) =>
        JSON.stringify(body).includes("0.5") ? { status: 400, json: { message: "no" }, delayMs: 200 } : { hang: true },
      { maxDocumentsPerRequest: 2 },
    );
    expect(await failure(transport.rerank({ model: "r", query: "q", documents }))).toMatchObject({ code: "refused" });
    const ends = await Promise.all(upstream.requests.map(({ end }) => end));
    expect(ends.toSorted()).toEqual(["closed", "closed", "finished"]);
  });
});

describe("headers to trace a call by (E7)", () => {
  test("name the call once and each attempt anew", async () => {
    const { transport, upstream } = await transportFor([{ status: 500 }, vectors(1), vectors(1)], {
      traceHeaders: true,
    });
    await transport.embeddings({ model: "m", input: ["a"] });
    await transport.embeddings({ model: "m", input: ["a"] });
    const traces = upstream.requests.map(({ headers }) => headers["x-trace-id"]);
    expect(traces[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(traces[1]).toBe(traces[0]);
    expect(traces[2]).not.toBe(traces[0]);
    expect(new Set(upstream.requests.map(({ headers }) => headers["x-client-request-id"])).size).toBe(3);
  });

  test("are not sent unless asked for", async () => {
    const { transport, upstream } = await transportFor([vectors(1)]);
    await transport.embeddings({ model: "m", input: ["a"] });
    expect(upstream.requests[0]!.headers).not.toHaveProperty("x-trace-id");
    expect(upstream.requests[0]!.headers).not.toHaveProperty("x-client-request-id");
  });
});

describe("an overloaded service that would rather stream (E5)", () => {
  test.each([503, 504])("gets the call after a %d as a stream when the options say so", async (status) => {
    const { transport, upstream } = await transportFor([{ status }, streamed("Hel", "lo")], { switchToStream: true });
    expect((await transport.chat(ask)).text).toBe("Hello");
    expect(upstream.requests.map(({ body }) => (body as { stream: boolean }).stream)).toEqual([false, true]);
  });

  test.each<[number, Partial<TransportOptions>]>([
    [503, {}],
    [500, { switchToStream: true }],
  ])("gets the same call again after a %d with %j", async (status, options) => {
    const { transport, upstream } = await transportFor([{ status }, whole()], options);
    await transport.chat(ask);
    expect(upstream.requests.map(({ body }) => (body as { stream: boolean }).stream)).toEqual([false, false]);
  });
});

test("a task is asked for by POST when the options say so (V1)", async () => {
  const { transport, upstream } = await transportFor([{ json: taskBody() }], { videoQueryMethod: "POST" });
  await transport.videoTask("cgt-1");
  expect(upstream.requests[0]).toMatchObject({ method: "POST", path: "/llm/v1/contents/generations/tasks/cgt-1" });
});

test("with retryVideoCreate never, not even a creation that was turned away is sent again (V13)", async () => {
  const { transport, upstream } = await transportFor([{ status: 429 }, { json: { id: "cgt-1" } }], {
    retryVideoCreate: "never",
  });
  expect(await failure(transport.createVideoTask(catVideo))).toMatchObject({ code: "rate-limited", attempts: 1 });
  expect(upstream.requests).toHaveLength(1);
});

describe("with retryVideoCreate always, a creation that may have arrived (V13)", () => {
  const twice = { retryVideoCreate: "always" as const, maxRetries: 1 };

  test("is sent again, which makes the video twice", async () => {
    const { transport, upstream } = await transportFor([{ status: 502 }, { json: { id: "second" } }], twice);
    expect(await transport.createVideoTask(catVideo)).toMatchObject({ id: "second" });
    expect(upstream.requests).toHaveLength(2);
  });

  test.each([{ status: 502 }, { status: 429 }, { status: 400, json: { message: "no" } }])(
    "stays so when another attempt ends with %j",
    async (last) => {
      const { transport } = await transportFor([{ destroy: true }, last], twice);
      const error = await failure(transport.createVideoTask(catVideo));
      expect(error).toMatchObject({ code: "ambiguous", attempts: 2, submission: { model: catVideo.model } });
    },
  );
});

test("defaults that the caller wrote go out when the options say so (V17)", async () => {
  const { transport, upstream } = await transportFor([{ json: { id: "cgt-1" } }], { videoSendDefaults: true });
  await transport.createVideoTask({ ...catVideo, duration: 5, watermark: false });
  expect(upstream.requests[0]!.body).toMatchObject({ duration: 5, watermark: false });
  expect(upstream.requests[0]!.body).not.toHaveProperty("seed");
});

test("streams ask for their usage when the options say so, and only streams (C3)", async () => {
  const { transport, upstream } = await transportFor([streamed("a"), whole()], { streamUsage: true });
  for await (const _ of transport.chatStream(ask));
  await transport.chat(ask);
  expect(upstream.requests[0]!.body).toMatchObject({ stream_options: { include_usage: true } });
  expect(upstream.requests[1]!.body).not.toHaveProperty("stream_options");
});

describe("fields that the contract does not have (C18)", () => {
  test("are sent as they are when given as extra", async () => {
    const { transport, upstream } = await transportFor([whole(), streamed("a")]);
    const extra = { tool_choice: { type: "function", function: { name: "f" } }, parallel_tool_calls: false };
    await transport.chat(ask, { extra });
    for await (const _ of transport.chatStream(ask, { extra }));
    for (const { body } of upstream.requests) expect(body).toMatchObject({ ...ask, ...extra });
  });

  test("cannot replace fields that the contract checks", async () => {
    const { transport, upstream } = await transportFor([]);
    const error = await failure(transport.chat(ask, { extra: { temperature: 99 } }));
    expect(error).toMatchObject({ code: "request", attempts: 0 });
    expect(String(error)).toContain("extra.temperature");
    expect(upstream.requests).toHaveLength(0);
  });
});

/** Collects the warnings while a chat request is answered. */
async function warnings(
  request: object,
  reply = whole(),
  options: Partial<TransportOptions> = {},
): Promise<readonly string[]> {
  const heard: TransportEvent[] = [];
  const { transport } = await transportFor([reply], { ...options, onEvent: (event) => heard.push(event) });
  await transport.chat({ ...ask, ...request });
  return heard.flatMap((event) => (event.type === "warning" ? [event.message] : []));
}

test("a reply that was cut short is warned of (C5)", async () => {
  expect(await warnings({}, whole("length"))).toEqual([expect.stringContaining("max_tokens")]);
  expect(await warnings({})).toEqual([]);
});

test("json_object without the word json is warned of, and sent (C19)", async () => {
  const format = { response_format: { type: "json_object" } };
  expect(await warnings(format)).toEqual([expect.stringContaining("no message says json")]);
  const messages = [{ role: "user", content: "Answer in JSON." }];
  expect(await warnings({ ...format, messages })).toEqual([]);
});

describe("bounds that the contract does not show (C6)", () => {
  const beyond = { temperature: 2.5, top_k: 200 };
  const eased = (bounds: "off" | "warn") => ({ strictness: { bounds } });

  test("cause a warning and are sent when the options say so", async () => {
    expect(await warnings(beyond, whole(), eased("warn"))).toEqual([
      expect.stringMatching(/^temperature: .*\(got 2\.5\)$/),
      expect.stringMatching(/^top_k: .*\(got 200\)$/),
    ]);
    expect(await warnings({ temperature: 2 }, whole(), eased("warn"))).toEqual([]);
  });

  test("are skipped when the options say so, and sent as they are", async () => {
    const { transport, upstream } = await transportFor([whole()], eased("off"));
    await transport.chat({ ...ask, ...beyond });
    expect(upstream.requests[0]!.body).toMatchObject(beyond);
  });

  test.each([{ max_tokens: 16_385 }, { temperature: "hot" }, { temperature: Number.NaN }, { enable_thinking: true }])(
    "do not ease %j with them",
    async (field) => {
      const { transport, upstream } = await transportFor([], eased("off"));
      const request = { ...ask, ...beyond, ...field } as typeof ask;
      const error = await failure(transport.chat(request));
      expect(error).toMatchObject({ code: "request", attempts: 0 });
      expect(String(error)).toContain(Object.keys(field)[0]);
      expect(upstream.requests).toHaveLength(0);
    },
  );
});

describe("fields of another family (C10)", () => {
  test.each(["off", "warn"] as const)("go out with strictness %s", async (family) => {
    const request = { ...ask, enable_thinking: false };
    const { transport, upstream } = await transportFor([whole()], { strictness: { family } });
    await transport.chat(request);
    expect(upstream.requests[0]!.body).toMatchObject({ enable_thinking: false });
    const heard = await warnings(request, whole(), { strictness: { family } });
    expect(heard).toEqual(family === "warn" ? [expect.stringContaining("enable_thinking")] : []);
  });

  test("do not relax other rules", async () => {
    const { transport } = await transportFor([], { strictness: { family: "off" } });
    const pictures = [{ role: "user" as const, content: "?" }];
    const models = [{ id: "see", type: "vlm" as const }];
    const empty = { model: "m", messages: [], enable_thinking: false };
    expect(await failure(transport.chat(empty))).toMatchObject({ code: "request" });
    const seeing = await transportFor([], { strictness: { family: "off" }, models });
    expect(await failure(seeing.transport.chat({ model: "see", messages: pictures }))).toMatchObject({
      code: "request",
    });
  });
});

test.each([
  ["off", 1],
  ["error", 0],
] as const)(
  "with strictness %s a search beside more than text is sent %i times, unwarned (V20)",
  async (webSearchTextOnly, times) => {
    const heard: TransportEvent[] = [];
    const { transport, upstream } = await transportFor([{ json: { id: "t" } }], {
      strictness: { webSearchTextOnly },
      onEvent: (event) => heard.push(event),
    });
    const content = [{ type: "image_url" as const, image_url: { url: "https://host/a.png" } }];
    const creation = transport.createVideoTask({ ...catVideo, content, tools: [{ type: "web_search" }] });
    if (webSearchTextOnly === "off") expect(await creation).toMatchObject({ id: "t" });
    else expect(String(await failure(creation))).toMatch(/tools: .*text alone/);
    expect(heard.filter(({ type }) => type === "warning")).toEqual([]);
    expect(upstream.requests).toHaveLength(times);
  },
);

test("sampling that a thinking model of the D family ignores is warned of (C11)", async () => {
  const models = [{ id: "d", type: "llm", family: "D" } as const];
  const told = (request: object) => warnings(request, whole(), { models });
  const sampling = { temperature: 0.1, presence_penalty: 0.5 };
  expect(await told({ model: "d", ...sampling })).toEqual([
    "models of the D family ignore temperature, presence_penalty while they think",
  ]);
  expect(await told({ model: "d", ...sampling, thinking: { type: "disabled" } })).toEqual([]);
  expect(await told({ model: "d" })).toEqual([]);
  expect(await told(sampling)).toEqual([]);
});
