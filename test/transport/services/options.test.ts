import { describe, expect, test } from "vitest";
import { type ServiceName, serviceNames, serviceProfile, services } from "../../../src/dialects/services.js";
import type { TransportEvent } from "../../../src/transport/calls/events.js";
import type { TransportOptions } from "../../../src/transport/options.js";
import { createTransport } from "../../../src/transport/transport.js";
import { failure, transportFor, vectors } from "../../support/transport-for.js";
import { connected } from "./connected-services.js";
import { rows } from "./service-rows.js";

const key = "sk-0123456789";

test("every service of the table has a row here", () => {
  expect(rows.map(({ service }) => service)).toEqual(Object.keys(services));
  for (const { service, embeddings, rerank, chat } of rows) {
    const { paths } = serviceProfile(service)!;
    expect([embeddings, rerank, chat].map((exchange) => exchange !== undefined)).toEqual(
      (["embeddings", "rerank", "chat"] as const).map((operation) => operation in paths),
    );
  }
});

test.each(rows.map((row) => [row.service, row] as const))(
  "%s is not asked for what it does not have, unless a path is named",
  async (_, row) => {
    const { transport, upstream } = await connected(row, []);
    const lacking = (["embeddings", "rerank", "chat"] as const).filter((operation) => !row[operation]);
    for (const operation of lacking) {
      const call =
        operation === "rerank"
          ? { query: "q", documents: ["a"] }
          : operation === "embeddings"
            ? { input: ["a"] }
            : { messages: [{ role: "user", content: "?" }] };
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

test("Cohere's list of models is read, and Azure is not asked for one", async () => {
  const cohere = await transportFor([{ json: { models: [{ name: "embed-v4.0", endpoints: ["embed"] }] } }], {
    service: "cohere",
  });
  expect(await cohere.transport.listModels()).toEqual([{ id: "embed-v4.0" }]);
  expect(cohere.upstream.requests[0]!.path).toBe("/v1/models");
  const azure = await transportFor([], { service: "azure-openai" });
  expect(await failure(azure.transport.listModels())).toMatchObject({ code: "request" });
});

test("Together's list of models, which is bare, is read", async () => {
  const { transport } = await transportFor([{ json: [{ id: "openai/gpt-oss-20b", type: "chat" }] }], {
    service: "together",
  });
  expect(await transport.listModels()).toEqual([{ id: "openai/gpt-oss-20b" }]);
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
    [
      "azure-openai",
      "https://me.openai.azure.com/OpenAI/Deployments/m/Chat/Completions",
      "https://me.openai.azure.com",
    ],
    ["azure-openai", "https://me.openai.azure.com/openai/deployments/m/completions", "https://me.openai.azure.com"],
    ["tei", "http://localhost:8080/v1", "http://localhost:8080"],
    ["cohere", "https://api.cohere.com/v2", "https://api.cohere.com"],
    [
      "azure-openai",
      "https://me.openai.azure.com/openai/deployments/m/chat/completions",
      "https://me.openai.azure.com",
    ],
    [
      "azure-openai",
      "https://me.openai.azure.com/openai/deployments/my-embed/embeddings",
      "https://me.openai.azure.com",
    ],
    ["azure-openai", "https://me.openai.azure.com/openai/deployments/m/", "https://me.openai.azure.com"],
    ["azure-openai", "https://me.openai.azure.com/?api-version=2025-01-01-preview", "https://me.openai.azure.com"],
    ["azure-openai", "https://gate.example/azure/openai/deployments/m/chat/completions", "https://gate.example/azure"],
    ["azure-openai-v1", "https://me.openai.azure.com/openai/v1/", "https://me.openai.azure.com"],
    ["azure-openai-v1", "https://me.services.ai.azure.com/openai/v1/responses", "https://me.services.ai.azure.com"],
    ["azure-openai-v1", "https://me.openai.azure.com/openai/v1?api-version=preview", "https://me.openai.azure.com"],
    [
      "gemini",
      "https://generativelanguage.googleapis.com/v1beta/openai/",
      "https://generativelanguage.googleapis.com/v1beta/openai",
    ],
    ["openrouter", "https://openrouter.ai/api/v1/chat/completions", "https://openrouter.ai/api/v1"],
    ["openrouter", "https://openrouter.ai", "https://openrouter.ai/api/v1"],
    ["groq", undefined, "https://api.groq.com/openai/v1"],
    ["deepseek", "https://api.deepseek.com/v1", "https://api.deepseek.com"],
    ["deepseek", "https://api.deepseek.com/beta", "https://api.deepseek.com/beta"],
    ["xai", "https://api.x.ai", "https://api.x.ai/v1"],
    ["together", "https://api.together.xyz/v1/", "https://api.together.xyz/v1"],
    ["bedrock", "https://bedrock-runtime.us-west-2.amazonaws.com", "https://bedrock-runtime.us-west-2.amazonaws.com"],
    [
      "bedrock",
      "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1",
      "https://bedrock-runtime.us-west-2.amazonaws.com",
    ],
    [
      "bedrock",
      "https://bedrock-mantle.us-east-1.api.aws/v1/chat/completions",
      "https://bedrock-mantle.us-east-1.api.aws",
    ],
    ["lm-studio", "http://desk:1234", "http://desk:1234/v1"],
  ])("%s at %s is %s", (service, baseUrl, address) => {
    expect(addressOf({ service, ...(baseUrl !== undefined && { baseUrl }) })).toBe(address);
  });

  test("of Azure's v1 API makes it that service, and its version is kept", async () => {
    const { upstream } = await transportFor([]);
    const create = (path: string) =>
      createTransport({ service: "azure-openai", baseUrl: upstream.baseUrl + path, apiKey: key, maxRetries: 0 });
    for (const [path, service] of [
      ["/openai/v1/", "azure-openai-v1"],
      ["/openai/v1/chat/completions?api-version=preview", "azure-openai-v1"],
      ["/openai/deployments/x/embeddings?api-version=2025-04-01-preview", "azure-openai"],
      ["/openai", "azure-openai"],
    ] as const) {
      const transport = create(path);
      expect(transport.service).toBe(service);
      await failure(transport.embeddings({ model: "e", input: ["a"] }));
      await transport.close();
    }
    expect(upstream.requests.map((request) => request.path)).toEqual([
      "/openai/v1/embeddings",
      "/openai/v1/embeddings?api-version=preview",
      "/openai/deployments/e/embeddings?api-version=2025-04-01-preview",
      "/openai/deployments/e/embeddings?api-version=2024-10-21",
    ]);
  });

  test("of Azure with another query, or of others with any, is refused without being quoted", () => {
    for (const [service, query] of [
      ["azure-openai", "?api-version=2024-10-21&key=hunter2"],
      ["azure-openai", "?api-version=hunter2%20"],
      ["openai", "?api-version=hunter2"],
    ] as const) {
      const make = () => createTransport({ service, baseUrl: `https://host/openai${query}` });
      expect(make).toThrow(/must not have a query/);
      expect(make).not.toThrow(/hunter2/);
    }
  });

  test.each<ServiceName>(["contract", "azure-openai", "azure-openai-v1", "bedrock"])(
    "of %s must be given",
    (service) => {
      expect(() => createTransport({ service })).toThrow(/baseUrl is missing/);
    },
  );

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

// Ollama, vLLM, text-embeddings-inference and llama.cpp name these in their documentation, for clients that want some key.
test.each<[ServiceName, string]>([
  ["ollama", "ollama"],
  ["vllm", "EMPTY"],
  ["tei", "-"],
  ["llama.cpp", "no-key"],
])("%s: the key %j says that there is none, and is not cut out of messages", async (service, apiKey) => {
  const { transport, upstream } = await transportFor([{ status: 404, text: `no ${apiKey} page - not found` }], {
    service,
    apiKey,
  });
  const error = await failure(transport.embeddings({ model: "e", input: ["a"] }));
  expect(String(error)).toContain(`no ${apiKey} page - not found`);
  expect(String(error)).not.toContain("[key]");
  expect(upstream.requests[0]!.headers.authorization).toBe(`Bearer ${apiKey}`);
});
