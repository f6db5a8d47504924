// In test:all alone: it sends thousands of random requests, for 11 s.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { post } from "../conformance.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service.close());

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom("Context: Keys last 90 days.\n\nQuestion: How long do keys last?", "</tool_response>", "\ud800"),
);
const keywords =
  "type properties required $ref enum const items prefixItems anyOf allOf format pattern minItems minLength minimum maximum multipleOf";
const schema = fc.oneof(
  fc.dictionary(fc.constantFrom(...keywords.split(" ")), fc.jsonValue()),
  fc.constantFrom(
    {},
    { $ref: "#" },
    { allOf: [{ $ref: "#" }] },
    { enum: [] },
    { type: "string", format: "constructor" },
    { type: "object", properties: { a: { $ref: "#" }, b: { $ref: "#" } }, required: ["a", "b"] },
    { type: "array", items: { $ref: "#" }, minItems: 1000 },
    { type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } }, required: ["a", "__proto__"] },
    { type: "object", properties: { days: { type: "integer" } }, required: ["days"] },
  ),
);
const content = fc.oneof(text, fc.array(fc.record({ type: fc.constant("text"), text })), fc.constant(null));
const call = fc.record({
  id: fc.constantFrom("a", "b"),
  type: fc.constant("function"),
  function: fc.record({ name: fc.constantFrom("how", "keys"), arguments: text }),
});
const message = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "developer", "user"), content }),
  fc.record({ role: fc.constant("assistant"), content, tool_calls: fc.array(call, { maxLength: 2 }) }),
  fc.record({ role: fc.constant("tool"), tool_call_id: fc.constantFrom("a", "b"), content }),
);
const tool = fc.record({
  type: fc.constant("function"),
  function: fc.record({ name: fc.constantFrom("how", "keys"), parameters: schema }),
});
const chat = fc.record(
  {
    model: fc.constantFrom("citewell/local-extractive", "citewell/local-look", "citewell/local-extractive-q3"),
    messages: fc.array(message, { minLength: 1, maxLength: 14 }),
    stream: fc.boolean(),
    stop: fc.oneof(text, fc.array(text)),
    tools: fc.array(tool, { maxLength: 3 }),
    tool_choice: fc.constantFrom("required", "auto", { type: "function", function: { name: "how" } }),
    response_format: fc.record({ type: fc.constant("json_schema"), json_schema: fc.record({ schema }) }),
    extra: fc.jsonValue(),
  },
  { requiredKeys: ["model", "messages"] },
);
const rerank = fc.record(
  {
    query: text,
    documents: fc.array(
      fc.oneof({ arbitrary: text, weight: 9 }, fc.dictionary(fc.constantFrom("text", "title", "a"), fc.jsonValue())),
    ),
    texts: fc.array(text),
    rank_fields: fc.array(fc.constantFrom("text", "title", "__proto__")),
    top_n: fc.integer({ min: 0, max: 9 }),
    [`\r\nset-cookie: a`]: fc.jsonValue(),
  },
  { requiredKeys: ["query"] },
);
const embeddings = fc.record({
  model: fc.constant("citewell/local-lexical"),
  input: fc.oneof(text, fc.array(text), fc.array(fc.nat(100_300)), fc.array(fc.array(fc.nat(100_300)))),
  dimensions: fc.integer({ min: -1, max: 600 }),
});

const item = fc.oneof(
  fc.record(
    {
      role: fc.constantFrom("user", "assistant", "system"),
      content: fc.oneof(text, fc.array(fc.record({ type: fc.constant("input_text"), text }))),
    },
    { requiredKeys: ["role", "content"] },
  ),
  fc.record({ type: fc.constant("item_reference"), id: text }),
  fc.record({ type: fc.constant("function_call"), call_id: text, name: text, arguments: text }),
  fc.record({ type: fc.constant("function_call_output"), call_id: text, output: text }),
);
const responses = fc.record(
  {
    model: fc.constant("citewell/local-extractive"),
    input: fc.oneof({ arbitrary: text, weight: 3 }, fc.array(item, { maxLength: 4 })),
    stream: fc.boolean(),
    store: fc.boolean(),
    max_output_tokens: fc.integer({ min: 0, max: 50 }),
    tools: fc.array(
      fc.record({ type: fc.constantFrom("function", "function", "web_search"), name: fc.constantFrom("look", "save") }),
      { maxLength: 2 },
    ),
    tool_choice: fc.oneof(fc.constantFrom("auto", "none"), fc.record({ type: fc.constant("function"), name: text })),
    text: fc.record({ format: fc.record({ type: fc.constantFrom("text", "json_object", "json_schema"), name: text }) }),
  },
  { requiredKeys: ["model", "input"] },
);

test.each<[string, fc.Arbitrary<object>]>([
  ["/v1/chat/completions", chat],
  ["/v1/responses", responses],
  ["/v1/embeddings", embeddings],
  ["/v1/rerank", rerank],
  ["/v2/rerank", rerank],
  ["/rerank", rerank],
])("no request to %s makes the service fail", async (path, request) => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof({ arbitrary: request, weight: 9 }, fc.jsonValue()), async (body) => {
      const reply = await post(service, path, JSON.stringify(body));
      expect([reply.status < 500, reply.text]).toEqual([true, expect.any(String)]);
      if (reply.status === 200) answered++;
    }),
    { numRuns: 150 },
  );
  // If all were refused, the engines would not have been reached.
  expect(answered).toBeGreaterThan(5);
});

test("values of up to a hundred levels are taken where a field is free-form, deeper ones are a 400", async () => {
  const deep = (levels: number) => `${'{"type":'.repeat(levels)}"object"${"}".repeat(levels)}`;
  const start = '{"model":"citewell/local-extractive","messages":[{"role":"user","content":"Hello"}]';
  for (const [levels, status] of [
    [90, 200],
    [5000, 400],
  ] as const) {
    const nested = deep(levels);
    const format = `"response_format":{"type":"json_schema","json_schema":{"schema":${nested}}}`;
    const tools = `"tools":[{"type":"function","function":{"name":"f","parameters":${nested}}}]`;
    for (const field of [`"metadata":{"a":${nested}}`, `"unknown":${nested}`, format, tools]) {
      expect(await post(service, "/v1/chat/completions", `${start},${field}}`)).toMatchObject({ status });
    }
  }
});
