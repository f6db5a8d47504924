import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, stepCountIs, streamText, wrapLanguageModel } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  collect,
  collectAnswer,
  createTransport,
  type KnowledgeBase,
  openKnowledgeBase,
  type Transport,
} from "citewell";
import { aiSdkProvider, citedAnswers, type CitedAnswersOptions, knowledgeBaseTool } from "citewell/ai-sdk";
import { localDefaults, type LocalService, startLocalService } from "citewell/local";
import { chunk, streamed, transportFor } from "../support/transport-for.js";

// The warnings are tested as values.
globalThis.AI_SDK_LOG_WARNINGS = false;

let service: LocalService;
let transport: Transport;
let kb: KnowledgeBase;
let folder: string;
beforeAll(async () => {
  service = await startLocalService();
  transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  folder = await mkdtemp(join(tmpdir(), "citewell-test-"));
  kb = await openKnowledgeBase({ path: folder, transport, models: localDefaults });
  await kb.ingest([
    { uri: "https://example.org/keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." },
    { uri: "note:doors", text: "The doors open at nine.", metadata: { tenant: "south" } },
  ]);
});
afterAll(async () => {
  await kb.close();
  await transport.close();
  await service.close();
  await rm(folder, { recursive: true });
});

const question = "When do API keys expire?";
const local = () => aiSdkProvider(transport).languageModel(localDefaults.chat);
const cited = (options?: CitedAnswersOptions, model = local()) =>
  wrapLanguageModel({ model, middleware: citedAnswers(kb, options) });

describe("citedAnswers", () => {
  test("gives the knowledge base's own answer, whole and streamed, with each citation as a checked source", async () => {
    const native = await collectAnswer(kb.ask(question));
    const whole = await generateText({ model: cited(), prompt: question });
    const { fullStream } = streamText({ model: cited(), prompt: question });
    const parts = await collect(fullStream);
    const streamedText = parts.flatMap((part) => (part.type === "text-delta" ? [part.text] : [])).join("");
    expect([whole.text, streamedText]).toEqual([native.text, native.text]);
    const citations = native.citations.map(({ title, ...citation }) => (expect(title).toBe("Keys"), citation));
    expect(citations).toMatchObject([{ quote: "API keys expire after 90 days. Ada renews them.", supported: true }]);
    const sources = parts.filter((part) => part.type === "source");
    expect(sources.map(({ providerMetadata }) => providerMetadata!["citewell"])).toEqual(citations);
    expect(whole.sources).toMatchObject([{ sourceType: "url", url: "https://example.org/keys", title: "Keys" }]);
    expect(whole.providerMetadata!["citewell"]).toMatchObject({ answered: true });
  });

  test("marks a quotation that is not in the document", async () => {
    const { transport: own } = await transportFor([streamed('Keys expire after 30 days [1: "after 30 days"].')]);
    const { sources } = await generateText({
      model: cited({}, aiSdkProvider(own).languageModel("test/chat")),
      prompt: question,
    });
    expect(sources).toMatchObject([{ providerMetadata: { citewell: { supported: false } } }]);
  });

  test("ends as the model ended, and lets it write no more than the caller wants", async () => {
    const ends = async (deltas: readonly object[], reason: string, options?: CitedAnswersOptions) => {
      const { transport: own, upstream } = await transportFor(() => ({
        sse: [...deltas.map((delta) => chunk(delta)), chunk({}, { finish_reason: reason }), "[DONE]"],
      }));
      const model = cited(options, aiSdkProvider(own).languageModel("test/chat"));
      const { finishReason, text } = await generateText({ model, prompt: question, maxOutputTokens: 100 });
      const { max_tokens: limit } = upstream.requests.at(-1)!.body as { readonly max_tokens: number };
      return { finishReason, text, limit };
    };
    const said = [{ content: "Keys expire" }];
    expect(await ends(said, "stop")).toEqual({ finishReason: "stop", text: "Keys expire", limit: 100 });
    expect(await ends(said, "length")).toEqual({ finishReason: "length", text: "Keys expire", limit: 100 });
    const thought = await ends([{ reasoning_content: "Well" }], "length", { answer: { maxReplyTokens: 30 } });
    expect(thought).toEqual({ finishReason: "length", text: "", limit: 30 });
    expect(await ends([], "content_filter")).toMatchObject({ finishReason: "content-filter", text: "" });
  });

  test("says so when the documents do not hold the answer", async () => {
    const { text, providerMetadata, sources } = await generateText({
      model: cited({ search: { filter: { metadata: { tenant: "north" } } } }),
      prompt: question,
    });
    expect(providerMetadata!["citewell"]).toMatchObject({ answered: false });
    expect({ text, sources }).toEqual({ text: expect.stringContaining("do not"), sources: [] });
  });

  test("hands system messages on as instructions, and earlier messages to what condenses a follow-up", async () => {
    const replies = [streamed("When do the doors open?"), streamed("At nine [1].")];
    const { transport: own, upstream } = await transportFor(replies);
    const { text } = await generateText({
      model: cited({}, aiSdkProvider(own).languageModel("test/chat")),
      system: "Answer in verse.",
      messages: [
        { role: "user", content: "Where are the doors?" },
        { role: "assistant", content: "In the hall." },
        { role: "user", content: "And when do they open?" },
      ],
    });
    expect(text).toContain("At nine");
    const [condensing, answering] = upstream.requests.map(({ body }) => JSON.stringify(body));
    expect(condensing).toContain("In the hall.");
    expect(answering).toContain("Answer in verse.");
    expect(answering).toContain("The doors open at nine.");
  });

  test("warns that tools of the AI SDK are left out", async () => {
    const tools = { search: knowledgeBaseTool(kb) };
    const { warnings } = await generateText({ model: cited(), prompt: question, tools });
    expect(warnings).toMatchObject([{ type: "unsupported", feature: "tools" }]);
  });

  test("fails as the model fails, and ends with the caller's abort", async () => {
    const { transport: own } = await transportFor(() => ({ status: 401 }));
    const refused = cited({}, aiSdkProvider(own).languageModel("test/chat"));
    await expect(generateText({ model: refused, prompt: question })).rejects.toMatchObject({ code: "unauthorized" });
    const { transport: silent, upstream } = await transportFor([{ hang: true }]);
    const stop = new AbortController();
    const asked = generateText({
      model: cited({}, aiSdkProvider(silent).languageModel("test/chat")),
      prompt: question,
      abortSignal: stop.signal,
    });
    asked.catch(() => {});
    await expect.poll(() => upstream.requests.length).toBe(1);
    stop.abort();
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    expect(await upstream.requests[0]!.end).toBe("closed");
  });
});

describe("knowledgeBaseTool", () => {
  const call = {
    sse: [
      {
        id: "c1",
        model: "test/chat",
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [
                {
                  index: 0,
                  id: "call_1",
                  type: "function",
                  function: { name: "search", arguments: JSON.stringify({ query: "key expiry" }) },
                },
              ],
            },
            finish_reason: "tool_calls",
          },
        ],
      },
      "[DONE]",
    ],
  };

  test("finds what search finds, and the model reads it", async () => {
    const { transport: own, upstream } = await transportFor([call, streamed("After 90 days.")]);
    const { text, steps } = await generateText({
      model: aiSdkProvider(own).languageModel("test/chat"),
      prompt: question,
      tools: { search: knowledgeBaseTool(kb, { count: 1 }) },
      stopWhen: stepCountIs(3),
    });
    expect(text).toBe("After 90 days.");
    const { hits } = await kb.search("key expiry", { count: 1 });
    const { uri, title, line, chunk: found } = hits[0]!;
    expect(steps[0]!.toolResults[0]!.output).toEqual({ passages: [{ uri, title, line, text: found.text }] });
    expect(JSON.stringify(upstream.requests[1]!.body)).toContain("API keys expire after 90 days.");
  });

  test("stays within a scope", async () => {
    const { execute } = knowledgeBaseTool(kb.scoped({ metadata: { tenant: "south" } }));
    const { passages } = await execute({ query: question }, {});
    expect(passages.map(({ uri }) => uri)).toEqual(["note:doors"]);
  });

  test("ends with the caller's abort", async () => {
    const { execute } = knowledgeBaseTool(kb);
    const abortSignal = AbortSignal.abort(new Error("enough"));
    await expect(execute({ query: question }, { abortSignal })).rejects.toThrow("enough");
  });

  test("takes the arguments that its schema says", () => {
    const schema = z.toJSONSchema(knowledgeBaseTool(kb).inputSchema);
    expect(schema).toMatchObject({ type: "object", required: ["query"] });
  });
});
