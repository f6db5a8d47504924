import { expect, test } from "vitest";
import { normaliseBaseUrl } from "../../../src/transport/base-url.js";
import { createTransport } from "../../../src/transport/transport.js";

test.each([
  ["https://host", "https://host"],
  ["https://host/", "https://host"],
  ["https://host//", "https://host"],
  ["https://host/llm/v1", "https://host"],
  ["https://host/llm/v1/", "https://host"],
  ["https://host/llm/v1/embeddings", "https://host"],
  ["https://host/llm/v1/chat/completions/", "https://host"],
  ["https://host:8443/gateway/llm/v1/rerank", "https://host:8443/gateway"],
  ["https://host/gateway/", "https://host/gateway"],
])("%s means %s (E10)", (given, meant) => {
  expect(normaliseBaseUrl(given)).toBe(meant);
});

test("a pasted path of the options' own paths is taken off too (E10)", () => {
  expect(normaliseBaseUrl("https://host/v1/embeddings", ["/v1/embeddings"])).toBe("https://host");
});

test.each(["host", "ftp://host", "https://user:hunter2@host", "https://host/?key=hunter2", ""])(
  "%s is refused without being quoted, since it may hold a key",
  (baseUrl) => {
    expect(() => createTransport({ baseUrl })).toThrow(expect.objectContaining({ code: "options" }));
    expect(() => createTransport({ baseUrl })).not.toThrow(/hunter2/);
  },
);
