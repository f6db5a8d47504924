import { describe, expect, test } from "vitest";
import type { ServiceName } from "../../../src/dialects/services.js";
import { serviceFailure } from "../../../src/transport/failures/service-failure.js";
import { failure, transportFor } from "../../support/transport-for.js";
import { rows } from "./service-rows.js";

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
    // https://github.com/harbor-framework/harbor/pull/996 has the words of vLLM since 0.16.
    {
      service: "vllm",
      operation: "chat",
      status: 400,
      json: {
        error: {
          message:
            "You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens, resulting in a maximum input length of 1014 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=1015)",
          type: "BadRequestError",
          param: "input_tokens",
          code: 400,
        },
      },
      expected: { code: "context-length", maxInputTokens: 1024 },
    },
    {
      service: "azure-openai",
      operation: "chat",
      status: 400,
      json: {
        error: {
          message: "The response was filtered due to the prompt triggering the content management policy.",
          type: null,
          param: "prompt",
          code: "content_filter",
          status: 400,
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      },
      expected: { code: "refused", serviceCode: "content_filter" },
    },
    // The words are those of https://docs.cohere.com/reference/errors.
    {
      service: "cohere",
      operation: "chat",
      status: 400,
      json: {
        id: "1",
        message:
          "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt, or enabling prompt truncating.",
      },
      expected: { code: "context-length", maxInputTokens: 4081 },
    },
    {
      service: "cohere",
      operation: "embeddings",
      status: 400,
      json: {
        id: "1",
        message: "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.",
      },
      expected: { code: "too-large" },
    },
    {
      service: "cohere",
      operation: "chat",
      status: 400,
      json: {
        id: "1",
        message:
          "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.",
      },
      expected: { code: "refused" },
    },
    {
      service: "cohere",
      operation: "chat",
      status: 402,
      json: { id: "1", message: "Please add or update your payment method to continue" },
      expected: { code: "forbidden", attempts: 1 },
    },
    {
      service: "cohere",
      operation: "rerank",
      status: 429,
      json: { id: "1", message: "You are using a Trial key, which is limited to 1000 API calls / month." },
      expected: { code: "rate-limited", retryable: false, attempts: 1 },
    },
    // The codes are those of https://api.jina.ai/openapi.json.
    {
      service: "jina",
      operation: "rerank",
      status: 403,
      json: { detail: "Insufficient account balance.", request_id: "f309f88e", code: "AUTHZ_INSUFFICIENT_BALANCE" },
      expected: { code: "forbidden", serviceCode: "AUTHZ_INSUFFICIENT_BALANCE" },
    },
    {
      service: "jina",
      operation: "embeddings",
      status: 400,
      json: { detail: "Model 'e' not found", request_id: "f309f88e", code: "INPUT_MODEL_NOT_FOUND" },
      expected: { code: "unsupported-model" },
    },
    // https://docs.mistral.ai/resources/error-glossary
    {
      service: "mistral",
      operation: "chat",
      status: 400,
      json: {
        object: "error",
        message: "A human-readable description of the error.",
        type: "invalid_request_error",
        param: "model",
        code: "unknown_model",
      },
      expected: { code: "unsupported-model" },
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
    // https://docs.ollama.com/faq: it is overloaded when its queue is full.
    [
      "ollama",
      "chat",
      { status: 503, json: { error: { message: "server busy, please try again", type: "api_error" } } },
    ],
    ["cohere", "embeddings", { status: 429, json: { message: "Please wait and try again later" } }],
    ["cohere", "chat", { status: 499, json: { message: "request cancelled" } }],
    [
      "jina",
      "embeddings",
      {
        status: 429,
        json: { detail: "Concurrency limit exceeded", request_id: "f309f88e", code: "RATE_CONCURRENCY_LIMIT_EXCEEDED" },
        headers: { "x-ratelimit-remaining-requests": "499", "x-ratelimit-remaining-tokens": "1000" },
      },
    ],
    [
      "mistral",
      "chat",
      {
        status: 429,
        json: { object: "error", message: "Service tier capacity exceeded for this model.", type: "rate_limit_error" },
        retryAfterSeconds: 0,
      },
    ],
    ["voyage", "embeddings", { status: 429, json: { detail: "You have exceeded your rate limit." } }],
  ])("%s: %s is sent again after %j", async (service, operation, refusal) => {
    const { reply } = rows.find((row) => row.service === service)![operation]!;
    const { transport, upstream } = await transportFor([refusal, reply], { service });
    await transport[operation](
      (operation === "chat" ? requests.chat : { model: "e", input: ["Keys expire.", "Locks rust."] }) as never,
    );
    expect(upstream.requests).toHaveLength(2);
  });

  test.each<[ServiceName, object, boolean]>([
    ["cohere", { message: "You are past the per minute request limit, please wait and try again later." }, true],
    ["cohere", { message: "trial token rate limit exceeded, limit is 100000 tokens per minute" }, true],
    ["jina", { detail: "Token rate limit exceeded", code: "RATE_TOKEN_LIMIT_EXCEEDED" }, true],
    ["jina", { detail: "Concurrency limit exceeded", code: "RATE_CONCURRENCY_LIMIT_EXCEEDED" }, false],
  ])("%s counts by the minute when it says %j: %s", (_, json, byMinute) => {
    const reply = { operation: "embeddings", status: 429, headers: {}, body: JSON.stringify(json), nowMs: 0 } as const;
    expect(serviceFailure(reply)).toMatchObject({ code: "rate-limited", retryable: true });
    expect(serviceFailure(reply).minuteWindow ?? false).toBe(byMinute);
  });
});
