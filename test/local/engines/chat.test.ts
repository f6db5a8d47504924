import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChatChunk, ChatReply } from "../../../src/contract/chat.js";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { abstentions, renderSourcedQuestion, systemPrompt } from "../../../src/text/prompt/prompt.js";
import { renderToolResponse } from "../../../src/text/prompt/tool-messages.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import { passagesIn, wordsShown } from "./read-reply.js";
import { eventData, paths, post } from "../conformance.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service.close());

interface Message {
  readonly role: string;
  readonly content: string;
}

async function reply(request: object) {
  const answer = await post(service, paths.chat, { model: "citewell/local-extractive", stream: false, ...request });
  expect(answer.status).toBe(200);
  return ChatReply.parse(answer.body);
}

async function say(messages: readonly Message[], request: object = {}): Promise<string> {
  const { choices } = await reply({ messages, ...request });
  return choices[0]?.message.content ?? "";
}

const keys = "# Keys\n\nThe API key lasts 90 days. Only an administrator may rotate a key.";
const limits = "# Limits\n\n| Plan | Requests a minute |\n| --- | --- |\n| Free | 60 |\n| Team | 600 |";
const settings =
  "## Ports\n\nSet `APP_LISTEN_PORT` to change the port. The default is 8080.\n\n```sh\nnpm run serve\n```";
const chinese = "## 密钥\n\n密钥的有效期为九十天。只有管理员可以更换密钥。";

function sourced(question: string, texts: readonly string[] = [keys, limits, settings, chinese]): Message[] {
  const sources = texts.map((text, index) => ({ number: index + 1, uri: `doc:${index + 1}`, text }));
  return [
    { role: "system", content: systemPrompt(question) },
    { role: "user", content: renderSourcedQuestion({ sources, question }) },
  ];
}

describe("answers from sources", () => {
  test.each([
    ["How long does the API key last?", 1, "The API key lasts 90 days."],
    ["Which environment variable changes the port?", 3, "Set `APP_LISTEN_PORT` to change the port."],
    ["密钥的有效期是多久？", 4, "密钥的有效期为九十天。"],
  ])(
    "%s is answered with the passage that begins with the sentence that says it",
    async (question, source, expected) => {
      const [passage] = passagesIn(await say(sourced(question)));
      expect(passage?.text.startsWith(expected)).toBe(true);
      expect(passage?.source).toBe(source);
      expect(passage?.quote?.startsWith(expected)).toBe(true);
    },
  );

  test("an answer from a table quotes its rows below the names of their columns", async () => {
    const [passage] = passagesIn(await say(sourced("How many requests a minute does the Team plan allow?")));
    expect(passage?.text).toBe(limits.slice("# Limits\n\n".length));
  });

  test("every quote occurs in the source that it cites", async () => {
    const texts = [keys, limits, settings, chinese];
    for (const question of ["How long does a key last?", "What is the default port?", "谁可以更换密钥？"]) {
      const shown = passagesIn(await say(sourced(question)));
      expect(shown.length).toBeGreaterThan(0);
      for (const { source = 0, quote } of shown) expect(texts[source - 1]).toContain(quote);
    }
  });

  test.each([
    ["Who painted the ceiling of the Sistine Chapel?", abstentions.english],
    ["故宫的门票多少钱？", abstentions.chinese],
  ])("%s is not in the sources, and the answer says so", async (question, expected) => {
    expect(await say(sourced(question))).toBe(expected);
  });

  test("numbered blocks and labelled paragraphs are read as sources", async () => {
    const numbered = `[1] The moon is far.\n[2] Keys expire after 90 days.\n\nQuestion: When do keys expire?`;
    expect(await say([{ role: "user", content: numbered }])).toMatch(/\nKeys expire after 90 days\. \[2\]$/);
    const plain = `Context:\nKeys expire after 90 days. The moon is far.\n\nQuestion: When do keys expire?`;
    expect(wordsShown(await say([{ role: "user", content: plain }]))).toMatch(/^Keys expire after 90 days\./);
  });

  test("without sources the engine says that it can only quote", async () => {
    expect(await say([{ role: "user", content: "Tell me a joke" }])).toMatch(/local extractive engine/);
  });

  test("the same request gets the same answer", async () => {
    const messages = sourced("Who may rotate a key?");
    expect(await say(messages)).toBe(await say(messages));
  });
});

describe("reply limits", () => {
  const messages = sourced("How long does the API key last?");

  test("a stop sequence ends the text before it", async () => {
    const { choices } = await reply({ messages, stop: ["nothing", " is connected"] });
    expect(choices[0]).toMatchObject({ message: { content: "No chat model" }, finish_reason: "stop" });
  });

  test.each([1, 3, 7])("max_tokens of %i cuts the text, and the finish reason says so", async (max_tokens) => {
    const whole = await say(messages);
    const { choices, usage } = await reply({ messages, max_tokens });
    const content = choices[0]?.message.content ?? "";
    expect(whole.startsWith(content)).toBe(true);
    expect(defaultTokens.count(content)).toBeLessThanOrEqual(max_tokens);
    expect(choices[0]?.finish_reason).toBe("length");
    expect(usage?.completion_tokens).toBe(defaultTokens.count(content));
  });

  test("n choices are numbered, and their tokens are summed", async () => {
    const one = await reply({ messages });
    const { choices, usage } = await reply({ messages, n: 3 });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(usage?.completion_tokens).toBe(3 * (one.usage?.completion_tokens ?? 0));
  });

  test("JSON mode returns one JSON object", async () => {
    const content = await say(messages, { response_format: { type: "json_object" } });
    expect(JSON.parse(content)).toMatchObject({ answered: true, citations: [{ source: 1 }] });
  });
});

describe("thinking", () => {
  const messages = sourced("How long does the API key last?");
  const thought = async (request: object) =>
    (await reply({ messages, ...request })).choices[0]?.message.reasoning_content;
  const q3 = "citewell/local-extractive-q3";
  const d = "citewell/local-extractive-d";

  test("the Q3 and D families think unless thinking is switched off; other models think when an effort is set", async () => {
    expect(await thought({ model: q3 })).toMatch(/source 1/);
    expect(await thought({ model: q3, enable_thinking: false })).toBeUndefined();
    expect(await thought({ model: d })).toMatch(/source 1/);
    expect(await thought({ model: d, thinking: { type: "disabled" } })).toBeUndefined();
    expect(await thought({})).toBeUndefined();
    expect(await thought({ reasoning_effort: "low" })).toMatch(/source 1/);
    expect(await thought({ reasoning_effort: "none" })).toBeUndefined();
  });

  test("the thinking budget cuts the reasoning and leaves the answer whole", async () => {
    const { choices, usage } = await reply({ messages, model: q3, thinking_budget: 5 });
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(5);
    expect(choices[0]).toMatchObject({ message: { content: await say(messages) }, finish_reason: "stop" });
  });
});

describe("tools", () => {
  const weather = {
    type: "function",
    function: {
      name: "get_weather",
      description: "Weather of a city",
      parameters: {
        type: "object",
        properties: {
          city: { type: "string" },
          unit: { type: "string", enum: ["celsius", "fahrenheit"] },
          days: { type: "integer", minimum: 1, maximum: 7 },
        },
        required: ["city", "unit"],
      },
    },
  };
  const asking = { role: "user", content: "What is the weather in New York for 3 days, in fahrenheit?" };

  test("the tool that matches the question is called with arguments that satisfy its schema", async () => {
    const { choices } = await reply({ messages: [asking], tools: [weather] });
    const call = choices[0]?.message.tool_calls?.[0];
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    expect(call?.function?.name).toBe("get_weather");
    expect(JSON.parse(String(call?.function?.arguments))).toEqual({ city: "New York", unit: "fahrenheit", days: 3 });
  });

  test("a tool is not called for a question on another subject", async () => {
    const { choices } = await reply({ messages: sourced("How long does the API key last?"), tools: [weather] });
    expect(choices[0]?.finish_reason).toBe("stop");
    expect(choices[0]?.message.tool_calls).toBeUndefined();
  });

  test("a tool result is reported, and the tool is not called again", async () => {
    const result = renderToolResponse({
      id: "call_1",
      name: "get_weather",
      arguments: "{}",
      result: { content: '{"degrees":21,"sky":"clear"}' },
    });
    const messages = [asking, { role: "assistant", content: "" }, { role: "user", content: result }];
    const { choices } = await reply({ messages, tools: [weather] });
    expect(choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "get_weather says: degrees: 21, sky: clear" },
    });
  });
});

test("a follow-up is rewritten as a standalone question on request", async () => {
  const messages = [
    { role: "system", content: "Rewrite the last question as a standalone question." },
    { role: "user", content: "How do I configure the batch processor?" },
    { role: "assistant", content: "With a file." },
    { role: "user", content: "What is its default?" },
  ];
  expect(await say(messages)).toMatch(/^What is its default \(about .*batch processor.*\)\?$/);
});

test("a picture is described from its file", async () => {
  const gif = "data:image/gif;base64,R0lGODlhCgAUAAAAACw=";
  const content = [{ type: "image_url", image_url: { url: gif } }];
  const messages = [{ role: "user", content }];
  const answer = await post(service, paths.chat, { model: "citewell/local-look", messages });
  expect(ChatReply.parse(answer.body).choices[0]?.message.content).toMatch(/GIF file of 10 by 20 pixels/);
});

describe("streams", () => {
  const messages = sourced("How long does the API key last?");
  const model = "citewell/local-extractive-q3";

  test("a text model streams by default, in the order role, thinking, content, finish, [DONE]", async () => {
    const { headers, text } = await post(service, paths.chat, { model, messages });
    expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const data = eventData(text);
    expect(data.at(-1)).toBe("[DONE]");
    const chunks = data.slice(0, -1).map((one) => ChatChunk.parse(JSON.parse(one)));
    const kinds = chunks.map(({ choices }) => {
      const { delta, finish_reason } = choices?.[0] ?? {};
      if (finish_reason) return "finish";
      return delta?.role ? "role" : delta?.reasoning_content ? "thinking" : "content";
    });
    expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual(["role", "thinking", "content", "finish"]);
    expect(chunks.filter(({ usage }) => usage).length).toBe(1);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0);
  });

  test("the deltas of a stream add up to the whole reply", async () => {
    const whole = (await reply({ model, messages })).choices[0]?.message;
    const { text } = await post(service, paths.chat, { model, messages, n: 2 });
    const chunks = eventData(text)
      .slice(0, -1)
      .map((one) => ChatChunk.parse(JSON.parse(one)).choices?.[0]);
    for (const index of [0, 1]) {
      const own = chunks.filter((choice) => choice?.index === index).map((choice) => choice?.delta);
      expect(own.map((delta) => delta?.content ?? "").join("")).toBe(whole?.content);
      expect(own.map((delta) => delta?.reasoning_content ?? "").join("")).toBe(whole?.reasoning_content);
    }
  });

  test("a stream ends when its reader disconnects, and the service can close", async () => {
    const slow = await startLocalService({ eventDelayMs: 20, apiKey: "right" });
    const leaving = new AbortController();
    const response = await fetch(slow.url + paths.chat, {
      method: "POST",
      headers: { authorization: "Bearer right" },
      body: JSON.stringify({ model, messages }),
      signal: leaving.signal,
    });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    leaving.abort();
    await expect(reader?.read()).rejects.toThrow("aborted");
    await slow.close();
    await expect(fetch(slow.url)).rejects.toThrow("fetch failed");
  });
});
