import { describe, expect, test } from "vitest";
import type { ServiceName } from "../../src/dialects/services.js";
import type { ChatRequest } from "../../src/core/ports.js";
import { collect } from "../../src/core/stream.js";
import { type ChatModelOptions, chatModel } from "../../src/models/chat-model.js";
import { embedder } from "../../src/models/embedder.js";
import { failure, streamed, transportFor, vectors } from "../support/transport-for.js";

const schema = { type: "object", properties: { queries: { type: "array" } } };
const ask: ChatRequest = { messages: [{ role: "user", content: "In JSON?" }] };

async function sent(service: ServiceName, request: ChatRequest, options: Partial<ChatModelOptions> = {}) {
  const { transport, upstream } = await transportFor([streamed("{}")], { service });
  await collect(chatModel(transport, { model: "c", ...options }).stream(request));
  return upstream.requests[0]!.body as Readonly<Record<string, unknown>>;
}

describe("a chat model of another service", () => {
  test("is held to a schema where the service can, and asked for JSON where it cannot", async () => {
    const request = { ...ask, format: "json" as const, schema };
    expect((await sent("contract", request))["response_format"]).toEqual({ type: "json_object" });
    expect((await sent("openai", request))["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "reply", schema },
    });
    expect((await sent("cohere", request))["response_format"]).toEqual({ type: "json_object", schema });
  });

  test("is asked again without the schema when the service refuses it", async () => {
    const refusal = { status: 400, json: { error: { message: "Unsupported keyword in schema", type: "bad_request" } } };
    const { transport, upstream } = await transportFor([refusal, streamed("{}")], { service: "vllm" });
    await collect(chatModel(transport, { model: "c" }).stream({ ...ask, format: "json", schema }));
    expect(upstream.requests.map(({ body }) => (body as { response_format: object }).response_format)).toEqual([
      { type: "json_schema", json_schema: { name: "reply", schema } },
      { type: "json_object" },
    ]);
  });

  test("is asked once from then on, unless the refusal had another reason than the schema", async () => {
    const refusal = { status: 400, json: { error: { message: "Unsupported", type: "bad_request" } } };
    const script = [refusal, refusal, refusal, streamed("{}"), streamed("{}"), streamed("{}")];
    const { transport, upstream } = await transportFor(script, { service: "vllm" });
    const model = chatModel(transport, { model: "c" });
    const request = { ...ask, format: "json" as const, schema };
    expect(await failure(collect(model.stream(request)))).toMatchObject({ code: "refused" });
    await collect(model.stream(request));
    await collect(model.stream(request));
    // Another schema may have no such keyword.
    await collect(model.stream({ ...request, schema: { type: "object" } }));
    expect(
      upstream.requests.map(({ body }) => (body as { response_format: { type: string } }).response_format.type),
    ).toEqual(["json_schema", "json_object", "json_schema", "json_object", "json_object", "json_schema"]);
  });

  test("must call a tool where the service can demand it", async () => {
    const tools = [{ name: "clock", parameters: { type: "object" } }];
    const request = { ...ask, tools, toolChoice: "required" as const };
    expect(await sent("mistral", request)).toMatchObject({ tool_choice: "required" });
    for (const service of ["contract", "ollama"] as const) {
      expect(await sent(service, request)).not.toHaveProperty("tool_choice");
    }
  });

  test("has the role tool, no limit of messages and no limit of the contract's for a reply", async () => {
    const { transport } = await transportFor([], { service: "openai" });
    const model = chatModel(transport, { model: "c", contextTokens: 200_000, maxOutputTokens: 64_000 });
    expect(model).toMatchObject({ toolMessages: "role-tool", maxMessages: Infinity, maxOutputTokens: 64_000 });
  });

  test("has Ollama's own context, unless a larger one is named", async () => {
    const { transport } = await transportFor([], { service: "ollama" });
    expect(chatModel(transport, { model: "c" })).toMatchObject({ contextTokens: 4096, maxOutputTokens: 2048 });
    expect(chatModel(transport, { model: "c", contextTokens: 32_768 })).toMatchObject({ contextTokens: 32_768 });
  });

  test("thinks by reasoning_effort, or is refused where there is no field for it", async () => {
    expect(await sent("ollama", ask, { thinking: false })).toMatchObject({ reasoning_effort: "none" });
    const { transport } = await transportFor([], { service: "mistral" });
    expect(() => chatModel(transport, { model: "c", thinking: true })).toThrow(/mistral has no field/);
  });
});

test("an embedder takes the limits of its service, and tells questions from documents", async () => {
  const { transport, upstream } = await transportFor([vectors(1), vectors(1)], { service: "voyage" });
  const embed = embedder(transport, { model: "e", batchSize: 1000 });
  expect(embed).toMatchObject({ maxBatchTexts: 1000, maxBatchTokens: 120_000 });
  await embed.embed(["a"], { purpose: "query" });
  await embed.embed(["a"]);
  const kinds = upstream.requests.map(({ body }) => (body as { input_type: string }).input_type);
  expect(kinds).toEqual(["query", "document"]);
  const tei = await transportFor([], { service: "tei" });
  expect(() => embedder(tei.transport, { model: "e", batchSize: 64 })).toThrow(/tei takes at most 32/);
});

test("tokens that nobody counted are not reported as none", async () => {
  const data = [{ index: 0, embedding: [1, 0] }];
  const { transport } = await transportFor(() => ({ json: { data } }), { service: "vllm" });
  expect((await embedder(transport, { model: "e" }).embed(["a"])).tokens).toBeUndefined();
  expect(await failure(embedder(transport, { model: "e", dimension: 3 }).embed(["a"]))).toMatchObject({
    code: "reply",
  });
});
