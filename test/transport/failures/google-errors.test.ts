import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { readErrorBody } from "../../../src/transport/failures/error-body.js";
import { serviceFailure } from "../../../src/transport/failures/service-failure.js";
import { failure, streamed, transportFor } from "../../support/transport-for.js";

const ask = { model: "gemini-2.5-flash", messages: [{ role: "user" as const, content: "?" }] };

/** The error of a quota as Gemini writes it. */
const quotaError = (retryDelay: string, quotaId = "GenerateRequestsPerMinutePerProjectPerModel") => ({
  error: {
    code: 429,
    message: "You exceeded your current quota.",
    status: "RESOURCE_EXHAUSTED",
    details: [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId, quotaValue: "10" }] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay },
    ],
  },
});

test("an error in a list is read", () => {
  const error = { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" };
  expect(readErrorBody(JSON.stringify([{ error }]))).toEqual({ code: "400", message: "API key not valid." });
});

test.each([
  ["34.074824224s", expect.closeTo(34_074.8, 0)],
  ["7s", 7000],
  ["0.5s", 500],
])("the wait %s of RetryInfo counts", (retryDelay, milliseconds) => {
  for (const body of [quotaError(retryDelay), [quotaError(retryDelay)]]) {
    const described = serviceFailure({
      operation: "chat",
      status: 429,
      headers: {},
      body: JSON.stringify(body),
      nowMs: 0,
    });
    expect(described).toMatchObject({ code: "rate-limited", retryable: true, retryAfterMs: milliseconds });
  }
});

describe("through the transport", () => {
  test("a refused call waits as long as RetryInfo says, and other calls with it", async () => {
    const { transport, upstream } = await transportFor([
      { status: 429, json: [quotaError("0.4s")] },
      streamed("4"),
      streamed("5"),
    ]);
    await collect(transport.chatStream(ask));
    expect(upstream.gapsMs[0]).toBeGreaterThanOrEqual(390);
  });

  test("a quota of the day is not waited for", async () => {
    const perDay = quotaError("0.1s", "GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    const { transport, upstream } = await transportFor([{ status: 429, json: [perDay] }]);
    expect(await failure(transport.chat(ask))).toMatchObject({ code: "rate-limited", attempts: 1 });
    expect(upstream.requests).toHaveLength(1);
  });

  test("an error in a list with status 200 in the middle of a stream is one", async () => {
    const { transport } = await transportFor(
      [{ sse: [[{ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }]] }],
      { maxRetries: 0 },
    );
    expect(String(await failure(collect(transport.chatStream(ask))))).toContain("The model is overloaded.");
  });
});
