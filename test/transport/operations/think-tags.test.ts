import fc from "fast-check";
import { expect, test } from "vitest";
import { ThinkTagSplitter } from "../../../src/transport/operations/chat/think-tags.js";
import { streamed, transportFor } from "../../support/transport-for.js";

/** Splits a reply that arrives in these pieces. */
function split(pieces: readonly string[]) {
  const splitter = new ThinkTagSplitter();
  const parts = [...pieces.map((piece) => splitter.push(piece)), splitter.end()];
  return {
    reasoning: parts.map(({ reasoning }) => reasoning).join(""),
    text: parts.map(({ text }) => text).join(""),
  };
}

test.each([
  ["<think>why</think>\n\nso", "why", "so"],
  ["\n <think>a < b</thin</think>so", "a < b</thin", "so"],
  ["<think>cut sho", "cut sho", ""],
  ["<think>cut</thi", "cut</thi", ""],
  ["<think></think>so", "", "so"],
  ["<think>why</think>so <think>text</think>", "why", "so <think>text</think>"],
  ["see <think>text</think>", "", "see <think>text</think>"],
  ["<thi", "", "<thi"],
  ["  so", "", "  so"],
  ["", "", ""],
])("of %j the thinking is %j and the text %j, wherever the pieces break", (reply, reasoning, text) => {
  expect(split([reply])).toEqual({ reasoning, text });
  expect(split(reply.split(""))).toEqual({ reasoning, text });
  fc.assert(
    fc.property(fc.array(fc.nat(reply.length)), (cuts) => {
      const bounds = [0, ...cuts.toSorted((a, b) => a - b), reply.length];
      const pieces = bounds.slice(1).map((end, index) => reply.slice(bounds[index], end));
      expect(split(pieces)).toEqual({ reasoning, text });
    }),
    { numRuns: 50 },
  );
});

test("thinking that a service leaves in the text is told apart when the options say so, and only there (C2)", async () => {
  const reply = streamed("<thi", "nk>wh", "y</think>", "\n\nso");
  const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };
  const separated = await transportFor([reply], { thinkTags: true });
  expect(await separated.transport.chat(ask)).toMatchObject({ reasoning: "why", text: "so" });
  const plain = await transportFor([reply]);
  expect(await plain.transport.chat(ask)).toMatchObject({ reasoning: "", text: "<think>why</think>\n\nso" });
});
