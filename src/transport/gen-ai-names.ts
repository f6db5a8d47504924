/**
 * Names of the semantic conventions for generative AI
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/), and those of HTTP and errors that go with them.
 * Written out, since the packages that hold them change them between minor versions.
 */
export const genAi = {
  operationName: "gen_ai.operation.name",
  providerName: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestTemperature: "gen_ai.request.temperature",
  requestTopP: "gen_ai.request.top_p",
  requestEncodingFormats: "gen_ai.request.encoding_formats",
  responseModel: "gen_ai.response.model",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  tokenType: "gen_ai.token.type",
  errorType: "error.type",
  serverAddress: "server.address",
  serverPort: "server.port",
  resendCount: "http.request.resend_count",
  statusCode: "http.response.status_code",
} as const;

/** Metrics, with the bucket bounds that the conventions advise. */
export const genAiMetrics = {
  duration: {
    name: "gen_ai.client.operation.duration",
    unit: "s",
    description: "Duration of a call, retries included",
    bounds: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
  tokens: {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    description: "Tokens of a call, as the service counted them",
    bounds: [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864],
  },
} as const;
