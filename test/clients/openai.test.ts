import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startLocalService, type LocalService } from "../../src/local/service.js";

let service: LocalService;
let client: OpenAI;
beforeAll(async () => {
  service = await startLocalService();
  client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.apiKey, maxRetries: 0 });
});
afterAll(() => service.close());

const model = "citewell/local-extractive";
const asked = "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?";
const messages = [{ role: "user" as const, content: asked }];

describe("chat", () => {
  test("a reply comes whole unless a stream is asked for", async () => {
    const reply = await client.chat.completions.create({ model, messages });
    expect(reply.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: expect.stringMatching(/\n\nKeys expire after 90 days\.$/) as string },
    });
    expect(reply.usage?.total_tokens).toBeGreaterThan(0);
    expect(reply).toMatchObject({ _request_id: expect.stringMatching(/^[\da-f-]{36}$/) });
  });

  test("a stream reports its tokens in a chunk of their own, and only when asked to", async () => {
    const read = async (stream_options?: { include_usage: boolean }) => {
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      const stream = await client.chat.completions.create({ model, messages, stream: true, stream_options });
      for await (const chunk of stream) chunks.push(chunk);
      return chunks;
    };
    const silent = await read();
    expect(silent.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toMatch(
      /\n\nKeys expire after 90 days\.$/,
    );
    expect(silent.filter(({ usage }) => usage)).toEqual([]);
    const telling = await read({ include_usage: true });
    expect(telling.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(telling.slice(0, -1).filter(({ usage }) => usage)).toEqual([]);
  });

  test("every role and every form of content is taken, also a conversation of more than ten messages", async () => {
    const call = { id: "call_1", type: "function" as const, function: { name: "clock", arguments: "{}" } };
    const turn: OpenAI.ChatCompletionMessageParam[] = [
      { role: "user", content: [{ type: "text", text: "What time is it?" }], name: "ann" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "noon" }] },
      { role: "assistant", content: [{ type: "text", text: "It is noon." }], refusal: null },
    ];
    const reply = await client.chat.completions.create({
      model,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "developer", content: [{ type: "text", text: "Quote." }] },
        ...turn,
        ...turn,
        ...turn,
        { role: "function", name: "clock", content: "noon" },
        ...messages,
      ],
    });
    expect(reply.choices[0]?.message.content).toMatch(/\n\nKeys expire after 90 days\.$/);
  });

  test("what other services know is taken, null means absent, and what has no effect is named in a header", async () => {
    const { data, response } = await client.chat.completions
      .create({
        model,
        messages: [{ ...messages[0]!, name: "ann" }],
        max_completion_tokens: 100_000,
        top_p: 0,
        temperature: null,
        n: 2,
        seed: 7,
        user: "ann",
        stop: "nowhere",
        stream: null,
        tools: [],
        response_format: { type: "text" },
        parallel_tool_calls: true,
        logprobs: true,
        logit_bias: null,
        service_tier: "flex",
      })
      .withResponse();
    expect(data.choices.length).toBe(2);
    for (const { message } of data.choices) expect(message.content).toMatch(/\n\nKeys expire after 90 days\.$/);
    expect(response.headers.get("x-citewell-ignored")).toBe("messages.name, logprobs, service_tier");
    const plain = await client.chat.completions.create({ model, messages }).withResponse();
    expect(plain.response.headers.get("x-citewell-ignored")).toBeNull();
  });

  test("images are sent to the vision model, and a text model says where to send them", async () => {
    const { pngUrl } = await import("../local/video/media-samples.js");
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: "text", text: "Describe this." },
      { type: "image_url", image_url: { url: pngUrl(400, 500) } },
    ];
    const look = (id: string) => client.chat.completions.create({ model: id, messages: [{ role: "user", content }] });
    expect((await look("citewell/local-look")).choices[0]?.message.content).toContain("PNG file of 400 by 500 pixels");
    await expect(look(model)).rejects.toThrow("reads text only. Send images to a vision model");
    const plain = await client.chat.completions.create({ model: "citewell/local-look", messages });
    expect(plain.choices[0]?.message.content).toContain("hold no image");
  });
});

describe("tools", () => {
  const tool = (name: string, parameters: Record<string, unknown>, description = ""): OpenAI.ChatCompletionTool => ({
    type: "function",
    function: { name, description, parameters },
  });
  const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [tool("get_weather", city), tool("get_time", city)];
  const weather = [{ role: "user" as const, content: "What is the weather in Paris?" }];
  const callsOf = async (choice?: OpenAI.ChatCompletionToolChoiceOption | null, question = weather) => {
    const reply = await client.chat.completions.create({ model, messages: question, tools, tool_choice: choice! });
    const calls = reply.choices[0]?.message.tool_calls ?? [];
    return calls.map((call) => (call.type === "function" ? `${call.function.name}(${call.function.arguments})` : ""));
  };

  test("every form of tool_choice is followed", async () => {
    const named = (name: string) => ({ type: "function" as const, function: { name } });
    const allowed = (mode: "auto" | "required", ...names: string[]) => ({
      type: "allowed_tools" as const,
      allowed_tools: { mode, tools: names.map(named) as unknown as Record<string, unknown>[] },
    });
    const hello = [{ role: "user" as const, content: "Hello" }];
    expect(await callsOf()).toEqual(['get_weather({"city":"Paris"})']);
    expect(await callsOf(null)).toEqual(['get_weather({"city":"Paris"})']);
    expect(await callsOf("auto")).toEqual(['get_weather({"city":"Paris"})']);
    expect(await callsOf("auto", hello)).toEqual([]);
    expect(await callsOf("none")).toEqual([]);
    expect(await callsOf("required", hello)).toHaveLength(1);
    expect(await callsOf(named("get_time"))).toEqual(['get_time({"city":"Paris"})']);
    expect(await callsOf(allowed("auto", "get_time"))).toEqual([]);
    expect(await callsOf(allowed("required", "get_time"))).toEqual(['get_time({"city":"Paris"})']);
    await expect(callsOf(named("get_news"))).rejects.toThrow('"get_news" is not the name of one of the tools');
  });

  test.each([false, true])("runTools calls the function and answers with its result (stream: %s)", async (stream) => {
    const cities: string[] = [];
    const request = {
      model,
      messages: weather,
      tools: [
        {
          type: "function" as const,
          function: {
            name: "get_weather",
            description: "Weather of a city",
            parameters: city,
            parse: JSON.parse as (text: string) => { city: string },
            function: (given: { city: string }) => {
              cities.push(given.city);
              return { temperature: 21 };
            },
          },
        },
      ],
    };
    const runner = stream
      ? client.chat.completions.runTools({ ...request, stream: true })
      : client.chat.completions.runTools(request);
    expect(await runner.finalContent()).toBe("get_weather says: temperature: 21");
    expect(cities).toEqual(["Paris"]);
  });
});

describe("structured outputs", () => {
  const Expiry = z.object({
    days: z.int().describe("Days until a key expires"),
    renewable: z.boolean().nullable(),
    contact: z.object({ email: z.email(), since: z.array(z.iso.date()) }),
  });
  const ask = (question: string) =>
    client.chat.completions.parse({
      model,
      messages: [{ role: "user", content: question }],
      response_format: zodResponseFormat(Expiry, "expiry"),
    });

  test("the zod helper reads what the sources hold, and neutral values in the place of what they do not", async () => {
    expect((await ask(asked)).choices[0]?.message.parsed).toEqual({
      days: 90,
      renewable: null,
      contact: { email: "nobody@example.com", since: [] },
    });
  });

  test("a reply is valid also without sources", async () => {
    const { parsed } = (await ask("Keys last 30 days, and ann@example.org renews them.")).choices[0]!.message;
    expect(parsed).toMatchObject({ days: 30, contact: { email: "ann@example.org" } });
    expect(Expiry.safeParse((await ask("Hello")).choices[0]?.message.parsed).success).toBe(true);
  });
});

describe("embeddings", () => {
  const embed = async (input: OpenAI.EmbeddingCreateParams["input"], change: object = {}) => {
    const reply = await client.embeddings.create({ model: "citewell/local-lexical", input, ...change });
    return reply.data.map(({ embedding }) => Array.from(embedding));
  };

  test("500 texts are embedded by one request, in their order", async () => {
    const texts = Array.from({ length: 500 }, (_, at) => `text number ${at}`);
    const vectors = await embed(texts);
    expect(vectors).toHaveLength(500);
    expect(vectors[321]).toEqual((await embed("text number 321"))[0]);
  });

  test("token ids are read as the text that they stand for, in base64 and in float", async () => {
    // "hello world" in cl100k_base.
    const ids = [15_339, 1917];
    const [text] = await embed("hello world");
    expect(await embed(ids)).toEqual([text]);
    expect(await embed([ids, [15_339]])).toEqual([text, (await embed("hello"))[0]]);
    expect(await embed("hello world", { encoding_format: "float" })).toEqual([text]);
    await expect(embed([999_999])).rejects.toThrow("no token of cl100k_base");
  });

  test("vectors may be asked for in fewer dimensions", async () => {
    const [short] = await embed("hello world", { dimensions: 64, user: "ann" });
    expect(short).toHaveLength(64);
    expect(Math.hypot(...short!)).toBeCloseTo(1);
    await expect(embed("hello", { dimensions: 100_000 })).rejects.toThrow("makes at most 512");
  });
});

describe("models and errors", () => {
  test("models are listed and found by their id", async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toEqual(service.models.map(({ id }) => id));
    expect(await client.models.retrieve(model)).toMatchObject({ id: model, object: "model", owned_by: "citewell" });
    await expect(client.models.retrieve("gpt-9")).rejects.toThrow('The model "gpt-9" is not published here');
  });

  test("errors say what is wrong and have the fields that the client reads", async () => {
    const unknown = client.chat.completions.create({ model: "gpt-9", messages });
    await expect(unknown).rejects.toThrow(`Choose one of ${model}, `);
    await expect(unknown).rejects.toMatchObject({ status: 404, code: "model_not_found", param: "model" });
    await expect(client.chat.completions.create({ model, messages: [] })).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      param: "messages",
      requestID: expect.any(String),
    });
    const keyless = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: "wrong", maxRetries: 0 });
    await expect(keyless.models.list()).rejects.toThrow("401 Api key is invalid");
    await expect(client.completions.create({ model, prompt: "a" })).rejects.toThrow(
      "404 Nothing is served at /v1/completions. Served are POST /v1/chat/completions, ",
    );
  });

  test("the contract's own paths stay strict, and say why", async () => {
    const strict = new OpenAI({ baseURL: `${service.url}/llm/v1`, apiKey: service.apiKey, maxRetries: 0 });
    const refused = strict.chat.completions.create({ model, messages, seed: 7, stream: false });
    await expect(refused).rejects.toThrow('400 seed: the contract has no field "seed"');
  });
});
