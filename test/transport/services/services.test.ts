import { describe, expect, test } from "vitest";
import { type ServiceName, serviceNames, serviceProfile, services } from "../../../src/contract/services/services.js";
import { collect } from "../../../src/core/stream.js";
import type { TransportEvent } from "../../../src/transport/calls/events.js";
import type { TransportOptions } from "../../../src/transport/options.js";
import { type Transport, createTransport } from "../../../src/transport/transport.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";
import { chunk, failure, transportFor, vectors } from "../../support/transport-for.js";
import { type ServiceRow, messages, rows, schemaFormat, tools } from "./service-rows.js";

const key = "sk-0123456789";

async function connected(row: ServiceRow, script: Parameters<typeof scriptedUpstream>[0], more: object = {}) {
  const heard: TransportEvent[] = [];
  const { transport, upstream } = await transportFor(script, {
    service: row.service,
    onEvent: (event) => heard.push(event),
    ...more,
  });
  const warnings = () => heard.flatMap((event) => (event.type === "warning" ? [event.message] : []));
  return { transport: transport as unknown as Transport<"openai">, upstream, warnings };
}

test("every service of the table has a row here", () => {
  expect(rows.map(({ service }) => service)).toEqual(Object.keys(services));
  for (const { service, embeddings, rerank, chat } of rows) {
    const { paths } = serviceProfile(service)!;
    expect([embeddings, rerank, chat].map((exchange) => exchange !== undefined)).toEqual(
      (["embeddings", "rerank", "chat"] as const).map((operation) => operation in paths),
    );
  }
});

function having<Name extends "embeddings" | "rerank" | "chat">(operation: Name) {
  return rows.flatMap((row) => {
    const exchange = row[operation];
    return exchange ? [[row.service, row, exchange] as const] : [];
  });
}

const keyHeadersOf = ({ keyHeaders = { authorization: `Bearer ${key}` } }: ServiceRow) => keyHeaders;

test.each(having("embeddings"))(
  "%s embeds documents and questions as its documentation says",
  async (_, row, exchange) => {
    const { path, body, reply, tokens } = exchange;
    const { transport, upstream } = await connected(row, [reply, reply]);
    const input = ["Keys expire.", "Locks rust."];
    const result = await transport.embeddings({ model: "e", input });
    expect(result.vectors.map((vector) => [...vector])).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(result.usage?.inputTokens).toBe(tokens);
    await transport.embeddings({ model: "e", input }, { purpose: "query" });
    expect(upstream.requests[0]).toMatchObject({ method: "POST", path, headers: keyHeadersOf(row) });
    expect(upstream.requests.map((request) => request.body)).toEqual([body, { ...body, ...row.query }]);
    if (row.keyHeaders) expect(upstream.requests[0]!.headers).not.toHaveProperty("authorization");
  },
);

test.each(having("rerank"))(
  "%s reranks as its documentation says, and has the documents from the request",
  async (_, row, exchange) => {
    const { path, body, reply, tokens } = exchange;
    const { transport, upstream, warnings } = await connected(row, [reply, reply]);
    const request = { model: "r", query: "q", documents: ["a", "b"], top_n: 1 };
    const result = await transport.rerank(request);
    expect(result.results).toEqual([{ index: 1, score: 0.9 }]);
    expect(result.usage?.inputTokens).toBe(tokens);
    const { results } = await transport.rerank({ ...request, return_documents: true });
    expect(results).toEqual([{ index: 1, score: 0.9, document: "b" }]);
    expect(upstream.requests[0]).toMatchObject({ path, headers: keyHeadersOf(row) });
    for (const sent of upstream.requests) expect(sent.body).toEqual(body);
    // A service without counts is warned of once, and its calls have no cost.
    expect(warnings()).toEqual(tokens === undefined ? [expect.stringContaining("no token counts")] : []);
    expect(transport.totals()["r"]).toMatchObject({ uncounted: tokens === undefined ? 2 : 0 });
  },
);

test.each(having("chat"))(
  "%s answers with tools, a schema and a seed, each in the field that it has for it",
  async (_, row, exchange) => {
    const { path, body, reply } = exchange;
    const { transport, upstream } = await connected(row, [reply]);
    const fields: readonly string[] = serviceProfile(row.service)!.chat!.fields;
    const result = await transport.chat({
      model: "c",
      messages: [...messages],
      tools,
      max_tokens: 50,
      temperature: 0.7,
      stop: "END",
      seed: 7,
      response_format: schemaFormat,
      ...(fields.includes("tool_choice") && { tool_choice: "required" as const }),
      ...(fields.includes("parallel_tool_calls") && { parallel_tool_calls: false }),
    });
    expect(upstream.requests[0]).toMatchObject({ path, headers: keyHeadersOf(row) });
    expect(upstream.requests[0]!.body).toEqual(body);
    expect(result).toMatchObject({ text: '{"ok":true}', finishReason: "stop", model: "c-2026" });
    expect(result.usage).toMatchObject({ inputTokens: 12, outputTokens: 4 });
  },
);

test.each(having("chat"))("%s streams an answer, with its usage from the last chunk", async (_, row) => {
  const counts = { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 };
  const { transport, upstream, warnings } = await connected(row, [
    {
      sse: [
        // Azure begins with a chunk about the filter, which has no choice.
        { id: "", model: "", choices: [], prompt_filter_results: [] },
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "Hel" }),
        chunk({ content: "lo" }),
        ...(row.streamUsage === "asked"
          ? [chunk({}, { finish_reason: "stop" }), { id: "c1", model: "c", choices: [], usage: counts }]
          : [{ ...chunk({ content: "" }, { finish_reason: "stop" }), usage: counts }]),
        "[DONE]",
      ],
    },
  ]);
  const events = await collect(transport.chatStream({ model: "c", messages: [{ role: "user", content: "?" }] }));
  expect(events.at(-1)).toMatchObject({
    type: "finish",
    result: { text: "Hello", usage: { inputTokens: 12, outputTokens: 4 } },
  });
  const sent = upstream.requests[0]!.body;
  expect(sent).toEqual({
    model: "c",
    messages: [{ role: "user", content: "?" }],
    stream: true,
    ...(row.streamUsage === "asked" && { stream_options: { include_usage: true } }),
  });
  expect(warnings()).toEqual([]);
});

test.each(having("chat"))(
  "%s gets more messages than the contract admits, and nothing that it does not know",
  async (_, row, exchange) => {
    const { transport, upstream } = await connected(row, [exchange.reply]);
    const long = Array.from({ length: 25 }, (__, at) => ({
      role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: String(at),
    }));
    await transport.chat({ model: "c", messages: long });
    expect(upstream.requests[0]!.body).toMatchObject({ messages: long });
    for (const field of ["enable_thinking", "thinking", "store"]) {
      const error = await failure(transport.chat({ model: "c", messages: long, [field]: true }));
      expect(error).toMatchObject({ code: "request", attempts: 0 });
      expect(String(error)).toContain(`${row.service} has no field "${field}"`);
    }
    const lacking = ["n", "top_k", "min_p", "tool_choice", "parallel_tool_calls", "reasoning_effort"].filter(
      (field) => !(serviceProfile(row.service)!.chat!.fields as readonly string[]).includes(field),
    );
    for (const field of lacking) {
      const error = await failure(transport.chat({ model: "c", messages: long, [field]: 1 }));
      expect(String(error)).toContain(`${row.service} has no field "${field}"`);
    }
    const told = transport.chat({ model: "c", messages: [{ role: "developer", content: "Be brief." }] });
    if (!serviceProfile(row.service)!.chat!.developer) expect(await failure(told)).toMatchObject({ code: "request" });
    else await failure(told);
    expect(upstream.requests).toHaveLength(serviceProfile(row.service)!.chat!.developer ? 2 : 1);
  },
);

test.each(rows.map((row) => [row.service, row] as const))(
  "%s is not asked for what it does not have, unless a path is named",
  async (_, row) => {
    const { transport, upstream } = await connected(row, []);
    const lacking = (["embeddings", "rerank", "chat"] as const).filter((operation) => !row[operation]);
    for (const operation of lacking) {
      const call =
        operation === "rerank" ? { query: "q", documents: ["a"] } : { messages: [{ role: "user", content: "?" }] };
      const error = await failure(transport[operation]({ model: "m", ...call } as never));
      expect(error).toMatchObject({ code: "request" });
      expect(String(error)).toMatch(new RegExp(`${row.service} has no such operation.*paths: \\{ ${operation}`));
    }
    expect(String(await failure(transport.videoTask("t")))).toContain("has no such operation");
    expect(upstream.requests).toHaveLength(0);
    const named = await connected(row, [{ json: { results: [{ index: 0, relevance_score: 1 }] } }], {
      paths: { rerank: "/own/rank" },
    });
    await named.transport.rerank({ model: "r", query: "q", documents: ["a"] });
    expect(named.upstream.requests[0]!.path.split("?")[0]).toMatch(/\/own\/rank$/);
  },
);

describe("errors in a service's own words", () => {
  interface ErrorRow {
    readonly service: ServiceName;
    readonly operation: "embeddings" | "rerank" | "chat";
    readonly status: number;
    readonly json: unknown;
    readonly expected: object;
  }
  const rowsOfErrors: readonly ErrorRow[] = [
    {
      service: "openai",
      operation: "chat",
      status: 404,
      json: {
        error: {
          message: "The model `c` does not exist or you do not have access to it.",
          type: "invalid_request_error",
          param: null,
          code: "model_not_found",
        },
      },
      expected: { code: "unsupported-model" },
    },
    {
      service: "openai",
      operation: "chat",
      status: 429,
      json: {
        error: { message: "You exceeded your current quota.", type: "insufficient_quota", code: "insufficient_quota" },
      },
      expected: { code: "rate-limited", retryable: false, attempts: 1 },
    },
    {
      service: "openai",
      operation: "embeddings",
      status: 400,
      json: {
        error: {
          message: "Invalid 'input': maximum context length is 8192 tokens.",
          type: "invalid_request_error",
          param: null,
          code: null,
        },
      },
      expected: { code: "too-large", maxInputTokens: 8192 },
    },
    {
      service: "azure-openai",
      operation: "chat",
      status: 404,
      json: { error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." } },
      expected: { code: "unsupported-model" },
    },
    {
      service: "ollama",
      operation: "chat",
      status: 404,
      json: {
        error: {
          message: 'model "c" not found, try pulling it first',
          type: "not_found_error",
          param: null,
          code: null,
        },
      },
      expected: { code: "unsupported-model" },
    },
    {
      service: "vllm",
      operation: "chat",
      status: 404,
      json: {
        object: "error",
        message: "The model `c` does not exist.",
        type: "NotFoundError",
        param: null,
        code: 404,
      },
      expected: { code: "unsupported-model" },
    },
    {
      service: "vllm",
      operation: "chat",
      status: 400,
      json: {
        error: {
          message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
          type: "BadRequestError",
          param: null,
          code: 400,
        },
      },
      expected: { code: "context-length" },
    },
    {
      service: "llama.cpp",
      operation: "chat",
      status: 400,
      json: {
        error: {
          code: 400,
          message: "the request exceeds the available context size, try increasing it",
          type: "exceed_context_size_error",
          n_prompt_tokens: 9000,
          n_ctx: 4096,
        },
      },
      expected: { code: "context-length" },
    },
    {
      service: "llama.cpp",
      operation: "embeddings",
      status: 500,
      json: {
        error: {
          code: 500,
          message:
            "input (600 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
          type: "server_error",
        },
      },
      expected: { code: "too-large", maxInputTokens: 512, attempts: 1 },
    },
    {
      service: "llama.cpp",
      operation: "rerank",
      status: 501,
      json: {
        error: {
          code: 501,
          message: "This server does not support reranking. Start it with `--reranking`",
          type: "not_supported_error",
        },
      },
      expected: { code: "upstream", attempts: 1 },
    },
    {
      service: "tei",
      operation: "rerank",
      status: 413,
      json: { error: "batch size 33 > maximum allowed batch size 32", error_type: "Validation" },
      expected: { code: "too-large", maxBatchTexts: 32 },
    },
    {
      service: "tei",
      operation: "embeddings",
      status: 413,
      json: { message: "`inputs` must have less than 512 tokens. Given: 600", code: 413, type: "Validation" },
      expected: { code: "too-large", maxInputTokens: 512 },
    },
    {
      service: "cohere",
      operation: "embeddings",
      status: 404,
      json: {
        id: "1",
        message: "model 'e' not found, make sure the correct model ID was used and that you have access.",
      },
      expected: { code: "unsupported-model" },
    },
    {
      service: "cohere",
      operation: "rerank",
      status: 401,
      json: { id: "1", message: "invalid api token" },
      expected: { code: "unauthorized", message: expect.stringContaining("key of this service") as string },
    },
    {
      service: "jina",
      operation: "embeddings",
      status: 402,
      json: { detail: "Insufficient account balance" },
      expected: { code: "forbidden", message: expect.stringContaining("Insufficient account balance") as string },
    },
    {
      service: "voyage",
      operation: "embeddings",
      status: 400,
      json: { detail: "Model e is not supported. Supported models are ['voyage-3.5']." },
      expected: { code: "unsupported-model" },
    },
    {
      service: "voyage",
      operation: "embeddings",
      status: 400,
      json: {
        detail:
          "Request to model 'e' failed. The max allowed tokens per submitted batch is 120000. Your batch has 130000 tokens after truncation.",
      },
      expected: { code: "too-large" },
    },
    {
      service: "mistral",
      operation: "chat",
      status: 422,
      json: {
        object: "error",
        message: {
          detail: [
            { type: "extra_forbidden", loc: ["body", "top_k"], msg: "Extra inputs are not permitted", input: 5 },
          ],
        },
        type: "invalid_request_error",
        param: null,
        code: null,
      },
      expected: {
        code: "refused",
        message: expect.stringContaining("body.top_k: Extra inputs are not permitted") as string,
      },
    },
    {
      service: "mistral",
      operation: "embeddings",
      status: 400,
      json: { object: "error", message: "Too many tokens overall, split into more batches.", type: "invalid_request" },
      expected: { code: "too-large" },
    },
  ];

  const requests = {
    embeddings: { model: "e", input: ["a"] },
    rerank: { model: "r", query: "q", documents: ["a"] },
    chat: { model: "c", messages: [{ role: "user" as const, content: "?" }] },
  };

  test.each(rowsOfErrors.map((row) => [row.service, row.operation, row.status, row] as const))(
    "%s: %s, status %d",
    async (service, operation, status, { json, expected }) => {
      const { transport } = await transportFor(() => ({ status, json }), { service, maxRetries: 2 });
      expect(await failure(transport[operation](requests[operation] as never))).toMatchObject({ status, ...expected });
    },
  );

  test.each<[ServiceName, "embeddings" | "chat", object]>([
    // Limits of requests and tokens reset separately, in OpenAI's own units.
    [
      "openai",
      "chat",
      {
        status: 429,
        json: { error: { message: "Rate limit reached for requests", type: "requests", code: "rate_limit_exceeded" } },
        headers: { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2ms" },
      },
    ],
    ["azure-openai", "chat", { status: 429, json: { error: { code: "429" } }, headers: { "retry-after-ms": "2" } }],
    [
      "llama.cpp",
      "chat",
      { status: 503, json: { error: { code: 503, message: "Loading model", type: "unavailable_error" } } },
    ],
    ["tei", "embeddings", { status: 429, json: { message: "Model is overloaded", code: 429, type: "Overloaded" } }],
    ["tei", "embeddings", { status: 424, json: { message: "Inference failed", code: 424, type: "Backend" } }],
    ["mistral", "chat", { status: 429, json: { message: "Service tier capacity exceeded for this model." } }],
    ["voyage", "embeddings", { status: 429, json: { detail: "You have exceeded your rate limit." } }],
  ])("%s: %s is sent again after %j", async (service, operation, refusal) => {
    const { reply } = rows.find((row) => row.service === service)![operation]!;
    const { transport, upstream } = await transportFor([refusal, reply], { service });
    await transport[operation](
      (operation === "chat" ? requests.chat : { model: "e", input: ["Keys expire.", "Locks rust."] }) as never,
    );
    expect(upstream.requests).toHaveLength(2);
  });
});

test("the types let a request hold what its service has", () => {
  // Only the types are tested: nothing is sent.
  async function requests() {
    const ask = { model: "c", messages: [{ role: "user" as const, content: "?" }] };
    const openai = createTransport({ service: "openai" });
    await openai.chat({ ...ask, seed: 1, tool_choice: "required", response_format: schemaFormat });
    const ollama = createTransport({ service: "ollama" });
    await ollama.chat({ ...ask, seed: 1, response_format: schemaFormat });
    // @ts-expect-error Ollama cannot be told to call a tool
    await ollama.chat({ ...ask, tool_choice: "required" });
    const strict = createTransport({ baseUrl: "https://host" });
    // @ts-expect-error the contract has no seed
    await strict.chat({ ...ask, seed: 1 });
    // Models take a transport to any service.
    const any: Transport = openai;
    return any;
  }
  expect(requests).toBeInstanceOf(Function);
  const taking = (field: string) =>
    serviceNames.filter((name) =>
      (serviceProfile(name)?.chat?.fields as readonly string[] | undefined)?.includes(field),
    );
  expect(taking("tool_choice")).toEqual(["openai", "azure-openai", "vllm", "llama.cpp", "mistral"]);
  expect(taking("parallel_tool_calls")).toEqual(taking("tool_choice"));
  expect(taking("reasoning_effort")).toEqual(["openai", "azure-openai", "ollama", "vllm", "cohere"]);
});

describe("quirks", () => {
  test("a thinking model's reply is read from `reasoning`, as Ollama and vLLM write it, whole and streamed", async () => {
    const { transport } = await transportFor(
      [
        {
          json: {
            model: "c",
            choices: [
              { index: 0, message: { role: "assistant", content: "4", reasoning: "2+2" }, finish_reason: "stop" },
            ],
            usage: { prompt_tokens: 1, completion_tokens: 2 },
          },
        },
        {
          sse: [
            chunk({ reasoning: "2+" }),
            chunk({ reasoning: "2" }),
            chunk({ content: "4" }, { finish_reason: "stop" }),
            "[DONE]",
          ],
        },
      ],
      { service: "ollama" },
    );
    const ask = { model: "c", messages: [{ role: "user" as const, content: "?" }] };
    expect(await transport.chat(ask)).toMatchObject({ text: "4", reasoning: "2+2" });
    const events = await collect(transport.chatStream(ask));
    expect(events.map(({ type }) => type)).toEqual(["reasoning-delta", "reasoning-delta", "text-delta", "finish"]);
  });

  test("a reply in parts, thinking before text, is put together, as Mistral writes it", async () => {
    const thought = { type: "thinking", thinking: [{ type: "text", text: "2+2" }] };
    const { transport } = await transportFor(
      [
        { json: { model: "c", choices: [{ index: 0, message: { content: [thought, { type: "text", text: "4" }] } }] } },
        { sse: [chunk({ content: [thought] }), chunk({ content: "4" }, { finish_reason: "stop" }), "[DONE]"] },
      ],
      { service: "mistral" },
    );
    const ask = { model: "c", messages: [{ role: "user" as const, content: "?" }] };
    expect(await transport.chat(ask)).toMatchObject({ text: "4", reasoning: "2+2" });
    expect((await collect(transport.chatStream(ask))).at(-1)).toMatchObject({
      result: { text: "4", reasoning: "2+2" },
    });
  });

  test("whole calls that share the index 0 stay apart, as Ollama sends them", async () => {
    const call = (id: string, city: string) => ({
      id,
      index: 0,
      type: "function",
      function: { name: "weather", arguments: JSON.stringify({ city }) },
    });
    const { transport } = await transportFor(
      [
        {
          sse: [
            chunk({ tool_calls: [call("call_1", "Oslo")] }),
            chunk({ tool_calls: [call("call_2", "Rome")] }),
            chunk({}, { finish_reason: "tool_calls" }),
            "[DONE]",
          ],
        },
      ],
      { service: "ollama" },
    );
    const events = await collect(transport.chatStream({ model: "c", messages: [{ role: "user", content: "?" }] }));
    expect(events.flatMap((event) => (event.type === "tool-call" ? [event.arguments] : []))).toEqual([
      '{"city":"Oslo"}',
      '{"city":"Rome"}',
    ]);
  });

  test("tasks go to those models of Jina that have them", async () => {
    const { transport, upstream } = await transportFor([vectors(1), vectors(1), vectors(1)], { service: "jina" });
    const asked = { purpose: "query" as const };
    await transport.embeddings({ model: "jina-embeddings-v3", input: ["a"] }, asked);
    await transport.embeddings({ model: "jina-embeddings-v4", input: ["a"] });
    await transport.embeddings({ model: "jina-embeddings-v2-base-en", input: ["a"] }, asked);
    expect(upstream.requests.map(({ body }) => (body as { readonly task?: string }).task)).toEqual([
      "retrieval.query",
      "retrieval.passage",
      undefined,
    ]);
  });

  test("Cohere's list of models is read, and Azure is not asked for one", async () => {
    const cohere = await transportFor([{ json: { models: [{ name: "embed-v4.0", endpoints: ["embed"] }] } }], {
      service: "cohere",
    });
    expect(await cohere.transport.listModels()).toEqual([{ id: "embed-v4.0" }]);
    expect(cohere.upstream.requests[0]!.path).toBe("/v1/models");
    const azure = await transportFor([], { service: "azure-openai" });
    expect(await failure(azure.transport.listModels())).toMatchObject({ code: "request" });
  });

  test("more documents than text-embeddings-inference takes at once go in parts", async () => {
    const { transport, upstream } = await transportFor(
      ({ body }) => ({
        json: (body as { readonly texts: readonly string[] }).texts.map((text, index) => ({
          index,
          score: Number(text),
        })),
      }),
      { service: "tei" },
    );
    const documents = Array.from({ length: 70 }, (_, at) => String(at / 100));
    const { results } = await transport.rerank({ model: "r", query: "q", documents, top_n: 2 });
    expect(results.map(({ index }) => index)).toEqual([69, 68]);
    expect(upstream.requests).toHaveLength(3);
  });

  test("vectors of another length are asked for in the service's own field, or not at all", async () => {
    const lengths = { mistral: "output_dimension", voyage: "output_dimension", openai: "dimensions" } as const;
    for (const service of Object.keys(lengths) as (keyof typeof lengths)[]) {
      const { transport, upstream } = await transportFor([vectors(1)], { service });
      await transport.embeddings({ model: "e", input: ["a"], dimensions: 2 });
      expect(upstream.requests[0]!.body).toMatchObject({ [lengths[service]]: 2 });
    }
    const { transport } = await transportFor([], { service: "tei" });
    expect(String(await failure(transport.embeddings({ model: "e", input: ["a"], dimensions: 2 })))).toContain(
      'tei has no field "dimensions"',
    );
  });
});

describe("the address of a service", () => {
  const addressOf = (options: TransportOptions) => createTransport(options).baseUrl;

  test.each<[ServiceName, string | undefined, string]>([
    ["openai", undefined, "https://api.openai.com/v1"],
    ["ollama", undefined, "http://localhost:11434/v1"],
    ["ollama", "http://gpu:11434", "http://gpu:11434/v1"],
    ["vllm", "http://gpu:8000/v1/", "http://gpu:8000/v1"],
    ["openai", "https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"],
    ["openai", "https://gateway.example/v1beta/openai", "https://gateway.example/v1beta/openai"],
    ["azure-openai", "https://me.openai.azure.com/openai", "https://me.openai.azure.com"],
    ["tei", "http://localhost:8080/v1", "http://localhost:8080"],
    ["cohere", "https://api.cohere.com/v2", "https://api.cohere.com"],
  ])("%s at %s is %s", (service, baseUrl, address) => {
    expect(addressOf({ service, ...(baseUrl !== undefined && { baseUrl }) })).toBe(address);
  });

  test.each<ServiceName>(["contract", "azure-openai"])("of %s must be given", (service) => {
    expect(() => createTransport({ service })).toThrow(/baseUrl is missing/);
  });

  test("of a misspelt service is not guessed", () => {
    expect(() => createTransport({ service: "openia" as ServiceName })).toThrow(/service: .*"openai"/);
    expect(serviceNames[0]).toBe("contract");
  });

  test("of Azure may have another version, of others none", async () => {
    const { transport, upstream } = await transportFor([vectors(1)], {
      service: "azure-openai",
      apiVersion: "2025-04-01-preview",
    });
    await transport.embeddings({ model: "my deployment", input: ["a"] });
    expect(upstream.requests[0]!.path).toBe(
      "/openai/deployments/my%20deployment/embeddings?api-version=2025-04-01-preview",
    );
    expect(() => createTransport({ service: "openai", apiVersion: "1" })).toThrow(/apiVersion: openai has none/);
  });

  test("that answers 404 is told with the path, and the options that change it", async () => {
    const { transport, upstream } = await transportFor([{ status: 404, text: "404 page not found" }], {
      service: "azure-openai",
    });
    const error = await failure(transport.embeddings({ model: "e", input: ["a"] }));
    expect(error).toMatchObject({ code: "not-found" });
    expect(String(error)).toContain(`${upstream.baseUrl}/openai/deployments/e/embeddings,`);
    expect(String(error)).toMatch(/createTransport\(\{ service \}\).*paths: \{ embeddings \}/);
  });
});

describe("headers of one's own", () => {
  test("go with every request, beside the transport's", async () => {
    const headers = { "OpenAI-Organization": "org-42", "x-team": "search" };
    const { transport, upstream } = await transportFor([vectors(1)], { service: "openai", headers });
    await transport.embeddings({ model: "e", input: ["a"] });
    expect(upstream.requests[0]!.headers).toMatchObject({
      "openai-organization": "org-42",
      "x-team": "search",
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
    });
  });

  test.each([
    [{ "content-type": "text/plain" }, /content-type is set by the transport/],
    [{ Host: "elsewhere" }, /Host is set by the transport/],
    [{ Authorization: "Bearer hunter2-hunter2" }, /Authorization carries apiKey/],
    [{ "a b": "hunter2-hunter2" }, /"a b" is no name/],
    [{ "x-key": "hunter2\nhunter2" }, /the value of x-key/],
    [{ "x-key": 5 as unknown as string }, /the value of x-key/],
  ])("%j are refused without their value", (headers, message) => {
    const make = () => createTransport({ baseUrl: "https://host", apiKey: key, headers });
    expect(make).toThrow(message);
    expect(make).not.toThrow(/hunter2/);
  });

  test("are kept out of errors and events, since they may hold a key", async () => {
    const secret = "gw-9876543210-secret";
    const heard: TransportEvent[] = [];
    const { transport } = await transportFor([{ status: 400, json: { message: `bad token ${secret}` } }], {
      headers: { "x-gateway-token": `Token ${secret}` },
      onEvent: (event) => heard.push(event),
    });
    const error = await failure(transport.chat({ model: "m", messages: [{ role: "user", content: "?" }] }));
    expect(String(error)).toContain("bad token [key]");
    expect(JSON.stringify([error, heard])).not.toContain(secret);
  });
});

test("a token budget keeps its own estimate of calls that come without a count", async () => {
  const { transport } = await transportFor(() => ({ json: [{ index: 0, score: 1 }] }), {
    service: "tei",
    tokensPerMinute: 100,
  });
  // About 90 tokens of the budget of 100: with the estimate taken back, the second call would not have to wait.
  const request = { model: "r", query: "q", documents: ["x".repeat(270)] };
  expect((await transport.rerank(request)).usage).toBeUndefined();
  expect(await failure(transport.rerank(request, { deadlineMs: 50 }))).toMatchObject({
    code: "rate-limited",
    attempts: 0,
  });
});
