import { expect, test } from "vitest";
import type { Failure } from "../../../src/transport/failures/failure.js";
import { keepSecret } from "../../../src/transport/failures/secrecy.js";
import { transportError, type FailedCall } from "../../../src/transport/failures/transport-error.js";

const call: FailedCall = {
  operation: "embeddings",
  service: "contract",
  baseUrl: "https://api.example.org/v1",
  path: "/embeddings",
  hasKey: true,
  model: "test/embed",
  attempts: 1,
  secrecy: keepSecret("sk-secret"),
};
const failure = (more: Partial<Failure>): Failure => ({
  code: "refused",
  message: "no",
  retryable: false,
  undelivered: false,
  ...more,
});
const said = (more: Partial<Failure>, of: Partial<FailedCall> = {}) =>
  transportError(failure(more), { ...call, ...of }).message;

test("an error names the operation, the attempts if there were several, and the marks of the reply", () => {
  expect(said({})).toBe("embeddings failed: no");
  expect(said({ status: 400, serviceCode: "20015", requestId: "r-1" }, { attempts: 2 })).toBe(
    "embeddings failed after 2 attempts: no (status 400, code 20015, request id r-1)",
  );
});

test.each<[Partial<Failure>, Partial<FailedCall>, string]>([
  [{ code: "unauthorized" }, { hasKey: false }, "createTransport({ apiKey })"],
  [{ code: "unauthorized" }, {}, "the key was not accepted by https://api.example.org/v1"],
  [
    { code: "unsupported-model" },
    {},
    "test/embed is not a model that https://api.example.org/v1 publishes for embeddings",
  ],
  [{ code: "not-found" }, {}, "https://api.example.org/v1/embeddings"],
  [{ code: "not-found" }, { operation: "videoTask" }, "there is no such task"],
  [{ code: "not-found" }, { operation: "cancelVideoTask" }, "there is no such task"],
  [{ code: "network" }, {}, "cannot reach https://api.example.org/v1: no. Check that the address is right"],
  [{ code: "too-large", maxBatchTexts: 32 }, {}, "Send at most 32 texts"],
  [{ code: "too-large", maxInputTokens: 512, maxBatchTexts: 32 }, {}, "Cut each text to at most 512 tokens"],
  [{ code: "context-length" }, {}, "Shorten the messages"],
  [{ code: "rate-limited", retryAfterMs: 1001 }, {}, "The service asks to wait 2 s"],
])("of %j in %j the advice is %s", (more, of, advice) => {
  expect(said(more, of)).toContain(advice);
});

test.each<Partial<Failure>>([{ code: "too-large" }, { code: "rate-limited" }, { code: "upstream" }])(
  "of %j there is nothing to advise",
  (more) => {
    expect(said(more)).toBe("embeddings failed: no");
  },
);

test("only the creation of a video that surely did not arrive is said to be safe to repeat", () => {
  const safe = "creating it again is safe";
  const create = { operation: "createVideoTask" } as const;
  expect(said({ undelivered: true }, create)).toContain(safe);
  expect(said({ undelivered: true })).not.toContain(safe);
  expect(said({}, create)).not.toContain(safe);
  expect(said({ undelivered: true, code: "ambiguous" }, create)).not.toContain(safe);
});

test("the key is in nothing that is shown: message, service's code, request id, partial text or cause", () => {
  const error = transportError(
    failure({
      message: "bad sk-secret",
      serviceCode: "sk-secret",
      requestId: "sk-secret",
      partialText: "so sk-secret",
      cause: Object.assign(new Error("at sk-secret"), { deep: { key: "sk-secret" } }),
    }),
    call,
  );
  expect(error).toMatchObject({ serviceCode: "[key]", requestId: "[key]", partialText: "so [key]" });
  expect(error.message).not.toContain("sk-secret");
  expect((error.cause as Error).message).toBe("at [key]");
  const harmless = new Error("harmless");
  expect(transportError(failure({ cause: harmless }), call).cause).toBe(harmless);
  expect(transportError(failure({ cause: "sk-secret" }), call).cause).toMatchObject({ message: "[key]" });
});
