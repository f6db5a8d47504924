import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { served } from "../../support/served.js";
import type { ServerOptions } from "../../../src/server/options.js";

const documents = [
  {
    uri: "https://docs.example/keys",
    title: "Keys",
    text: "API keys expire after 90 days. Ada renews them.\n\nThe vault is in the cellar. Its locks are oiled in May.",
  },
];
const question = "When do API keys expire?";

async function client(options: ServerOptions = {}, headers: Record<string, string> = {}, eventDelayMs = 0) {
  const server = await served(documents, options, { eventDelayMs });
  const as = (defaultHeaders: Record<string, string>) =>
    new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0, defaultHeaders });
  return { ...server, openai: as(headers), as };
}

/** The annotations of a whole response, each with the words that it stands at. */
function marksOf(response: OpenAI.Responses.Response) {
  const [message] = response.output;
  if (message?.type !== "message") throw new Error("no message");
  const [part] = message.content;
  if (part?.type !== "output_text") throw new Error("no text");
  return part.annotations.map((annotation) => {
    if (annotation.type !== "url_citation") throw new Error(annotation.type);
    return [annotation.url, annotation.title, part.text.slice(annotation.start_index, annotation.end_index)];
  });
}

describe("the client of OpenAI, by its Responses API,", () => {
  test("gets a cited answer with its usage", async () => {
    const { openai } = await client();
    const response = await openai.responses.create({ model: "citewell", input: question });
    expect(response.output_text).toMatch(/API keys expire after 90 days\.[^]* \[1\]$/);
    expect(marksOf(response)).toEqual([["https://docs.example/keys", "Keys", "[1]"]]);
    expect(response).toMatchObject({ status: "completed", model: "citewell", error: null, incomplete_details: null });
    expect(response.usage!.total_tokens).toBe(response.usage!.input_tokens + response.usage!.output_tokens);
  });

  test("gets the same answer as a stream, whose events are numbered without a gap", async () => {
    const { openai } = await client();
    const stream = await openai.responses.create({ model: "citewell", input: question, stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, position) => position));
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 4)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
    ]);
    expect(types.slice(-4)).toEqual([
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const text = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
    const last = events.at(-1)!;
    if (last.type !== "response.completed") throw new Error(last.type);
    const whole = await openai.responses.create({ model: "citewell", input: question, store: false });
    expect(text).toBe(whole.output_text);
    expect(last.response.output).toEqual([{ ...whole.output[0], id: expect.stringMatching(/^msg_/) as string }]);
    expect(types.filter((type) => type === "response.output_text.annotation.added")).toHaveLength(1);
  });

  test("goes on by the id of the answer before, which knows what was said", async () => {
    const { openai, kb } = await client();
    const first = await openai.responses.create({ model: "citewell", input: question });
    const second = await openai.responses.create({
      model: "citewell",
      input: "Who renews the API keys?",
      previous_response_id: first.id,
    });
    expect(second.output_text).toContain("Ada renews them.");
    expect(second.previous_response_id).toBe(first.id);
    const [conversation, ...others] = await kb.conversations();
    expect(others).toEqual([]);
    expect(conversation).toMatchObject({ exchanges: 2 });
    expect(await openai.responses.retrieve(second.id)).toMatchObject({ id: second.id, output: second.output });

    const aside = await openai.responses.create({
      model: "citewell",
      input: "When are the locks oiled?",
      previous_response_id: first.id,
    });
    expect(aside.output_text).toContain("May");
    const kept = await kb.conversations();
    expect(kept.map(({ exchanges }) => exchanges)).toEqual([2, 2]);
    expect(await openai.responses.retrieve(second.id)).toMatchObject({ output: second.output });
  });

  test("keeps what is not to be kept to itself", async () => {
    const { openai, kb } = await client();
    const alone = await openai.responses.create({ model: "citewell", input: question, store: false });
    const carried = await openai.responses.create({
      model: "citewell",
      instructions: "Answer in one sentence.",
      input: [
        { role: "user", content: question },
        { role: "assistant", content: "API keys expire after 90 days. [1]" },
        { role: "user", content: [{ type: "input_text", text: "Who renews the API keys?" }] },
      ],
    });
    expect(carried.output_text).toContain("Ada renews them.");
    expect(await kb.conversations()).toEqual([]);
    for (const { id } of [alone, carried]) {
      await expect(openai.responses.retrieve(id)).rejects.toMatchObject({ status: 404, code: "not-found" });
      const next = { model: "citewell", input: "And?", previous_response_id: id };
      await expect(openai.responses.create(next)).rejects.toMatchObject({ status: 404, code: "not-found" });
    }
  });

  test("goes on by references to the messages before, whether a conversation keeps them or not", async () => {
    const { openai, kb, as } = await client({
      access: (request) => ({ owner: request.headers.get("x-who") ?? "ada" }),
    });
    const said = (text: string) => ({ role: "user" as const, content: text });
    const refer = (response: OpenAI.Responses.Response) => ({
      type: "item_reference" as const,
      id: response.output[0]!.id!,
    });
    const ask = (...input: OpenAI.Responses.ResponseInput) => openai.responses.create({ model: "citewell", input });
    const first = await ask(said(question));
    const second = await ask(said(question), refer(first), said("Who renews the API keys?"));
    expect(second.output_text).toContain("Ada renews them.");
    const [conversation, ...others] = await kb.conversations();
    expect(others).toEqual([]);
    expect(conversation).toMatchObject({ exchanges: 2 });

    const told = [said("Where is the vault?"), { role: "assistant" as const, content: "In the cellar." }];
    const carried = await ask(...told, said("When are the locks oiled?"));
    const next = await ask(...told, said("When are the locks oiled?"), refer(carried), said(question));
    expect(next.output_text).toContain("90 days");
    expect(await kb.conversations()).toHaveLength(1);
    const mixed = await ask(said(question), refer(first), said("And?"), refer(carried), said(question));
    expect(mixed.output_text).toContain("90 days");

    const bob = as({ "x-who": "bob" });
    for (const response of [first, carried]) {
      const input = [said(question), refer(response), said("And?")];
      const refused = { status: 404, code: "not-found" };
      await expect(bob.responses.create({ model: "citewell", input })).rejects.toMatchObject(refused);
    }
  });

  test("reads and continues no answers of somebody else", async () => {
    const { as } = await client({ access: (request) => ({ owner: request.headers.get("x-who") ?? "nobody" }) });
    const [ada, bob] = [as({ "x-who": "ada" }), as({ "x-who": "bob" })];
    const { id } = await ada.responses.create({ model: "citewell", input: question });
    await expect(bob.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    const next = { model: "citewell", input: "And?", previous_response_id: id };
    await expect(bob.responses.create(next)).rejects.toMatchObject({ status: 404 });
    expect((await ada.responses.retrieve(id)).id).toBe(id);
  });

  test("stops an answer by leaving it, which is kept as far as it came", async () => {
    const { openai, kb } = await client({}, {}, 60);
    const stream = await openai.responses.create({ model: "citewell", input: question, stream: true });
    for await (const event of stream) if (event.type === "response.output_text.delta") break;
    const kept = async () => {
      const [conversation] = await kb.conversations();
      return (await kb.conversation({ id: conversation!.id }).exchanges())[0]?.answer?.stopped;
    };
    await expect.poll(kept, { timeout: 20_000 }).toBe(true);
  });

  test("is told what an answer cannot be, in words", async () => {
    const { openai } = await client();
    const ask = (more: object) => openai.responses.create({ model: "citewell", input: question, ...more } as never);
    await expect(ask({ model: "gpt-9" })).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    await expect(ask({ text: { format: { type: "json_object" } } })).rejects.toMatchObject({ status: 400 });
    await expect(ask({ tool_choice: "required" })).rejects.toMatchObject({ status: 400 });
    await expect(ask({ background: true })).rejects.toMatchObject({ status: 400 });
    await expect(ask({ previous_response_id: "resp_none" })).rejects.toMatchObject({ status: 404 });
    await expect(
      ask({ input: [{ role: "user", content: [{ type: "input_image", image_url: "data:," }] }] }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining("input_image") as string });
    expect((await openai.responses.create({ model: "citewell", input: question, max_output_tokens: 3 })).status).toBe(
      "incomplete",
    );
  });
});

test("a chat completion that would have to be JSON, or to call the client's tool, is refused", async () => {
  const { openai } = await client();
  const messages = [{ role: "user" as const, content: question }];
  const tools = [{ type: "function" as const, function: { name: "look", parameters: {} } }];
  const ask = (more: object) => openai.chat.completions.create({ model: "citewell", messages, ...more } as never);
  await expect(ask({ response_format: { type: "json_object" } })).rejects.toMatchObject({ status: 400 });
  await expect(ask({ tools, tool_choice: "required" })).rejects.toMatchObject({ status: 400 });
  expect(await ask({ tools, tool_choice: "auto" })).toMatchObject({ choices: [{ finish_reason: "stop" }] });
});
