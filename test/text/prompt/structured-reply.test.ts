import { expect, test } from "vitest";
import { readStructuredReply, structuredPrompt } from "../../../src/text/prompt/structured-reply.js";

const schema = { type: "object", properties: { days: { type: "integer" } } } as const;

test("the system message ends with the application's instructions, after a blank line and without white space around them", () => {
  const rules = structuredPrompt(schema);
  expect(rules).toContain(JSON.stringify(schema));
  expect(rules).toBe(rules.trim());
  expect(structuredPrompt(schema, "\n Be brief. \n")).toBe(`${rules}\n\nBe brief.`);
});

test("instructions of nothing but white space change nothing in the system message", () => {
  expect(structuredPrompt(schema, " \n\t")).toBe(structuredPrompt(schema));
});

test.each([
  ["no brace at all", "90 days", /no JSON object/],
  ["braces the wrong way round", "} 90 days {", /no JSON object/],
  ["a lone opening brace", 'said {"answer": 1', /no JSON object/],
  ["an object that is cut off", '{"answer": {"days": 90}', /no valid JSON/],
  ["no answer, though it claims one", '{"citations": []}', /no "answer"/],
  ["an answered that is no boolean", '{"answered": "yes", "answer": 1}', /answered/],
])("a reply with %s says what is wrong with it", (_what, reply, problem) => {
  expect(readStructuredReply(reply)).toEqual({ problem: expect.stringMatching(problem) });
});

test("a reply is read from the first brace to the last, and what is no citation is left out of it", () => {
  const citations = [{ source: 1, quote: "90" }, { source: "2" }, { source: 0 }, { source: 1.5 }, "3", null];
  const reply = `Sure: ${JSON.stringify({ citations, answer: { days: 90 } })} Done.`;
  expect(readStructuredReply(reply)).toEqual({
    answered: true,
    answer: { days: 90 },
    sources: [{ number: 1, quote: "90" }, { number: 2 }],
  });
});

test("a reply without an answer needs none, and citations that are no list are none", () => {
  expect(readStructuredReply('{"answered": false, "citations": 4}')).toEqual({
    answered: false,
    answer: undefined,
    sources: [],
  });
  expect(readStructuredReply("{}")).toEqual({ problem: 'It has no "answer".' });
  expect(readStructuredReply('{"answer": null}')).toEqual({ answered: true, answer: null, sources: [] });
});
