import { describe, expect, test } from "vitest";
import { readErrorBody } from "../../../src/transport/failures/error-body.js";
import { serviceFailure } from "../../../src/transport/failures/service-failure.js";
import { requestedWaitMs } from "../../../src/transport/failures/response-headers.js";
import type { OperationName } from "../../../src/contract/operations.js";

const refused = (status: number, body: unknown, headers = {}, operation: OperationName = "chat") =>
  serviceFailure({
    operation,
    status,
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
    nowMs: 0,
  });

describe("every shape of error body is read (E1)", () => {
  test.each([
    [
      { code: 20015, message: "bad", data: null },
      { code: "20015", message: "bad" },
    ],
    [{ message: "slow down", data: null }, { message: "slow down" }],
    ["Invalid token", { message: "Invalid token" }],
    [
      { error: { code: "InvalidParameter", message: "bad", type: "BadRequest" } },
      { code: "InvalidParameter", message: "bad" },
    ],
    [{ error: { code: null, message: "bad", type: "BadRequest" } }, { code: "BadRequest", message: "bad" }],
    [
      { message: "too many", code: 413, type: "Validation" },
      { code: "413", message: "too many" },
    ],
    [
      { error: "overloaded", error_type: "overloaded" },
      { code: "overloaded", message: "overloaded" },
    ],
    [
      { object: "error", message: "bad", type: "BadRequestError", code: 400 },
      { code: "400", message: "bad" },
    ],
    [{ errors: { message: "bad" } }, { message: "bad" }],
    [{ detail: "Not Found" }, { message: "Not Found" }],
    [{ detail: [{ loc: ["body", "input"], msg: "field required" }] }, { message: "body.input: field required" }],
    [{ detail: [{ msg: "empty" }, { loc: ["body"] }, 7] }, { message: 'empty; {"loc":["body"]}; 7' }],
    [
      { detail: { reason: "full" }, code: 7 },
      { code: "7", message: '{"reason":"full"}' },
    ],
    [
      { errors: { message: "bad", code: "own" }, code: 7 },
      { code: "own", message: "bad" },
    ],
    [
      { errors: { message: "bad" }, code: 7 },
      { code: "7", message: "bad" },
    ],
    [
      { error: "bad", code: 7 },
      { code: "7", message: "bad" },
    ],
    [{ message: "bad", code: "" }, { message: "bad" }],
    [{ error: { message: { why: "bad" } } }, { message: '{"why":"bad"}' }],
    [{ error: {} }, { message: "" }],
    [{ other: "bad" }, { message: '{"other":"bad"}' }],
    [{ detail: null }, { message: '{"detail":null}' }],
    [["bad"], { message: '["bad"]' }],
    ["x".repeat(500), { message: "x".repeat(500) }],
    ["x".repeat(501), { message: `${"x".repeat(500)}…` }],
    [" two\n\nlines ", { message: "two lines" }],
  ])("%j", (body, expected) => {
    expect(readErrorBody(`\n${JSON.stringify(body)}`)).toEqual(expected);
  });

  test("HTML of a gateway becomes its text", () => {
    const page = "<html><head><style>a{}</style></head><body><h1>502 Bad Gateway</h1>\n<hr>nginx</body></html>";
    expect(readErrorBody(page)).toEqual({ message: "502 Bad Gateway nginx" });
  });

  test("a body of nothing still makes a message", () => {
    expect(refused(502, "").message).toBe("status 502 without a body");
  });
});

describe("what kind of failure a refusal is, and whether it passes (E3, §3.3)", () => {
  test.each([
    [400, { code: 20015, message: "bad" }, "refused", false],
    [401, "Invalid token", "unauthorized", false],
    [402, { message: "pay" }, "forbidden", false],
    [403, "Forbidden", "forbidden", false],
    [404, "404 page not found", "not-found", false],
    [408, "", "timeout", true],
    [409, "", "refused", true],
    [413, { code: 20042, message: "entity too large" }, "too-large", false],
    [422, { detail: "bad" }, "refused", false],
    [451, { code: 20021, message: "no" }, "refused", false],
    [429, { message: "slow down" }, "rate-limited", true],
    [429, { error: { code: "QuotaExceeded", message: "spent" } }, "rate-limited", false],
    [429, { error: { code: "SetLimitExceeded", message: "spent" } }, "rate-limited", false],
    [429, { error: { code: "insufficient_quota", message: "spent" } }, "rate-limited", false],
    [429, { code: 50605, message: "images per day" }, "rate-limited", false],
    [429, { code: 50606, message: "x" }, "rate-limited", false],
    [429, { code: 50608, message: "x" }, "rate-limited", false],
    [429, { message: "RPD limit reached" }, "rate-limited", false],
    [500, "", "upstream", true],
    [501, "", "upstream", false],
    [502, "", "upstream", true],
    [503, { code: 50505, message: "busy" }, "upstream", true],
    [504, "", "upstream", true],
    [529, "", "upstream", true],
    [400, { error: { code: "ContentSecurityDetectionError", message: "down" } }, "upstream", true],
    [400, { code: 20012, message: "Model does not exist" }, "unsupported-model", false],
    [404, { error: { code: "InvalidEndpointOrModel.NotFound", message: "x" } }, "unsupported-model", false],
    [400, { message: "暂不支持此种模型" }, "unsupported-model", false],
  ])("%i %j is %s, retryable: %s", (status, body, code, retryable) => {
    expect(refused(status, body)).toMatchObject({ code, retryable });
  });

  test.each([
    ["true", 400, true],
    ["false", 503, false],
  ])("x-should-retry %s overrides status %i (E6)", (value, status, retryable) => {
    expect(refused(status, "", { "x-should-retry": value }).retryable).toBe(retryable);
  });

  test.each([
    ["Request was rejected due to rate limiting. Details: TPM limit reached.", true],
    ["RPM limit reached", true],
    ["slow down", undefined],
  ])("limits by the minute are told from others: %s", (message, minuteWindow) => {
    expect(refused(429, { message }).minuteWindow).toBe(minuteWindow);
  });

  const forbidden = { code: "forbidden", retryable: false, undelivered: false };
  const refusal = { code: "refused", retryable: false, undelivered: false };
  const rateLimited = { code: "rate-limited", retryable: true, undelivered: true };
  const broken = { code: "upstream", retryable: true, undelivered: false };
  const overloaded = { ...broken, undelivered: true };

  test.each([
    [200, refusal],
    [404, { code: "not-found", retryable: false, undelivered: false }],
    [599, broken],
    [600, refusal],
    [20015, refusal],
    [20042, { code: "too-large", retryable: false, undelivered: false }],
    [29_999, refusal],
    [30_000, forbidden],
    [30_099, forbidden],
    [30_100, refusal],
    [50_500, broken],
    [50_501, broken],
    [50_502, refusal],
    [50_505, overloaded],
    [50_506, broken],
    [50_507, broken],
    [50_508, overloaded],
    [50_509, broken],
    [50_510, refusal],
    [50_600, refusal],
    [50_601, rateLimited],
    [50_602, { ...rateLimited, minuteWindow: true }],
    [50_603, overloaded],
    [50_699, rateLimited],
    [50_700, refusal],
    [59_999, refusal],
    [60_000, broken],
    [60_099, broken],
    [60_100, refusal],
    ["404.5", refusal],
  ])("with status 200 the service's own code decides: %s is %j (E4)", (code, expected) => {
    expect(refused(200, { code, message: "x" })).toMatchObject({ ...expected, status: 200 });
  });

  test.each([299, 300])("with status %i the service's own code decides below 300 alone", (status) => {
    expect(refused(status, { code: 404, message: "x" }).code).toBe(status < 300 ? "not-found" : "refused");
  });

  test("a task that runs cannot be cancelled, however often it is asked", () => {
    expect(refused(409, "", {}, "cancelVideoTask")).toMatchObject({ code: "refused", retryable: false });
  });

  test("only 429 and 503 say that the request was not worked on", () => {
    const statuses = [400, 408, 409, 413, 428, 429, 430, 500, 502, 503, 504];
    expect(statuses.filter((status) => refused(status, "").undelivered)).toEqual([429, 503]);
  });
});

describe("limits that a refusal names are learned (M2, M3)", () => {
  test.each([
    [413, "input batch size 132 > maximum allowed batch size 64", { maxBatchTexts: 64 }],
    [422, "batch size 100 > maximum allowed batch size 32", { maxBatchTexts: 32 }],
    [400, "batch size is invalid, it should not be larger than 10.", { maxBatchTexts: 10 }],
    [413, "input must have less than 512 tokens", { maxInputTokens: 512 }],
    [413, "input must have at most 512 tokens", { maxInputTokens: 512 }],
    [400, "length of prompt_tokens (70462) must be less than max_seq_len (65536).", { maxInputTokens: 65_536 }],
  ])("%i %s", (status, message, limits) => {
    expect(refused(status, { code: 1, message }, {}, "embeddings")).toMatchObject({ code: "too-large", ...limits });
  });

  test("of a conversation they are its context", () => {
    const message = "length of prompt_tokens (70462) must be less than max_seq_len (65536).";
    expect(refused(400, { code: 20015, message })).toMatchObject({ code: "context-length", maxInputTokens: 65_536 });
  });
});

test.each([
  [{ "x-request-id": "r1", "x-tt-logid": "r2" }, "", "r1"],
  [{ "x-siliconcloud-trace-id": "r3" }, "", "r3"],
  [{ "x-tt-logid": "r2" }, "", "r2"],
  [{ "x-client-request-id": "r4", "x-tt-logid": "r2" }, "", "r4"],
  [{ "x-request-id": "", "x-tt-logid": "r2" }, "", "r2"],
  [{ "x-request-id": ["r5", "r6"] }, "", "r5"],
  [{ "apim-request-id": "r7", "cf-ray": "8f-FRA" }, "", "r7"],
  [{ "x-amzn-requestid": "r8" }, "", "r8"],
  [{ "cf-ray": "8f-FRA" }, "", "8f-FRA"],
  [{ "x-ds-trace-id": "r9", "x-amz-cf-id": "edge" }, "", "r9"],
  [{}, "not valid Request id: 0217abc", "0217abc"],
  [{}, "not valid", undefined],
])("the request id of %j %s is %s (E7)", (headers, message, expected) => {
  expect(refused(400, { message }, headers).requestId).toBe(expected);
});

test.each([
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
  [{ "retry-after": "3" }, 3000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": " 3 " }, 3000],
  [{ "retry-after": "3s", "retry-after-ms": "" }, 3000],
  [{ "retry-after": "1m30s" }, 90_000],
  [{ "retry-after": "250ms" }, 250],
  [{ "retry-after": "1970-01-01T00:01:40Z" }, 90_000],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "7.5" }, 7500],
  [{ "ratelimit-remaining": "0", "ratelimit-reset": "30" }, 30_000],
  [{ "anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "1970-01-01T00:00:40Z" }, 30_000],
  [{ "x-ratelimit-remaining-requests-day": "0", "x-ratelimit-reset-requests-day": "1h2m" }, 3_720_000],
  [{ "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "12ms" }, undefined],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1.5µs" }, 0.0015],
  [{ "retry-after": "-5" }, undefined],
  [{ "retry-after": "12 soon" }, undefined],
  [{ "retry-after": "Thu, 01 Jan 1970 00:01:40 GMT" }, 90_000],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:05 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s" }, 360_000],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "12ms" }, 12],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1d1h0.5s" }, 90_000_500],
  [
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "2s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "1s",
    },
    2000,
  ],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2 s" }, undefined],
  [{ "x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": "6m0s" }, undefined],
  [{}, undefined],
])("%j at 10 s past the epoch asks to wait %s ms (E6)", (headers, expected) => {
  expect(requestedWaitMs(headers, 10_000)).toBe(expected);
});
