import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { terminalVideoStatuses } from "../../src/contract/video-tasks.js";
import { call } from "./call.js";
import { faultsAt, finishedTask, replyTables, streamedEvent, valuesAt } from "./conformance-replies.js";
import { isRemote, models, openTarget } from "./conformance-target.js";
import { eventData, paths, post, type Answered, type Target } from "./conformance.js";
import { pngUrl } from "./video/media-samples.js";

let target: Target;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ target, close } = await openTarget({ timeScale: 60 }));
});
afterAll(() => close());

async function ask(operation: keyof typeof paths, body: object): Promise<Answered> {
  const answer = await post(target, paths[operation], body);
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: expect.any(String) });
  return answer;
}

test("the checks detect a missing field, a wrong type and an empty list", () => {
  const body = { id: 1, data: [{ index: 0 }, { index: "1" }], choices: [] };
  expect(faultsAt(body, ["model", z.string()])).toEqual(["model is undefined"]);
  expect(faultsAt(body, ["id", z.string()])).toEqual(["id is 1"]);
  expect(faultsAt(body, ["data[].index", z.int()])).toEqual(['data[].index is "1"']);
  expect(faultsAt({ id: "a" }, ["id", z.string()])).toEqual([]);
  expect(() => faultsAt(body, ["choices[].index", z.int()])).toThrow("no list with elements");
});

describe.each(replyTables(models))("$section: $what", ({ operation, body, rows }) => {
  let reply: unknown;
  beforeAll(async () => {
    reply = (await ask(operation, body)).body;
  });

  test.each(rows)("%s", (...row) => {
    expect(faultsAt(reply, row)).toEqual([]);
  });
});

const hello = [{ role: "user", content: "Say hello." }];
const look = [{ role: "user", content: [{ type: "image_url", image_url: { url: pngUrl(64, 64) } }] }];

describe("Create chat completion: defaults (section 3)", () => {
  test.each([
    ["an LLM streams", models.llm, hello, undefined, "text/event-stream"],
    ["a VLM does not", models.vlm, look, undefined, "application/json"],
    ["an LLM does not when told so", models.llm, hello, false, "application/json"],
    ["a VLM streams when told so", models.vlm, look, true, "text/event-stream"],
  ])("%s", async (_, model, messages, stream, type) => {
    const { headers } = await ask("chat", { model, messages, ...(stream !== undefined && { stream }) });
    expect(headers.get("content-type")).toContain(type);
  });

  test("one choice is returned by default, and n choices on request", async () => {
    const made = async (request: object) =>
      valuesAt(
        (await ask("chat", { model: models.llm, messages: hello, stream: false, ...request })).body,
        "choices[]",
      );
    expect(await made({})).toHaveLength(1);
    expect(await made({ n: 2 })).toHaveLength(2);
  });

  test.each([
    ["Q3", models.q3, { enable_thinking: false }],
    ["D", models.d, { thinking: { type: "disabled" } }],
  ])("a model of the %s family thinks unless it is told not to", async (_, model, off) => {
    const thought = async (request: object) => {
      const { body } = await ask("chat", { model, messages: hello, stream: false, ...request });
      return valuesAt(body, "choices[].message.reasoning_content")[0];
    };
    expect(await thought({})).toMatch(/./);
    expect((await thought(off)) ?? "").toBe("");
  });

  test("prompt and completion tokens add up to the total", async () => {
    const { body } = await ask("chat", { model: models.llm, messages: hello, stream: false });
    const { prompt_tokens, completion_tokens, total_tokens } = (
      body as { readonly usage: Readonly<Record<string, number>> }
    ).usage;
    expect(total_tokens).toBe((prompt_tokens ?? 0) + (completion_tokens ?? 0));
  });
});

describe.each([
  ["an LLM", { model: models.llm, messages: hello }],
  ["a model that thinks", { model: models.q3, messages: hello }],
  ["a VLM", { model: models.vlm, messages: look }],
])("3. Create chat completion, the streamed reply of %s", (_, request) => {
  let data: readonly string[];
  let events: readonly unknown[];
  beforeAll(async () => {
    data = eventData((await ask("chat", { ...request, stream: true })).text);
    events = data.slice(0, -1).map((one) => JSON.parse(one) as unknown);
  });
  const all = (field: string) => events.flatMap((event) => valuesAt(event, field));
  /** The first choice of the events that have one: the last event may only count tokens. */
  const ofChoice = (field: string) => all("choices").flatMap((choices) => valuesAt((choices as unknown[])[0], field));

  test.each(streamedEvent)("%s in every event", (...row) => {
    expect(events.flatMap((event) => faultsAt(event, row))).toEqual([]);
  });

  test("ends with one [DONE]", () => {
    expect(data.at(-1)).toBe("[DONE]");
    expect(data.indexOf("[DONE]")).toBe(data.length - 1);
  });

  test("carries one id in all events", () => {
    expect(new Set(all("id")).size).toBe(1);
  });

  test("sends one finish reason, after the last content", () => {
    const reasons = ofChoice("finish_reason");
    const words = ofChoice("delta.content").findLastIndex((content) => typeof content === "string" && content !== "");
    const end = reasons.findIndex((reason) => typeof reason === "string");
    expect(reasons.filter((reason) => typeof reason === "string")).toHaveLength(1);
    expect(end).toBeGreaterThanOrEqual(words);
    expect(words).toBeGreaterThanOrEqual(0);
  });

  test("sends the role in the first event and the usage at the end", () => {
    expect(ofChoice("delta.role")[0]).toBe("assistant");
    expect(
      all("usage")
        .filter((usage) => usage !== undefined && usage !== null)
        .at(-1),
    ).toMatchObject({
      prompt_tokens: expect.any(Number),
      completion_tokens: expect.any(Number),
      total_tokens: expect.any(Number),
    });
  });
});

describe("Create rerank request: response (section 4)", () => {
  const request = { model: models.rerank, query: "red apple", documents: ["a banana", "a red apple", "an apple"] };
  const ranked = async (change: object = {}) => (await ask("rerank", { ...request, ...change })).body;

  test("results are in descending order of score, each with its index", async () => {
    const body = await ranked();
    const scores = valuesAt(body, "results[]").map((result) => {
      const { relevance_score, score } = result as Readonly<Record<string, number>>;
      return relevance_score ?? score ?? Number.NaN;
    });
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    const places = valuesAt(body, "results[].index");
    expect(places[0]).toBe(1);
    expect(new Set(places)).toEqual(new Set([0, 1, 2]));
  });

  test("top_n limits the results, and all documents are returned without it", async () => {
    expect(valuesAt(await ranked(), "results[]")).toHaveLength(3);
    expect(valuesAt(await ranked({ top_n: 2 }), "results[]")).toHaveLength(2);
    expect(valuesAt(await ranked({ top_n: 9 }), "results[]")).toHaveLength(3);
  });

  test("results carry the document text only on request", async () => {
    for (const body of [await ranked(), await ranked({ return_documents: false })]) {
      expect(valuesAt(body, "results[].document").map((document) => document ?? null)).toEqual([null, null, null]);
    }
    for (const result of valuesAt(await ranked({ return_documents: true }), "results[]")) {
      const { index, document } = result as { readonly index: number; readonly document: unknown };
      const text = typeof document === "string" ? document : valuesAt(document, "text")[0];
      expect(text).toBe(request.documents[index]);
    }
  });
});

describe("Create embedding request: response (section 5)", () => {
  const embedded = async (change: object = {}) =>
    (await ask("embeddings", { model: models.embedding, input: ["one", "two"], ...change })).body;

  test("vectors are numbers by default, and base64 encodes the same numbers", async () => {
    const numbers = valuesAt(await embedded(), "data[].embedding") as readonly (readonly number[])[];
    expect(numbers.every(Array.isArray)).toBe(true);
    const packed = valuesAt(await embedded({ encoding_format: "base64" }), "data[].embedding") as readonly string[];
    for (const [at, one] of packed.entries()) {
      const bytes = Buffer.from(one, "base64");
      const read = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index));
      expect(read).toHaveLength(numbers[at]?.length ?? 0);
      for (const [index, value] of read.entries()) expect(value).toBeCloseTo(numbers[at]?.[index] ?? Number.NaN, 5);
    }
  });

  test("each vector has the index of its text, and a single text gives one vector", async () => {
    expect(new Set(valuesAt(await embedded(), "data[].index"))).toEqual(new Set([0, 1]));
    expect(valuesAt(await embedded({ input: "one" }), "data[].index")).toEqual([0]);
  });

  test("the token total equals the input tokens", async () => {
    const body = await embedded();
    expect(valuesAt(body, "usage.total_tokens")).toEqual(valuesAt(body, "usage.prompt_tokens"));
  });
});

describe("Query video generation task (section 2)", () => {
  const pollMs = isRemote ? 5000 : 20;
  const limitMs = isRemote ? 1_800_000 : 30_000;
  const order = ["queued", "running", "succeeded"];
  const seen: unknown[] = [];
  /** Links that were shown before success. */
  const early: unknown[] = [];
  let task: unknown;
  beforeAll(async () => {
    const { body } = await ask("createVideoTask", {
      model: models.video,
      content: [{ type: "text", text: "the latest news about cats" }],
      return_last_frame: true,
      tools: [{ type: "web_search" }],
    });
    const id = String(valuesAt(body, "id")[0]);
    do {
      await sleep(pollMs);
      task = (await call(target, "GET", `${paths.createVideoTask}/${id}`)).body;
      const [status] = valuesAt(task, "status");
      if (status !== seen.at(-1)) seen.push(status);
      if (status !== "succeeded") early.push(...valuesAt(task, "content.video_url"));
    } while (!terminalVideoStatuses.has(String(seen.at(-1))));
  }, limitMs);

  test("states occur in order", () => {
    expect(seen).toEqual(order.filter((status) => seen.includes(status)));
    expect(seen.at(-1)).toBe("succeeded");
  });

  test("no link is shown before the task has succeeded", () => {
    expect(early.filter((link) => link !== undefined)).toEqual([]);
  });

  test.each(finishedTask)("%s, with the defaults of the creation", (...row) => {
    expect(faultsAt(task, row)).toEqual([]);
  });
});

describe("The list of models, an extension", () => {
  test.skipIf(isRemote)("names the models under test, with their kinds", async () => {
    const { body } = await call(target, "GET", "/llm/v1/models");
    expect(valuesAt(body, "object")).toEqual(["list"]);
    expect(new Set(valuesAt(body, "data[].object"))).toEqual(new Set(["model"]));
    expect(valuesAt(body, "data[]")).toEqual(
      expect.arrayContaining([
        { id: models.llm, object: "model", type: "llm" },
        { id: models.q3, object: "model", type: "llm", family: "Q3" },
        { id: models.vlm, object: "model", type: "vlm" },
        { id: models.embedding, object: "model", type: "embedding" },
        { id: models.rerank, object: "model", type: "rerank" },
        { id: models.video, object: "model", type: "video" },
      ]),
    );
  });
});
