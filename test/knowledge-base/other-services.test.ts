import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { ServiceName } from "../../src/dialects/services.js";
import { Pipeline } from "../../src/core/pipeline.js";
import { collect } from "../../src/core/stream.js";
import { tool } from "../../src/core/tool.js";
import type { Question } from "../../src/core/types.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { chatModel } from "../../src/models/chat-model.js";
import { embedder } from "../../src/models/embedder.js";
import { answer, collectAnswer } from "../../src/stages/answering/answer.js";
import { embedQuestion } from "../../src/stages/questions/embed-question.js";
import { hyde, multiQuery } from "../../src/stages/questions/query-variants.js";
import { search } from "../../src/stages/retrieval/search.js";
import type { RecordedRequest, ScriptedReply } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { chunk, transportFor } from "../support/transport-for.js";

interface ChatBody {
  readonly max_tokens: number;
  readonly messages: readonly { readonly role: string; readonly content: string; readonly tool_call_id?: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema: object } };
}

const chatBodies = (requests: readonly RecordedRequest[]) =>
  requests.flatMap(({ path, body }) => (path === "/v1/chat/completions" ? [body as ChatBody] : []));

/** Vectors of two numbers: in base64 as OpenAI sends them, or as numbers, as releases of Ollama before that do. */
function vectorsFor({ body }: RecordedRequest, service: ServiceName): ScriptedReply {
  const {
    input,
    model,
    encoding_format: encoding,
  } = body as {
    readonly input: readonly string[];
    readonly model: string;
    readonly encoding_format?: string;
  };
  const data = input.map((text, index) => {
    const vector = [/key/i.test(text) ? 1 : 0.1, /rust/i.test(text) ? 1 : 0.1];
    const inBase64 = service === "openai" && encoding === "base64";
    const embedding = inBase64 ? Buffer.from(Float32Array.from(vector).buffer).toString("base64") : vector;
    return { object: "embedding", index, embedding };
  });
  return { json: { object: "list", data, model, usage: { prompt_tokens: 5, total_tokens: 5 } } };
}

const counts = { id: "c1", model: "c-2026", choices: [], usage: { prompt_tokens: 90, completion_tokens: 9 } };

/** A call of a tool: OpenAI streams its arguments in pieces, Ollama sends the call whole. */
function toolCall(service: ServiceName): ScriptedReply {
  const named = { index: 0, id: "call_1", type: "function" };
  const pieces =
    service === "openai"
      ? [
          chunk({ tool_calls: [{ ...named, function: { name: "clock", arguments: "" } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: '{"zone":' } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: '"UTC"}' } }] }),
        ]
      : [chunk({ tool_calls: [{ ...named, function: { name: "clock", arguments: '{"zone":"UTC"}' } }] })];
  return { sse: [...pieces, chunk({}, { finish_reason: "tool_calls" }), counts, "[DONE]"] };
}

const said = (...texts: readonly string[]): ScriptedReply => ({
  sse: [
    ...texts.map((content) => chunk({ role: "assistant", content })),
    chunk({ content: "" }, { finish_reason: "stop" }),
    counts,
    "[DONE]",
  ],
});

/** A knowledge base over a server that answers as the service does; requests to chat get the replies in turn. */
async function knowledgeBase(service: ServiceName, replies: readonly ScriptedReply[]) {
  let asked = 0;
  const { transport, upstream } = await transportFor(
    (request) =>
      request.path === "/v1/embeddings" ? vectorsFor(request, service) : (replies[asked++] ?? { status: 418 }),
    { service },
  );
  const models = { embedding: "e", chat: "c" };
  const kb = await openKnowledgeBase({ path: await temporaryFolder(), transport, models });
  onTestFinished(() => kb.close());
  const report = await kb.ingest([
    { uri: "keys.md", text: "Ada keeps the key." },
    { uri: "locks.md", text: "Locks rust in winter." },
  ]);
  return { kb, report, transport, upstream };
}

const clock = tool({
  name: "clock",
  description: "Tells the time",
  input: z.object({ zone: z.string() }),
  run: ({ zone }) => `noon in ${zone}`,
});

describe.each<ServiceName>(["openai", "ollama"])("over %s", (service) => {
  test("documents are indexed, a tool is called, and the answer's citation is checked", async () => {
    const reply = said("It is noon, and Ada keeps", ' the key [1: "Ada keeps the key."].');
    const { kb, report, upstream } = await knowledgeBase(service, [toolCall(service), reply]);
    expect(report).toMatchObject({ documents: { added: 2, failed: 0 } });
    const result = await collectAnswer(
      kb.ask("Who keeps the key, and what time is it?", { answer: { tools: [clock] } }),
    );
    expect(result).toMatchObject({
      answered: true,
      model: "test/chat",
      citations: [{ uri: "keys.md", quote: "Ada keeps the key.", supported: true, support: "exact" }],
      usage: { inputTokens: 180, outputTokens: 18 },
      warnings: [],
    });
    const [first, second] = chatBodies(upstream.requests);
    expect(first!.tools!.map((offered) => offered.function.name)).toContain("clock");
    expect(second!.messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: "call_1" });
    expect(second!.messages.at(-1)!.content).toContain("noon in UTC");
  });

  test("an answer that is data follows its schema, and a pipeline of one's own has the same", async () => {
    const value = said(
      '{"citations":[{"source":1,"quote":"Ada keeps the key."}],"answered":true,"answer":{"who":"Ada"}}',
    );
    const { kb, transport, upstream } = await knowledgeBase(service, [value, value]);
    const schema = z.object({ who: z.string() });
    const model = chatModel(transport, { model: "c" });
    const ask = Pipeline.from<Question>()
      .pipe(embedQuestion(embedder(transport, { model: "e" })))
      .pipe(search(kb.store))
      .pipe(answer(model, { schema }));
    const question = "Who keeps the key?";
    for (const events of [kb.ask(question, { answer: { schema } }), ask.stream([{ question }])]) {
      expect(await collectAnswer(events)).toMatchObject({ value: { who: "Ada" }, citations: [{ uri: "keys.md" }] });
    }
    for (const { response_format: format } of chatBodies(upstream.requests)) {
      expect(format).toMatchObject({
        type: "json_schema",
        json_schema: { schema: { properties: { answer: { properties: { who: { type: "string" } } } } } },
      });
    }
  });

  test("a refused schema is not sent with the next question", async () => {
    const refusal = { status: 400, json: { error: { message: "invalid JSON schema", type: "invalid_request_error" } } };
    const value = said('{"citations":[],"answered":true,"answer":{"who":"Ada"}}');
    const { kb, upstream } = await knowledgeBase(service, [refusal, value, value]);
    const schema = z.object({ who: z.string() });
    await collectAnswer(kb.ask("Who keeps the key?", { answer: { schema } }));
    await collectAnswer(kb.ask("Who has the key?", { answer: { schema } }));
    const types = chatBodies(upstream.requests).map(({ response_format: format }) => format!.type);
    expect(types).toEqual(["json_schema", "json_object", "json_object"]);
  });

  test("other wordings and invented passages are asked for by a schema too", async () => {
    const { transport, upstream } = await transportFor([said('{"queries":["a"]}'), said('{"passage":"b"}')], {
      service,
    });
    const model = chatModel(transport, { model: "c" });
    const [asked] = await collect(
      Pipeline.from<Question>()
        .pipe(multiQuery(model))
        .pipe(hyde(model))
        .stream([{ question: "Who?" }]),
    );
    expect(asked!.variants).toEqual([
      { kind: "question", text: "a" },
      { kind: "passage", text: "b" },
    ]);
    const properties = chatBodies(upstream.requests).map(({ response_format: format }) => format?.json_schema?.schema);
    expect(properties).toEqual([
      { type: "object", properties: { queries: { type: "array", items: { type: "string" } } }, required: ["queries"] },
      { type: "object", properties: { passage: { type: "string" } }, required: ["passage"] },
    ]);
  });
});

test.each<[ServiceName, RegExp]>([
  ["ollama", /No chat model is named for ollama at http.*such as --chat-model qwen3 \(or CITEWELL_CHAT_MODEL/],
  ["voyage", /voyage has no chat models: in code, pass a chatModel over another service/],
])("a question over %s without a chat model says what to do", async (service, message) => {
  const { transport } = await transportFor((request) => vectorsFor(request, service), { service });
  const kb = await openKnowledgeBase({ path: await temporaryFolder(), transport, models: { embedding: "e" } });
  onTestFinished(() => kb.close());
  await kb.ingest([{ uri: "keys.md", text: "Ada keeps the key." }]);
  await expect(async () => collectAnswer(kb.ask("Who?"))).rejects.toThrow(message);
});

test("a question over Ollama fits the context that it has unless it was set up for more, since it cuts in silence", async () => {
  const { kb, transport, upstream } = await knowledgeBase("ollama", [said("No.")]);
  const long = Array.from({ length: 400 }, (_, at) => `Rule ${at}: the key number ${at} is kept by Ada.`).join("\n\n");
  await kb.ingest([{ uri: "rules.md", text: long }]);
  await collectAnswer(kb.ask("Who keeps the key?", { count: 40 }));
  const [body] = chatBodies(upstream.requests);
  const { tokens } = chatModel(transport, { model: "c" });
  const sent = body!.messages.reduce((sum, { content }) => sum + tokens.count(content), 0);
  expect(sent).toBeGreaterThan(1000);
  expect(sent + body!.max_tokens).toBeLessThanOrEqual(4096);
});
