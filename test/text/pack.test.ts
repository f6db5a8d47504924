import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TokenCounter } from "../../src/ports.js";
import { packSources } from "../../src/text/pack.js";
import { renderSource } from "../../src/text/prompt.js";
import { defaultTokens } from "../../src/text/tokens.js";
import type { Hit } from "../../src/types.js";

/** A token for every three characters. */
const tokens: TokenCounter = { name: "thirds", count: (text) => Math.ceil(text.length / 3) };
const roomy = { maxTokens: 10_000, tokens };

const documents: Readonly<Record<string, string>> = {
  "a.md": "One two three. Four five six. Seven eight nine. Ten eleven twelve. 一二三。四五六。",
  "b.md": "Red green blue. Cyan magenta yellow. Red green blue. 🙂🙃 black.",
};

function hit(uri: string, start: number, end: number, more: { context?: string; title?: string } = {}): Hit {
  const text = (documents[uri] ?? "").slice(start, end);
  const { context = "", ...rest } = more;
  const chunk = { id: `${uri}#${start}-${end}`, documentId: uri, start, end, text, context, tokens: 1 };
  return { chunk, uri, score: 1, placements: [], ...rest };
}

describe("merging", () => {
  test("touching and overlapping hits of one document are one passage, in the place of the better one", () => {
    const { passages } = packSources([hit("a.md", 15, 30), hit("b.md", 0, 15), hit("a.md", 0, 20)], roomy);
    expect(passages.map(({ number, uri, start, end, text }) => ({ number, uri, start, end, text }))).toEqual([
      { number: 1, uri: "a.md", start: 0, end: 30, text: "One two three. Four five six. " },
      { number: 2, uri: "b.md", start: 0, end: 15, text: "Red green blue." },
    ]);
    expect(passages[0]?.hits.map(({ chunk }) => chunk.start)).toEqual([15, 0]);
  });

  test("a hit that bridges two passages makes them one", () => {
    const { passages } = packSources([hit("a.md", 0, 15), hit("a.md", 30, 48), hit("a.md", 15, 30)], roomy);
    expect(passages.map(({ start, end }) => [start, end])).toEqual([[0, 48]]);
  });

  test("spans that disagree where they overlap are not joined: the document changed between two searches", () => {
    const stale = hit("a.md", 10, 30);
    const changed: Hit = { ...stale, chunk: { ...stale.chunk, text: "X".repeat(20) } };
    expect(packSources([hit("a.md", 0, 20), changed], roomy).passages).toHaveLength(2);
  });

  test("the headings of the chunk stand as title, the document's own title where there are none", () => {
    const hits = [
      hit("a.md", 0, 15, { context: "Guide >\n Keys", title: "Guide" }),
      hit("b.md", 0, 15, { title: "Colours" }),
    ];
    expect(packSources(hits, roomy).passages.map(({ title }) => title)).toEqual(["Guide > Keys", "Colours"]);
  });
});

describe("leaving out", () => {
  test("the same words again and blank hits are dropped with the reason", () => {
    const { step } = packSources([hit("b.md", 0, 15), hit("b.md", 37, 52), hit("a.md", 14, 15)], roomy);
    expect(step).toEqual({
      step: "pack",
      kept: ["b.md#0-15"],
      dropped: [
        { chunkId: "b.md#37-52", reason: "same text as b.md#0-15" },
        { chunkId: "a.md#14-15", reason: "blank" },
      ],
    });
  });

  test("a hit that does not fit is passed over for a smaller one behind it", () => {
    const { step } = packSources([hit("a.md", 0, 15), hit("b.md", 0, 60), hit("b.md", 0, 5)], {
      maxTokens: 40,
      tokens,
    });
    expect(step.kept).toEqual(["a.md#0-15", "b.md#0-5"]);
    expect(step.dropped).toEqual([{ chunkId: "b.md#0-60", reason: "no room: 52 tokens with it, the budget is 40" }]);
  });

  test("the best hit is cut rather than dropped", () => {
    const { passages, step } = packSources([hit("a.md", 0, 80)], { maxTokens: 25, tokens });
    expect(passages[0]?.text).toBe("One two three. Four five six. Seven ei");
    expect(step.note).toBe("the best hit was cut to its first 38 of 75 characters");
  });
});

const spans = fc.uniqueArray(
  fc.record({ uri: fc.constantFrom("a.md", "b.md"), start: fc.nat(70), length: fc.integer({ min: 0, max: 40 }) }),
  { maxLength: 12, selector: ({ uri, start }) => `${uri} ${start}` },
);

/** Counts joints between sources dearly, as no sum of parts foresees. */
const joints: TokenCounter = {
  name: "joints",
  count: (text) => tokens.count(text) + 50 * (text.match(/<\/source>\n<source/gu)?.length ?? 0),
};

test.each([tokens, joints, defaultTokens])(
  "counted by $name, the rendered sources never pass the budget, and every offset is one of the document",
  (counter) => {
    fc.assert(
      fc.property(spans, fc.nat(200), (given, maxTokens) => {
        const hits = given.map(({ uri, start, length }) => hit(uri, start, start + length));
        const { passages, tokens: total, step } = packSources(hits, { maxTokens, tokens: counter });
        const rendered = passages.map(renderSource).join("\n");
        expect(counter.count(rendered)).toBe(total);
        expect(total).toBeLessThanOrEqual(maxTokens);
        expect(passages.map(({ number }) => number)).toEqual(passages.map((_, index) => index + 1));
        for (const { uri, start, end, text } of passages) expect(text).toBe(documents[uri]?.slice(start, end));
        expect([...step.kept, ...step.dropped.map(({ chunkId }) => chunkId)].toSorted()).toEqual(
          hits.map(({ chunk }) => chunk.id).toSorted(),
        );
      }),
    );
  },
);

test("with room for all, the passages cover exactly the characters that the hits cover", () => {
  fc.assert(
    fc.property(spans, (given) => {
      const hits = given.map(({ uri, start, length }) =>
        hit(uri, start, Math.min(start + length, documents[uri]?.length ?? 0)),
      );
      const { passages, step } = packSources(hits, roomy);
      const left = new Set(step.dropped.map(({ chunkId }) => chunkId));
      const characters = (parts: readonly { uri: string; start: number; end: number }[]) =>
        new Set(
          parts.flatMap(({ uri, start, end }) =>
            Array.from({ length: end - start }, (_, at) => `${uri} ${start + at}`),
          ),
        );
      const wanted = hits
        .filter(({ chunk }) => !left.has(chunk.id))
        .map(({ uri, chunk }) => ({ uri, start: chunk.start, end: chunk.end }));
      expect(characters(passages)).toEqual(characters(wanted));
    }),
  );
});
