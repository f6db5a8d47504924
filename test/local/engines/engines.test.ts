import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lexicalVector } from "../../../src/local/engines/embedding/lexical-embedding.js";
import { lexicalRerank } from "../../../src/local/engines/rerank/lexical-rerank.js";
import { pieces } from "../../../src/local/engines/rerank/pieces.js";
import { fillArguments } from "../../../src/local/engines/chat/values/schema-value.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";

const { signal } = new AbortController();
const model = { id: "rerank", type: "rerank" } as const;

function cosine(a: string, b: string): number {
  const [one, other] = [lexicalVector(a, 1024), lexicalVector(b, 1024)];
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

describe("lexical vectors", () => {
  test("any text has a vector of length 1, always the same", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom(1, 64, 1024), (text, dimension) => {
        const vector = lexicalVector(text, dimension);
        expect(vector.length).toBe(dimension);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
        expect(lexicalVector(text, dimension)).toEqual(vector);
      }),
    );
  });

  test.each([
    ["rotating keys", "How to rotate a key", "How to bake a cake"],
    ["the configuration of the sampler", "sampler configuration", "the history of the theatre"],
    ["confguration of the smapler", "configuration of the sampler", "temperature of the boiler"],
    ["如何更换密钥", "密钥的更换方法", "如何烤蛋糕"],
  ])("%s is nearer to what shares its telling words", (text, near, far) => {
    expect(cosine(text, near)).toBeGreaterThan(cosine(text, far) + 0.05);
  });
});

describe("lexical rerank", () => {
  const score = (query: string, documents: readonly string[], maxChunksPerDocument = 1024, overlapTokens = 0) =>
    lexicalRerank().score(query, documents, { model, signal, maxChunksPerDocument, overlapTokens });

  test("adjacent query words score higher than the same words far apart", async () => {
    const [adjacent = 0, distant = 0, none] = await score("batch processor", [
      "the batch processor of this pipeline has a queue and a timer",
      "the processor of this pipeline has a queue, a timer and a batch",
      "the pipeline has a queue",
    ]);
    expect(adjacent).toBeGreaterThan(distant);
    expect(none).toBe(0);
  });

  test("a synonym of a query word scores, and less than the word itself", async () => {
    const [itself = 0, synonym = 0, other = 0] = await score("disable the cache", [
      "you disable it by an option of the cache",
      "you deactivate it by an option of the cache",
      "you admire it by an option of the cache",
    ]);
    expect(itself).toBeGreaterThan(synonym);
    expect(synonym).toBeGreaterThan(other);
  });

  test("where a passage defines the thing that is asked for, others fall well behind, however often they name it", async () => {
    const body = "Each of them has a queue, and a timer for the queue.";
    const [entry = 0, other = 1] = await score("What is a batch processor?", [
      `Glossary\n\n### Array\n\nValues in a row.\n\n### Batch processor\n\nCollects spans and sends them. ${body}`,
      `Guide > Tuning\n\nA batch processor and another batch processor wait. ${body} Any batch processor helps.`,
    ]);
    expect(other).toBeLessThan(0.75 * entry);
  });

  test("a chunk defines the title of its page no more than others that name it, unless it stands right below", async () => {
    const question = "What is a batch processor?";
    const body = "It has a queue, and a timer for the queue.";
    const [below = 0, deeper = 0] = await score(question, [
      `Batch processor\n\nThe batch processor waits. ${body}`,
      `Batch processor > Limits\n\nThe batch processor waits. ${body}`,
    ]);
    expect(deeper).toBeLessThan(0.75 * below);
  });

  test("a document scores as its best piece, and pieces beyond the maximum are ignored", async () => {
    const filler = "Nothing of interest stands here at all. ".repeat(200);
    const long = `${filler}The red apple is sweet.`;
    expect((await score("red apple", [long]))[0]).toBeGreaterThan(0.2);
    expect((await score("red apple", [long], 1))[0]).toBe(0);
  });

  test("a passage whose heading equals the question ranks above one under a longer heading", async () => {
    const body = "Each of them has a queue, and a timer for the queue.";
    const [same = 0, longer = 0, none = 0] = await score("batch processor", [
      `Guide > Batch processor\n\n${body} The batch processor waits.`,
      `Guide > Limits of the batch processor in older releases\n\n${body} The batch processor waits.`,
      `Guide > Others\n\n${body} The batch processor waits.`,
    ]);
    expect(same).toBeGreaterThan(longer);
    expect(longer).toBeGreaterThan(none);
  });

  test("a line of # and signs without words, such as a comment in code, is no heading and leaves the score a number", async () => {
    const body = "The batch processor waits.";
    const [signs, none] = await score("batch processor", [
      `Guide > Batch\n\n${body}\n# >>> ---\n`,
      `Guide > Batch\n\n${body}\n>>> ---\n`,
    ]);
    expect(signs).toBe(none);
  });

  test.each([
    ["What is a batch?", "A **batch** is a group of records.", "Every batch, batch after batch, fills a batch queue."],
    ["什么是批次？", "批次（Batch）是一组记录。", "批次之后还有批次，批次进入批次队列。"],
  ])("%s finds the passage that defines it, however often others name it", async (question, defines, names) => {
    const [defining = 0, naming = 0] = await score(question, [defines, names]);
    expect(defining).toBeGreaterThan(naming);
  });

  test("scores do not depend on the order of the documents", async () => {
    const documents = [
      "the batch processor has a queue",
      "a queue of batches",
      "Queues\n\nthe timer of a batch",
      "no word of it",
    ];
    const scores = await score("queue of the batch processor", documents);
    const backwards = await score("queue of the batch processor", documents.toReversed());
    expect(backwards.toReversed()).toEqual(scores.map((one) => expect.closeTo(one, 10)));
  });

  test("scores lie between 0 and 1 for any input", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.array(fc.string()), async (query, documents) => {
        const scores = await score(query, documents);
        expect(scores.length).toBe(documents.length);
        expect(scores.every((one) => one >= 0 && one <= 1)).toBe(true);
      }),
    );
  });

  test("pieces cover the text in order, stay within the limit, and overlap by the requested tokens", () => {
    const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
    const limits = { maxTokens: 50, overlapTokens: 10, maxPieces: 1024 };
    const found = pieces(text, limits);
    expect(text.startsWith(found[0] ?? "")).toBe(true);
    expect(text.endsWith(found.at(-1) ?? "")).toBe(true);
    let end = 0;
    for (const piece of found) {
      const start = text.indexOf(piece);
      expect(defaultTokens.count(piece)).toBeLessThanOrEqual(50);
      expect(start).toBeLessThanOrEqual(end);
      if (start > 0) expect(defaultTokens.count(text.slice(start, end))).toBeGreaterThanOrEqual(10);
      end = start + piece.length;
    }
  });
});

describe("tool arguments", () => {
  const object = (properties: object, required = Object.keys(properties)) => ({ type: "object", properties, required });

  test.each([
    ["a number within its bounds", object({ n: { type: "integer", minimum: 5 } }), "Roll 2 dice 10 times", { n: 10 }],
    ["a quoted text", object({ text: { type: "string" } }), 'Translate "good morning" now', { text: "good morning" }],
    ["a sum", object({ expression: { type: "string" } }), "What is 12 * (3 + 4)?", { expression: "12 * (3 + 4)" }],
    ["several numbers", object({ v: { type: "array", items: { type: "number" } } }), "Add 1.5 and 2", { v: [1.5, 2] }],
    [
      "a whole question",
      object({ query: { type: "string" } }),
      "Why is the sky blue?",
      { query: "Why is the sky blue?" },
    ],
    ["a constant", object({ kind: { const: "x" } }), "Go", { kind: "x" }],
    [
      "an object within",
      object({ at: object({ date: { type: "string", format: "date" } }) }),
      "On 2026-01-02",
      { at: { date: "2026-01-02" } },
    ],
  ])("%s is taken from the question", (_, schema, question, expected) => {
    expect(fillArguments(schema, question)).toEqual(expected);
  });

  test.each([
    ["itself", { $ref: "#" }],
    ["itself in a rule", object({ text: { type: "string", allOf: [{ $ref: "#/properties/text" }] } })],
    ["itself in a list", object({ all: { type: "array", items: { $ref: "#/properties/all/items" } } })],
    ["nothing", object({ text: { $ref: "#/nowhere" } })],
  ])("a schema that refers to %s makes no call fail", (_, schema) => {
    expect(() => fillArguments(schema, "How long does it take?")).not.toThrow();
  });

  test("a tool is not called when the question names no number for it", () => {
    expect(fillArguments(object({ n: { type: "integer" } }), "Roll the dice")).toBeUndefined();
  });
});
