import { describe, expect, test } from "vitest";
import { errorIn, readErrorBody } from "../../../src/transport/failures/error-body.js";
import { requestedWaitMs } from "../../../src/transport/failures/response-headers.js";
import { serviceFailure } from "../../../src/transport/failures/service-failure.js";
import { estimatedTokens } from "../../../src/transport/limits/load.js";

const failed = (status: number, code: number | string | undefined, message = "no") =>
  serviceFailure({
    operation: "embeddings",
    status,
    headers: {},
    body: { message, ...(code !== undefined && { code: String(code) }) },
    nowMs: 0,
  });

describe("the service's own code in a reply of status 200", () => {
  test.each([
    [400, "refused", false],
    [401, "unauthorized", false],
    [404, "not-found", false],
    [599, "upstream", true],
    [20_000, "refused", false],
    [20_099, "refused", false],
    [20_042, "too-large", false],
    [30_000, "forbidden", false],
    [30_099, "forbidden", false],
    [50_500, "upstream", true],
    [50_501, "upstream", true],
    [50_505, "upstream", true],
    [50_506, "upstream", true],
    [50_507, "upstream", true],
    [50_508, "upstream", true],
    [50_509, "upstream", true],
    [50_601, "rate-limited", true],
    [50_603, "upstream", true],
    [50_605, "rate-limited", false],
    [50_699, "rate-limited", true],
    [60_000, "upstream", true],
    [60_099, "upstream", true],
  ])("%i is the failure %s, and may pass: %s", (code, kind, retryable) => {
    expect(failed(200, code)).toMatchObject({ code: kind, retryable, status: 200, serviceCode: String(code) });
  });

  test.each([
    399,
    600,
    19_999,
    20_100,
    29_999,
    30_100,
    50_499,
    50_510,
    50_600,
    50_700,
    59_999,
    60_100,
    "busy",
    undefined,
  ])("%s says nothing, and the reply is refused as it is", (code) => {
    expect(failed(200, code)).toMatchObject({ code: "refused", retryable: false, undelivered: false });
  });

  test("503 and 429 were turned away at the door, all others may have been carried out", () => {
    expect([50_505, 50_508, 50_603, 50_601, 50_500, 60_000, 413].map((code) => failed(200, code).undelivered)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe("a limit that an error names", () => {
  test.each([
    ["batch size 64 > maximum allowed batch size 32", { maxBatchTexts: 32 }],
    ["The batch size is invalid: it should not be larger than 10", { maxBatchTexts: 10 }],
    ["batch size must be at most 25", { maxBatchTexts: 25 }],
    ["batch size exceeds the limit of 16", { maxBatchTexts: 16 }],
    ["input must have less than 512 tokens", { maxInputTokens: 512 }],
    ["longer than max_seq_len (8192)", { maxInputTokens: 8192 }],
    ["maximum context length is 4096 tokens", { maxInputTokens: 4096 }],
  ])("is read: %s", (message, limits) => {
    expect(failed(400, undefined, message)).toMatchObject({ code: "too-large", retryable: false, ...limits });
  });

  test("is not read where none is named", () => {
    expect(failed(400, undefined, "too many texts: 64")).toEqual({
      code: "refused",
      message: "too many texts: 64",
      retryable: false,
      undelivered: false,
      status: 400,
    });
  });
});

test.each([
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s" }, 360_000],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "12ms" }, 12],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1d2h3m4.5s" }, 93_784_500],
  [{ "x-ratelimit-remaining-tokens": "1", "x-ratelimit-reset-tokens": "12ms" }, undefined],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "soon" }, undefined],
  [{ "x-ratelimit-remaining-tokens": "0" }, undefined],
  [
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "2s",
    },
    2000,
  ],
])("of exhausted limits %j the longest is waited for: %s ms", (headers, expected) => {
  expect(requestedWaitMs(headers, 0)).toBe(expected);
});

const now = 1_999_999_990_000;

test.each([
  [{ "retry-after": "2000000000" }, 10_000],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "2000000000000" }, 10_000],
  [{ "retry-after": "2592000" }, 2_592_000_000],
  [{ "retry-after": "3000000" }, undefined],
  [{ "retry-after": "9999999999999999999" }, undefined],
  [{ "retry-after": "Tue, 31 Dec 2199 23:59:59 GMT" }, undefined],
  [{ "retry-after-ms": "9000000000", "retry-after": "2" }, 2000],
  [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "400d" }, undefined],
])("%j in 2033 asks to wait %s ms, and a wait that no limit is counted over is none (E6)", (headers, expected) => {
  expect(requestedWaitMs(headers, now)).toBe(expected);
});

describe("the message of an error", () => {
  test("is one line of at most 500 characters", () => {
    expect(readErrorBody(`a \n\t b${"c".repeat(497)}`).message).toBe(`a b${"c".repeat(497)}`);
    expect(readErrorBody(`a b${"c".repeat(498)}`).message).toBe(`a b${"c".repeat(497)}…`);
  });

  test.each([
    [undefined, undefined],
    [null, undefined],
    [[1], undefined],
    [{ detail: null }, undefined],
    [{}, undefined],
    ["plain", { message: "plain" }],
    [{ error: { message: 3 } }, { message: "3" }],
    [{ error: {} }, { message: "" }],
    [
      { error: "bad", code: 5 },
      { message: "bad", code: "5" },
    ],
    [{ message: "bad", code: "" }, { message: "bad" }],
    [
      { message: "bad", type: "Oops" },
      { message: "bad", code: "Oops" },
    ],
    [
      { errors: { message: "bad", code: 1 }, code: 2 },
      { message: "bad", code: "1" },
    ],
    [
      { errors: { message: "bad" }, code: 2 },
      { message: "bad", code: "2" },
    ],
    [
      { detail: { a: 1 }, code: 7 },
      { message: '{"a":1}', code: "7" },
    ],
    [{ detail: [{ msg: "missing" }, { loc: ["a"] }, "x"] }, { message: 'missing; {"loc":["a"]}; "x"' }],
  ])("of %j is %j", (body, expected) => {
    expect(errorIn(body)).toEqual(expected);
  });

  test("in a body of another shape is the body", () => {
    expect(readErrorBody("[1, 2]")).toEqual({ message: "[1, 2]" });
    expect(readErrorBody("  ")).toEqual({ message: "" });
  });
});

test("tokens of a request are estimated from its texts, three bytes each, the query once for each document", () => {
  expect(estimatedTokens(undefined)).toBe(0);
  expect(estimatedTokens({ input: ["abc", "密", "d"], count: 7, none: null })).toBe(3);
  expect(estimatedTokens({ query: "abcdef", documents: ["abc", "abc", "abc"] })).toBe(3 * 2 + 3);
  expect(estimatedTokens({ query: "abcdef", documents: "abc" })).toBe(2 + 1);
  expect(estimatedTokens({ messages: [{ image_url: { url: "x".repeat(900) } }, { text: "abcd" }] })).toBe(2);
});

test("a conflict may pass, but not that of a task which is running and was to be cancelled", () => {
  const conflict = (operation: "chat" | "cancelVideoTask") =>
    serviceFailure({ operation, status: 409, headers: {}, body: { message: "no" }, nowMs: 0 });
  expect(conflict("chat")).toMatchObject({ code: "refused", retryable: true });
  expect(conflict("cancelVideoTask")).toMatchObject({ code: "refused", retryable: false });
});
