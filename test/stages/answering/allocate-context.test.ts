import { expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import type { Turn } from "../../../src/core/types.js";
import { allocateContext, type FixedParts } from "../../../src/stages/answering/allocate-context.js";
import { renderSourcedQuestion } from "../../../src/text/prompt/prompt.js";

/** One token per character, so that sums are easy to follow. */
const tokens: TokenCounter = { name: "characters", count: ({ length }) => length };
/** Tokens around each message. */
const framing = 8;
const asking = renderSourcedQuestion({ sources: [], question: "Why?" }).length + framing;
const parts: FixedParts = {
  system: "s".repeat(100),
  question: "Why?",
  history: [],
  tools: [],
  pictureTokens: 0,
  repairTokens: 0,
};
const options = { answerTokens: 2000, thinkingTokens: 1600 };

/** The shares when the reply, the system message and the question leave this much room. */
function shares(room: number, more: Partial<FixedParts> = {}) {
  const contextTokens = 3600 + (100 + framing) + asking + room;
  return allocateContext({ contextTokens, maxOutputTokens: 100_000, tokens }, options, { ...parts, ...more });
}

/** A history that has this many tokens in its messages: system, question, answer and the one that asks. */
const turns = (count: number): Turn[] => [
  { role: "user", text: "q".repeat(100) },
  { role: "assistant", text: "a".repeat(count - 100 - 4 * framing) },
];

test("without history and tools, the sources get all but the reply, the instructions and the question", () => {
  expect(shares(12_000)).toEqual({ reply: 3600, conversation: 0, results: 0, sources: 12_000 - 16 });
});

test.each([500, 2999, 3000, 3001, 9000])(
  "a history of %i tokens gets what it needs, at most a quarter of the room",
  (count) => {
    const conversation = Math.min(count, 3000);
    expect(shares(12_000, { history: turns(count) })).toEqual({
      reply: 3600,
      conversation,
      results: 0,
      sources: 12_000 - conversation - 64 - 16,
    });
  },
);

test("system turns of the history count as instructions, and leave less room", () => {
  const history: Turn[] = [{ role: "system", text: "y".repeat(98) }];
  // An empty line joins them to the system message. Without them the history is two empty messages.
  expect(shares(12_000, { history })).toMatchObject({
    conversation: 2 * framing,
    sources: 12_000 - 100 - 2 * framing - 64 - 16,
  });
});

test("rounds of tools get a third of the room, results half of that, and descriptions are counted with their framing", () => {
  const tool = { name: "look_up", description: "Looks it up", parameters: {} };
  const described = 2 * (JSON.stringify(tool).length + 32);
  expect(shares(12_000 + described, { tools: [tool, tool], history: turns(9000) })).toEqual({
    reply: 3600,
    conversation: 4000 + 3000,
    results: 2000,
    sources: 12_000 - 4000 - 3000 - 64 - 16,
  });
});

test("a repair has its tokens reserved, with the question that it repeats", () => {
  expect(shares(12_000, { repairTokens: 500 }).sources).toBe(12_000 - 500 - asking - 16);
});

test("by default the answer and the thinking get 4,096 tokens each, but at most a quarter and an eighth of the context", () => {
  const reply = (contextTokens: number, maxOutputTokens = 100_000, of: { contextTokens?: number } = {}) =>
    allocateContext({ contextTokens, maxOutputTokens, tokens }, of, parts).reply;
  expect(reply(100_000)).toBe(4096 + 4096);
  expect(reply(16_000)).toBe(4000 + 2000);
  expect(reply(100_000, 1000)).toBe(1000);
  expect(reply(100_000, 100_000, { contextTokens: 8000 })).toBe(2000 + 1000);
  expect(reply(16_000, 100_000, { contextTokens: 80_000 })).toBe(4000 + 2000);
});

test("room for 256 tokens is enough; less is refused with the figures", () => {
  expect(shares(256).sources).toBe(256 - 16);
  expect(() => shares(255)).toThrow(
    new RegExp(
      `question has ${asking} tokens, instructions and tools 108, and 3600 are kept .* leaves 255 for .* at least 256`,
    ),
  );
  expect(() => shares(-7)).toThrow("leaves 0 for sources");
});
