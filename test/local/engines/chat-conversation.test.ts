import { describe, expect, test } from "vitest";
import { chatEngine } from "../../../src/local/engines/chat/chat-engine.js";
import type { ChatPrompt, EngineTool } from "../../../src/local/engines/engines.js";
import { passagesIn } from "./read-reply.js";
import { abstentions, renderSourcedQuestion, systemPrompt } from "../../../src/text/prompt/prompt.js";

const call = { model: { id: "chat", type: "llm" }, signal: new AbortController().signal } as const;
const message = (role: "system" | "user", text: string) => ({ role, text, images: [] });

async function draft(prompt: Partial<ChatPrompt> & Pick<ChatPrompt, "messages">) {
  return chatEngine().draft({ tools: [], json: false, thinks: false, ...prompt }, call);
}

async function ask(question: string, ...texts: readonly string[]): Promise<string> {
  const sources = texts.map((text, index) => ({ number: index + 1, uri: `doc:${index + 1}`, text }));
  const asking = message("user", renderSourcedQuestion({ sources, question }));
  return (await draft({ messages: [message("system", systemPrompt(question)), asking] })).content;
}

const say = async (text: string) => (await draft({ messages: [message("user", text)] })).content;

const keys =
  "# Keys\n\nAPI keys expire after 90 days. Hello is printed by the greeting page. Who you are is shown at the top.";
const limits = "# Limits\n\nThe Team plan allows 600 requests a minute. Thanks to caching, repeated calls are free.";

describe("words of a conversation", () => {
  test.each([
    ["Hello", /^Hello\./],
    ["hi there!", /^Hello\./],
    ["Good morning", /^Hello\./],
    ["你好", /^你好/],
    ["Thanks a lot!", /welcome/],
    ["ok, thank you", /welcome/],
    ["谢谢", /不客气/],
    ["Goodbye", /^Goodbye/],
    ["Who are you?", /local extractive engine/],
    ["What can you do?", /local extractive engine/],
    ["Hello, who are you?", /local extractive engine/],
    ["你是谁？", /摘录引擎/],
  ])("%s gets a short reply and no quote, with sources and without", async (said, expected) => {
    for (const reply of [await say(said), await ask(said, keys, limits)]) {
      expect(reply).toMatch(expected);
      expect(reply).not.toMatch(/\[\d/);
      expect(reply.length).toBeLessThan(200);
    }
  });

  test.each([
    ["Thanks!", ["How long do API keys last?"], "Thanks!"],
    ["ok, thank you", ["How long do API keys last?"], "ok, thank you"],
    ["谢谢", ["密钥多久过期？"], "谢谢"],
    ["And for admins?", ["How long do API keys last?", "Thanks a lot!"], "And for admins (about API keys)?"],
    ["And for admins?", ["Hello there!"], "And for admins?"],
    ["Summarise it", ["What rotates?", "Hi!"], "Summarise it"],
    ["Summarise it", ["Where are keys kept?", "When does it rotate?"], "Summarise it (about keys kept)?"],
    ["Summarise it", ["Who rotates the API keys?", "Thanks"], "Summarise it (about API keys)?"],
    ["Summarise it", ["When do API keys expire?"], "Summarise it (about API keys)?"],
    ["And then?", ["How do I rotate keys of the admin console?"], "And then (about keys of the admin console)?"],
  ])(
    "%s, rewritten after %j, is %s: neither small talk nor a verb alone is a subject",
    async (said, earlier, expected) => {
      const asking = message("user", renderSourcedQuestion({ sources: [], question: said }));
      const rewrite = message("system", "Rewrite the question in <question> as one standalone question.");
      const messages = [rewrite, ...earlier.map((text) => message("user", text)), asking];
      expect((await draft({ messages })).content).toBe(expected);
    },
  );

  test("a question behind a greeting is answered", async () => {
    expect(await ask("Hello! When do API keys expire?", keys, limits)).toContain("API keys expire after 90 days.");
  });

  test.each(["Why?", "What time is it?", "What is it?", "And?", "???", "为什么？"])(
    "%s holds nothing to look for, and nothing is quoted",
    async (question) => {
      const text = "That is why it is so. The next time is the best one. What it is, is it. 为什么是这样。";
      expect(Object.values(abstentions)).toContain(await ask(question, text));
    },
  );
});

describe("summaries", () => {
  test.each([
    "Summarise the documents.",
    "Please give me a short summary of this.",
    "What is this document about?",
    "总结一下",
  ])("%s is answered with the passages that the sources begin with", async (question) => {
    const shown = passagesIn(await ask(question, keys, limits));
    expect(shown.map(({ source }) => source)).toEqual([1, 2]);
    expect(shown[0]?.text).toMatch(/^API keys expire after 90 days\./);
    expect(shown[1]?.text).toMatch(/^The Team plan allows 600 requests a minute\./);
  });

  test("a summary of one subject quotes the source on it", async () => {
    const sources = async (question: string) =>
      passagesIn(await ask(question, keys, limits)).map(({ source }) => source);
    expect(await sources("Summarise the limits of the Team plan")).toEqual([2]);
    expect(await sources("Can you give me an overview of caching?")).toEqual([2]);
    expect(await ask("Summarise the history of Portugal", keys, limits)).toBe(abstentions.english);
  });

  test("a text in the message itself is summarised", async () => {
    const text = `The mill at Hollberg was built in 1820 by Anna Brandt. ${"It has a large wheel and a small garden. ".repeat(4)}`;
    for (const asked of [`Summarise: ${text}`, `Summarize the following text:\n\n${text}`]) {
      expect(passagesIn(await say(asked))[0]?.text).toMatch(/^The mill at Hollberg was built in 1820 by Anna Brandt\./);
    }
  });
});

describe("quotes of marked-up text", () => {
  test.each([
    [
      "within a link",
      'The renewal guide is [the long manual "Renewing keys"](https://a.example/renewing) of the house.',
    ],
    [
      "within a link of two sentences",
      "The renewal guide is [in the manual. It is long](https://a.example/m) and free.",
    ],
    ["within emphasis", "The renewal guide is **in the manual. It is long** and free."],
    ["before the end of emphasis", "The renewal guide is **long**"],
    ["within code", 'The renewal guide is `man["renew"] now` and free.'],
    [
      "within a long link",
      `The renewal guide is ${"here and there and ".repeat(40)}[in the manual of keys](https://a.example/m).`,
    ],
  ])("never begin or end %s", async (_, text) => {
    const answer = await ask("Where is the renewal guide?", `# Renewal\n\n${text}`);
    const quotes = passagesIn(answer).map(({ quote = "" }) => quote);
    expect(quotes.length).toBeGreaterThan(0);
    for (const quote of quotes) {
      const rest = quote.replace(/\[[^\]]*\]\([^)]*\)|\*\*[^*]+\*\*|`[^`]+`/g, "");
      expect(rest).not.toMatch(/[[\]*`]|\(https?:/);
    }
  });
});

describe("tools that write", () => {
  const tool = (name: string, description: string): EngineTool => ({
    name,
    description,
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  });
  const called = async (question: string, prompt: Partial<ChatPrompt>) =>
    (await draft({ messages: [message("user", question)], ...prompt })).toolCalls.map(({ name }) => name);

  test.each([
    ["send_email", "Sends an email to a customer"],
    ["orders", "Looks an order up, and deletes it when the customer asks for it"],
    ["customer_email", "Create or update the email of a customer"],
    ["deleteCustomer", ""],
    ["客户邮件", "给客户发送邮件"],
  ])("%s is not called because its words stand in the question", async (name, description) => {
    const question = `Which customer wrote the email on the order? ${name} 客户邮件是什么`;
    expect(await called(question, { tools: [tool(name, description)] })).toEqual([]);
  });

  test("a tool whose name holds a noun that could be such a verb is called", async () => {
    const status = tool("order_status", "Looks up the delivery status of an order by its number, or of a post");
    expect(await called("What is the status of my order 12?", { tools: [status] })).toEqual(["order_status"]);
    const last = tool("get_last_update", "The last update of the site");
    expect(await called("When was the last update of the site?", { tools: [last] })).toEqual(["get_last_update"]);
  });

  test("a tool that only reads is called", async () => {
    const reads = tool("find_email", "Finds the emails that a customer sent since a date, newest update first");
    expect(await called("Which email did the customer send?", { tools: [reads] })).toEqual(["find_email"]);
  });

  test("the choice of the caller is followed", async () => {
    const tools = [tool("send_email", "Sends an email"), tool("get_weather", "Weather of a city")];
    const asked = "Send an email now";
    expect(await called(asked, { tools, toolChoice: "required" })).toEqual(["send_email"]);
    expect(await called(asked, { tools, toolChoice: { name: "get_weather" } })).toEqual(["get_weather"]);
    expect(await called("What is the weather?", { tools, toolChoice: "none" })).toEqual([]);
    expect(await called("What is the weather?", { tools })).toEqual(["get_weather"]);
  });
});
