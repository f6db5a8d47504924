// In test:all alone: it sends hundreds of random requests, for 6 s.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { paths, post } from "../conformance.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service.close());

const text = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
  fc.constantFrom(
    '<source id="1">\nA key lasts 90 days.\n</source>\n<question>\nHow long?\n</question>',
    '<tool_response>\n{"name":1}\n</tool_response>',
    "<|endoftext|>",
    "[1] a\n[1] b\n\nQuestion:",
    "```\n| a |\n",
    "Rewrite as a standalone question: 它呢？",
    "\ud800",
  ),
);
const schema = fc.oneof(
  fc.dictionary(fc.constantFrom("type", "properties", "required", "$ref", "enum", "items", "anyOf"), fc.jsonValue()),
  fc.constantFrom(
    { $ref: "#" },
    { type: "object", properties: { self: { $ref: "#" } }, required: ["self"] },
    { type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } }, required: ["a"] },
    { type: "object", properties: JSON.parse('{"__proto__":{"type":"string"}}') as object, required: ["__proto__"] },
  ),
);
const model = fc.constantFrom(...["-q3", "-d", "-s", ""].map((family) => `citewell/local-extractive${family}`));
const tool = fc.record({
  type: fc.constant("function"),
  function: fc.record({ name: fc.constantFrom("how", "get_key"), description: text, parameters: schema }),
});
const valid = {
  embeddings: fc.record({
    model: fc.constant("citewell/local-lexical"),
    input: fc.array(
      fc.oneof({ arbitrary: text, weight: 30 }, { arbitrary: fc.constant("x".repeat(5000)), weight: 1 }),
      {
        minLength: 1,
        maxLength: 33,
      },
    ),
  }),
  rerank: fc.record({
    model: fc.constant("citewell/local-lexical-rerank"),
    query: text,
    documents: fc.array(fc.oneof(text, fc.constant("long text ".repeat(2000))), { maxLength: 5 }),
    overlap_tokens: fc.integer({ min: 0, max: 80 }),
    max_chunks_per_doc: fc.integer({ min: 1, max: 3 }),
  }),
  chat: fc.record(
    {
      model,
      messages: fc.array(fc.record({ role: fc.constantFrom("system", "user", "assistant"), content: text }), {
        minLength: 1,
        maxLength: 10,
      }),
      stream: fc.boolean(),
      max_tokens: fc.integer({ min: 1, max: 20 }),
      stop: fc.array(fc.constantFrom("a", " ", "\n", "。"), { minLength: 1, maxLength: 4 }),
      n: fc.integer({ min: 1, max: 8 }),
      tools: fc.array(tool, { maxLength: 3 }),
      response_format: fc.constantFrom({ type: "json_object" }, { type: "text" }),
    },
    { requiredKeys: ["model", "messages"] },
  ),
};

test.each(["embeddings", "rerank", "chat"] as const)("no request to %s makes the service fail", async (operation) => {
  const good: fc.Arbitrary<object> = valid[operation];
  const oneFieldOff = fc
    .tuple(good, fc.string(), fc.jsonValue())
    .map(([request, key, value]) => ({ ...request, [key]: value }));
  const body = fc.oneof<fc.MaybeWeightedArbitrary<unknown>[]>(
    { arbitrary: good, weight: 4 },
    { arbitrary: oneFieldOff, weight: 1 },
    { arbitrary: fc.jsonValue(), weight: 1 },
  );
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(body, async (request) => {
      const { status } = await post(service, paths[operation], JSON.stringify(request));
      expect(status).toBeLessThan(500);
      if (status === 200) answered++;
    }),
    { numRuns: 200 },
  );
  // If all were refused, the engines would not have been reached.
  expect(answered).toBeGreaterThan(10);
});
