import { standInNotices } from "../../../src/text/prompt/stand-in-notice.js";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTransport } from "citewell";
import { localDefaults, startLocalService } from "citewell/local";
import { served } from "../../support/served.js";

const documents = [
  { uri: "https://docs.example.com/keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." },
  { uri: "locks", text: "Locks rust in winter. Bob oils them in spring." },
];
const question = { role: "user", content: "When do API keys expire?" } as const;

async function client(...given: Parameters<typeof served> | []) {
  const server = await served(given[0] ?? documents, given[1], given[2]);
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
  return { ...server, openai };
}

interface Annotated {
  readonly annotations?: readonly {
    readonly type: string;
    readonly url_citation: OpenAI.ChatCompletionMessage.Annotation.URLCitation;
  }[];
}

describe("OpenAI's client, unmodified", () => {
  test("gets an answer from the documents, with its citations as annotations that point at their marks", async () => {
    const { openai } = await client();
    const { choices, usage, model } = await openai.chat.completions.create({ model: "citewell", messages: [question] });
    const { message, finish_reason } = choices[0]!;
    expect({ model, finish_reason, content: message.content }).toEqual({
      model: "citewell",
      finish_reason: "stop",
      content: expect.stringContaining("API keys expire after 90 days.") as string,
    });
    expect(message.content).toContain(standInNotices.english);
    const [annotation] = (message as Annotated).annotations!;
    expect(annotation).toMatchObject({ type: "url_citation", url_citation: { url: documents[0]!.uri, title: "Keys" } });
    const { start_index: start, end_index: end } = annotation!.url_citation;
    expect(message.content!.slice(start, end)).toBe("[1]");
    expect(usage!.total_tokens).toBe(usage!.prompt_tokens + usage!.completion_tokens);
  });

  test("gets the same answer as a stream, and its usage on request", async () => {
    const { openai } = await client();
    const stream = await openai.chat.completions.create({
      model: "citewell",
      messages: [question],
      stream: true,
      stream_options: { include_usage: true },
    });
    let content = "";
    const annotations: unknown[] = [];
    let usage: unknown;
    let reason: unknown;
    for await (const chunk of stream) {
      const [choice] = chunk.choices;
      content += choice?.delta.content ?? "";
      annotations.push(...((choice?.delta as Annotated | undefined)?.annotations ?? []));
      reason ??= choice?.finish_reason;
      usage = chunk.usage ?? usage;
    }
    expect(content).toMatch(/API keys expire after 90 days\..* \[1\]$/);
    expect(annotations).toMatchObject([
      { url_citation: { start_index: content.length - 3, end_index: content.length } },
    ]);
    expect(reason).toBe("stop");
    expect(usage).toMatchObject({ prompt_tokens: expect.any(Number) as number });
  });

  test("asks a follow-up with the messages before it", async () => {
    const { openai } = await client();
    const { choices } = await openai.chat.completions.create({
      model: "citewell",
      messages: [
        { role: "system", content: "Answer in one sentence." },
        question,
        { role: "assistant", content: "API keys expire after 90 days. [1]" },
        { role: "user", content: [{ type: "text", text: "Who renews the API keys?" }] },
      ],
    });
    expect(choices[0]!.message.content).toContain("Ada renews them.");
  });

  test("lists the one model that there is", async () => {
    const { openai } = await client();
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(["citewell"]);
    expect(await openai.models.retrieve("citewell")).toMatchObject({ id: "citewell", object: "model" });
    const unknown = { status: 404, code: "model_not_found" };
    await expect(openai.models.retrieve("other")).rejects.toMatchObject(unknown);
    const messages = [question];
    await expect(openai.chat.completions.create({ model: "gpt-9", messages })).rejects.toMatchObject(unknown);
    await expect(openai.chat.completions.create({ model: "gpt-9", messages, stream: true })).rejects.toMatchObject(
      unknown,
    );
  });

  test("is told which fields had no effect", async () => {
    const { openai } = await client();
    const parameters = { type: "object", properties: {} };
    const asked = openai.chat.completions.create({
      model: "citewell",
      messages: [question],
      seed: 1,
      temperature: 0,
      tools: [{ type: "function", function: { name: "look", parameters } }],
    });
    const { response } = await asked.withResponse();
    expect(response.headers.get("x-citewell-ignored")).toBe("seed, tools");
  });

  test.each<[string, Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>, RegExp]>([
    [
      "no question at the end",
      { messages: [question, { role: "assistant", content: "Soon." }] },
      /last one must be the user's question/,
    ],
    ["two answers", { n: 2 }, /one answer is made/],
    [
      "a picture",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:," } }] }] },
      /no model that sees pictures is connected here/,
    ],
    ["a temperature that no model has", { temperature: 9 }, /temperature/],
  ])("shows the reason when it asks with %s", async (_, fields, message) => {
    const { openai } = await client();
    const asked = openai.chat.completions.create({ model: "citewell", messages: [question], ...fields });
    await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) as string });
  });

  test("is answered after a refused question, which takes no place among the running answers", async () => {
    const { openai } = await client(documents, { limits: { maxConcurrentAnswers: 1 } });
    const blank = { role: "user", content: " " } as const;
    const refused = openai.chat.completions.create({ model: "citewell", messages: [blank] });
    await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining("blank") as string });
    const { choices } = await openai.chat.completions.create({ model: "citewell", messages: [question] });
    expect(choices[0]!.message.content).toContain("90 days");
  });

  test("shows the reason when the answer fails, streamed or whole", async () => {
    const { openai, kb } = await client();
    await kb.close();
    for (const stream of [true, false]) {
      const asked = openai.chat.completions.create({ model: "citewell", messages: [question], stream });
      await expect(asked).rejects.toMatchObject({
        status: 502,
        message: expect.stringContaining("were closed") as string,
      });
    }
  });

  test.each([true, false])("ends the request to the model when it aborts (stream: %j)", async (stream) => {
    // A chat that takes ten minutes: whatever ends it here is not its answer.
    const faults = { latencyMs: { chat: 600_000 } };
    const service = await startLocalService({ apiKey: "key", faults, closeGraceMs: 0 });
    const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
    onTestFinished(async () => {
      await transport.close();
      await service.close();
    });
    const { openai } = await client(documents, {}, { transport, models: localDefaults });
    const stop = new AbortController();
    const asked = openai.chat.completions.create(
      { model: "citewell", messages: [question], stream },
      { signal: stop.signal },
    );
    asked.catch(() => {});
    await expect.poll(() => service.openRequests, { timeout: 15_000 }).toBe(1);
    stop.abort();
    // A stream may have begun; its client lets it end without an error.
    if (!stream) await expect(asked).rejects.toThrow(/abort/i);
    await expect.poll(() => service.openRequests, { timeout: 15_000 }).toBe(0);
  });

  test("is held to its tenant by its key", async () => {
    const pages = ["north", "south"].map((tenant) => ({
      uri: tenant,
      text: `API keys of ${tenant} expire after 90 days.`,
      metadata: { tenant },
    }));
    const access = (request: Request) => {
      const tenant = /^Bearer key-of-(.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
      return tenant === undefined ? undefined : { filter: { metadata: { tenant } } };
    };
    const { url } = await client(pages, { access });
    const ask = (apiKey: string) =>
      new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }).chat.completions.create({
        model: "citewell",
        messages: [question],
      });
    expect((await ask("key-of-north")).choices[0]!.message.content).toContain("API keys of north");
    expect((await ask("key-of-south")).choices[0]!.message.content).toContain("API keys of south");
    await expect(ask("other")).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining("does not know who you are") as string,
    });
  });
});
