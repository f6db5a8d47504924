import { describe, expect, test } from "vitest";
import { bothServices } from "./both-services.js";

const question = "Context: API keys expire after 90 days. Ada renews them.\n\nWhen do API keys expire?";

/** A request as a program sends it, and what it does with the lines of the reply. */
interface Program {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (model: string) => object;
}

/**
 * Bodies and headers as the sources of these programs write them: fields, their order and their values.
 */
const programs: Readonly<Record<string, Program>> = {
  // app/client/platforms/openai.ts
  NextChat: {
    headers: { accept: "application/json" },
    body: (model) => ({
      messages: [
        { role: "system", content: "\nYou are ChatGPT, a large language model trained by OpenAI.\nCurrent model: m\n" },
        { role: "user", content: question },
      ],
      stream: true,
      model,
      temperature: 0.5,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_p: 1,
    }),
  },
  // backend/open_webui/routers/openai.py
  "Open WebUI": {
    headers: {
      "X-OpenWebUI-User-Name": "Ada",
      "X-OpenWebUI-User-Id": "0b2f6f0e",
      "X-OpenWebUI-User-Email": "ada@example.com",
      "X-OpenWebUI-User-Role": "user",
    },
    body: (model) => ({
      stream: true,
      model,
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Hello! What would you like to know?" },
        { role: "user", content: question },
      ],
      stream_options: { include_usage: true },
    }),
  },
  // packages/model-runtime/src/core/openaiCompatibleFactory/index.ts
  LobeChat: {
    headers: { accept: "*/*" },
    body: (model) => ({
      messages: [
        { content: "You are a helpful assistant.", role: "system" },
        { content: [{ text: question, type: "text" }], role: "user" },
      ],
      model,
      frequency_penalty: 0,
      presence_penalty: 0,
      temperature: 1,
      top_p: 1,
      stream: true,
      stream_options: { include_usage: true },
      user: "user-1",
    }),
  },
};

const cases = Object.entries(programs).flatMap(([program, how]) =>
  Object.entries(bothServices).map(([name, start]) => ({ program, ...how, name, start })),
);

describe.each(cases)("$program, at $name,", ({ headers, body, start }) => {
  test("reads the models, and an answer from the lines of its stream", async () => {
    const { url, apiKey, model } = await start();
    const sent = { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers };
    const models = (await (await fetch(`${url}/v1/models`, { headers: sent })).json()) as {
      readonly data: readonly { readonly id: string; readonly object: string }[];
    };
    expect(models.data).toContainEqual(expect.objectContaining({ id: model, object: "model" }));
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: sent,
      body: JSON.stringify(body(model)),
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toContain("text/event-stream");
    const lines = (await reply.text()).split("\n").filter((line) => line.startsWith("data: "));
    expect(lines.at(-1)).toBe("data: [DONE]");
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice("data: ".length)) as Chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta?.content ?? "").join("")).toContain("90 days");
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(["stop"]);
    const asksForUsage = "stream_options" in body(model);
    expect(chunks.some(({ usage }) => (usage?.total_tokens ?? 0) > 0)).toBe(asksForUsage);
  });

  test("asks for a title without a stream, as such programs do after the first answer", async () => {
    const { url, apiKey, model } = await start();
    const sent = { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers };
    const content =
      "### Task:\nGenerate a concise, 3-5 word title summarizing the chat history.\n### Chat History:\n" +
      `<chat_history>\nUSER: ${question}\nASSISTANT: API keys expire after 90 days.\n</chat_history>`;
    const request = { model, messages: [{ role: "user", content }], stream: false, max_completion_tokens: 1000 };
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: sent,
      body: JSON.stringify(request),
    });
    expect(reply.status).toBe(200);
    const { choices } = (await reply.json()) as { readonly choices: readonly { readonly message: object }[] };
    expect(choices[0]!.message).toMatchObject({ role: "assistant", content: expect.stringMatching(/\S/) as string });
  });
});

test.each(Object.entries(bothServices))("LobeChat reads a response's stream, at %s", async (_, start) => {
  const { url, apiKey, model } = await start();
  const reply = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      model,
      temperature: 1,
      top_p: 1,
      user: "user-1",
      input: [
        { content: "You are a helpful assistant.", role: "system" },
        { content: [{ text: question, type: "input_text" }], role: "user" },
      ],
      store: false,
      stream: true,
    }),
  });
  expect(reply.status).toBe(200);
  const text = await reply.text();
  expect(text.match(/^event: .*$/gm)?.at(-1)).toBe("event: response.completed");
  expect(text).toContain("90 days");
});

interface Chunk {
  readonly choices: readonly {
    readonly delta?: { readonly content?: string };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly total_tokens: number } | null;
}
