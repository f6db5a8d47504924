import { expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import type { Hit } from "../../../src/core/types.js";
import { AnswerSources, packedSources } from "../../../src/stages/answering/answer-sources.js";
import { packSources } from "../../../src/text/prompt/pack.js";
import { renderSource } from "../../../src/text/prompt/prompt.js";

/** A token a character: budgets can be followed. */
const tokens: TokenCounter = { name: "characters", count: ({ length }) => length };
const whole = "Keys expire after 90 days. They cannot be renewed. Admins may revoke keys.";

function hit(start: number, end: number, uri = "keys.md", text = whole.slice(start, end)): Hit {
  const chunk = { id: `${uri}#${start}`, documentId: uri, start, end, text, context: "", tokens: 9 };
  return { chunk, uri, score: 1, placements: [] };
}
const limits = { step: "search again", maxTokens: 1000, tokens };

/** Sources of an answer that came with one hit: the first 50 characters of the text. */
function sources(): AnswerSources {
  const given = [hit(0, 50)];
  return new AnswerSources(packedSources(given, packSources(given, { maxTokens: 1000, tokens })));
}

test("a hit within a source that came with the question is only mentioned", () => {
  for (const within of [hit(0, 50), hit(0, 26), hit(27, 50)]) {
    const answer = sources();
    expect(answer.add([within], limits)).toEqual({
      content: "Also found, and given before: [1]",
      summary: "Found passages of keys.md",
    });
    expect(answer.size).toBe(1);
  }
});

test.each([
  ["that goes on behind it", hit(27, 74)],
  ["of another document", hit(0, 26, "other.md")],
  ["whose text is another at that place", hit(0, 26, "keys.md", "Keys expire after 80 days.")],
])("a hit %s is a new source with the next number", (_, found) => {
  const answer = sources();
  const { content, summary } = answer.add([found], limits);
  expect(answer.size).toBe(2);
  expect(content).toMatch(/^<source id="2"/);
  expect(content).toContain(found.chunk.text);
  expect(summary).toBe(`Found passages of ${found.uri}`);
  expect(answer.chunkIds).toEqual(["keys.md#0", found.chunk.id].filter((id, at, all) => all.indexOf(id) === at));
});

test("what a tool found before is shown again under its number, as long as there is room", () => {
  const answer = sources();
  const [a, b] = [hit(51, 74), hit(0, 26, "other.md")];
  const first = answer.add([a, b], limits).content;
  expect(answer.add([a, b], limits).content).toBe(first);
  const [one, other] = first.split("\n<source").map((text, at) => (at === 0 ? text : `<source${text}`));
  // 48 tokens are kept for the line about what was given before.
  const room = one!.length + other!.length;
  const again = (maxTokens: number) => answer.add([a, b], { ...limits, maxTokens }).content;
  expect(again(48 + room)).toBe(first);
  expect(again(48 + room - 1)).toBe(one);
  expect(again(48 + one!.length - 1)).toBe(other!.length < one!.length ? other : "Nothing was found.");
  expect(answer.size).toBe(3);
});

test("new hits fill the room that is left, 48 tokens being kept, and the trace names the step", () => {
  const added = hit(51, 74);
  const { tokens: needed } = packSources([added], { maxTokens: 1000, tokens });
  const fits = sources();
  fits.add([added], { ...limits, maxTokens: 48 + needed });
  expect(fits.hits.map(({ chunk }) => chunk.id)).toEqual(["keys.md#0", "keys.md#51"]);
  expect(fits.steps.map(({ step }) => step)).toEqual(["pack", "search again"]);
  expect(fits.steps[1]).toMatchObject({ kept: ["keys.md#0", "keys.md#51"], dropped: [] });
  const cut = sources();
  expect(cut.add([added], { ...limits, maxTokens: 48 + needed - 1 }).content).not.toContain(
    renderSource({ ...added, number: 2, text: added.chunk.text }),
  );
  expect(sources().add([], limits)).toEqual({ content: "Nothing was found.", summary: "Nothing was found." });
});

test("there are never more than 999 sources, since no citation marker has a higher number", () => {
  const answer = sources();
  const many = Array.from({ length: 1100 }, (_, at) => hit(0, 4, `${at}.md`, `a${at}`.padEnd(4)));
  answer.add(many, { ...limits, maxTokens: 1_000_000 });
  expect(answer.size).toBe(999);
});
