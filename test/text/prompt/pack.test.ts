import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import { packSources } from "../../../src/text/prompt/pack.js";
import { renderSource } from "../../../src/text/prompt/prompt.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import type { Hit } from "../../../src/core/types.js";

/** A token for every three characters. */
const tokens: TokenCounter = { name: "thirds", count: (text) => Math.ceil(text.length / 3) };
/** Counts joints between sources dearly, as no sum of parts foresees. */
const joints: TokenCounter = {
  name: "joints",
  count: (text) => tokens.count(text) + 50 * (text.match(/<\/source>\n<source/gu)?.length ?? 0),
};

test("a best hit of which only white space fits is left out", () => {
  const chunk = { ...hit("a.md", 0, 10).chunk, text: `${" ".repeat(90)}One two three.` };
  const blank = { ...hit("a.md", 0, 10), chunk };
  const framed = tokens.count(renderSource({ number: 1, uri: "a.md", text: "" }));
  expect(packSources([blank], { maxTokens: framed + 10, tokens }).passages).toEqual([]);
});

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
  test("touching and overlapping hits of one document become one passage, ranked as the better one", () => {
    const { passages } = packSources([hit("a.md", 15, 30), hit("b.md", 0, 15), hit("a.md", 0, 20)], roomy);
    expect(passages.map(({ number, uri, start, end, text }) => ({ number, uri, start, end, text }))).toEqual([
      { number: 1, uri: "a.md", start: 0, end: 30, text: "One two three. Four five six. " },
      { number: 2, uri: "b.md", start: 0, end: 15, text: "Red green blue." },
    ]);
    expect(passages[0]?.hits.map(({ chunk }) => chunk.start)).toEqual([15, 0]);
  });

  test("a hit between two passages joins them", () => {
    const { passages } = packSources([hit("a.md", 0, 15), hit("a.md", 30, 48), hit("a.md", 15, 30)], roomy);
    expect(passages.map(({ start, end }) => [start, end])).toEqual([[0, 48]]);
  });

  test("spans that disagree where they overlap are not joined: the document changed between two searches", () => {
    const stale = hit("a.md", 10, 30);
    const changed: Hit = { ...stale, chunk: { ...stale.chunk, text: "X".repeat(20) } };
    expect(packSources([hit("a.md", 0, 20), changed], roomy).passages).toHaveLength(2);
  });

  test("the title is the headings of the chunk, or the document's title without any", () => {
    const hits = [
      hit("a.md", 0, 15, { context: "Guide >\n Keys", title: "Guide" }),
      hit("b.md", 0, 15, { title: "Colours" }),
    ];
    expect(packSources(hits, roomy).passages.map(({ title }) => title)).toEqual(["Guide > Keys", "Colours"]);
  });
});

describe("widening", () => {
  const document = (uri: string, text = documents[uri]!) => ({ uri, text });
  const all = new Map(Object.keys(documents).map((uri) => [uri, document(uri)]));
  const within = (of: Hit, start: number, end: number): Hit => ({
    ...of,
    chunk: { ...of.chunk, parent: { start, end } },
  });
  const wide = (maxTokens = 1000) => ({ ...roomy, widen: { documents: all, maxTokens } });
  const spans = ({ passages }: ReturnType<typeof packSources>) => passages.map(({ start, end }) => [start, end]);

  test("widens hits to their parents and says so, and keeps the matched spans", () => {
    const packed = packSources([within(hit("a.md", 15, 30), 0, 48), hit("b.md", 0, 15)], wide());
    expect(spans(packed)).toEqual([
      [0, 48],
      [0, 15],
    ]);
    expect(packed.passages[0]).toMatchObject({ text: documents["a.md"]!.slice(0, 48), number: 1 });
    expect(packed.passages[0]!.hits).toMatchObject([
      { chunk: { id: "a.md#15-30" }, matched: [{ start: 15, end: 30 }] },
    ]);
    expect(packed.step).toEqual({
      step: "pack",
      kept: ["a.md#15-30", "b.md#0-15"],
      dropped: [],
      note: "1 of 2 hits were widened to the text around them",
    });
    expect(packed.tokens).toBe(tokens.count(packed.passages.map((passage) => renderSource(passage)).join("\n")));
  });

  test("begins with the best hit, and skips a parent that does not fit", () => {
    const hits = [within(hit("a.md", 15, 30), 0, 75), within(hit("b.md", 0, 15), 0, 37)];
    const bare = packSources(hits, roomy).tokens;
    expect(spans(packSources(hits, wide(bare + 12)))).toEqual([
      [15, 30],
      [0, 37],
    ]);
    expect(spans(packSources(hits, wide(bare + 24)))).toEqual([
      [0, 75],
      [0, 15],
    ]);
    expect(spans(packSources(hits, { ...wide(), maxTokens: bare + 12 }))).toEqual([
      [15, 30],
      [0, 37],
    ]);
  });

  test("joins hits that share a parent, ranked as the better one", () => {
    const hits = [within(hit("a.md", 30, 48), 0, 75), hit("b.md", 0, 15), within(hit("a.md", 0, 15), 0, 75)];
    const packed = packSources(hits, wide());
    expect(spans(packed)).toEqual([
      [0, 75],
      [0, 15],
    ]);
    expect(packed.passages[0]!.hits.map(({ chunk }) => chunk.id)).toEqual(["a.md#30-48", "a.md#0-15"]);
  });

  test("leaves alone changed documents, a cut hit, and hits without a document", () => {
    const hits = [within(hit("a.md", 15, 30), 0, 48)];
    const changed = new Map([["a.md", document("a.md", "Other. ".repeat(20))]]);
    expect(spans(packSources(hits, { ...roomy, widen: { documents: changed, maxTokens: 1000 } }))).toEqual([[15, 30]]);
    expect(spans(packSources(hits, { ...roomy, widen: { documents: new Map(), maxTokens: 1000 } }))).toEqual([
      [15, 30],
    ]);
    const [cut] = packSources([within(hit("a.md", 0, 60), 0, 75)], { ...wide(), maxTokens: 25 }).passages;
    expect(cut!.end).toBeLessThan(60);
  });

  test("is taken back, the last first, where the sources as one text have more tokens than their parts", () => {
    const hits = [within(hit("a.md", 15, 30), 0, 48), within(hit("b.md", 0, 15), 0, 37)];
    const bare = packSources(hits, { maxTokens: 1000, tokens: joints }).tokens;
    const widenedTo = (most: number) =>
      packSources(hits, { maxTokens: 1000, tokens: joints, widen: { documents: all, maxTokens: bare + most } });
    const [first, both] = [11, 19];
    expect(spans(widenedTo(both))).toEqual([
      [0, 48],
      [0, 37],
    ]);
    for (const most of [first, both - 1]) {
      expect(spans(widenedTo(most))).toEqual([
        [0, 48],
        [0, 15],
      ]);
      expect(widenedTo(most).step.note).toBe("1 of 2 hits were widened to the text around them");
    }
    expect(spans(widenedTo(first - 1))).toEqual([
      [15, 30],
      [0, 15],
    ]);
    expect(widenedTo(first - 1).step.note).toBeUndefined();
  });

  test("never loses a word, exceeds a limit or leaves the document", () => {
    const span = fc.tuple(fc.nat(74), fc.nat(74)).map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) + 1 }));
    const anyHit = fc.tuple(fc.constantFrom("a.md", "b.md"), span, span).map(([uri, own, outer]) => {
      const length = documents[uri]!.length;
      const end = Math.min(own.end, length);
      const start = Math.min(own.start, end - 1);
      return within(hit(uri, start, end), Math.min(outer.start, start), Math.min(length, Math.max(outer.end, end)));
    });
    const anyCounter = fc.constantFrom(tokens, joints, defaultTokens);
    fc.assert(
      fc.property(
        anyCounter,
        fc.array(anyHit, { maxLength: 6 }),
        fc.nat(200),
        fc.nat(200),
        (counter, hits, maxTokens, most) => {
          const bare = packSources(hits, { maxTokens, tokens: counter });
          const packed = packSources(hits, { maxTokens, tokens: counter, widen: { documents: all, maxTokens: most } });
          expect(packed.tokens).toBeLessThanOrEqual(Math.max(bare.tokens, Math.min(maxTokens, most)));
          expect(packed.step.dropped).toEqual(bare.step.dropped);
          expect(packed.step.kept.toSorted()).toEqual(bare.step.kept.toSorted());
          for (const { uri, start, end, text } of packed.passages) expect(text).toBe(documents[uri]!.slice(start, end));
          for (const { uri, start, end } of bare.passages) {
            expect(packed.passages.some((each) => each.uri === uri && each.start <= start && end <= each.end)).toBe(
              true,
            );
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("leaving out", () => {
  test("repeated and blank hits are dropped with a reason", () => {
    const { step } = packSources([hit("b.md", 0, 15), hit("b.md", 37, 52), hit("a.md", 14, 15)], roomy);
    expect(step).toEqual({
      step: "pack",
      kept: ["b.md#0-15"],
      dropped: [
        { chunkId: "b.md#37-52", reason: "same text as b.md#0-15", into: "b.md#0-15" },
        { chunkId: "a.md#14-15", reason: "blank" },
      ],
    });
  });

  test("a hit that does not fit is skipped for a smaller one after it", () => {
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

test("the sources as they are sent are counted once before they are widened, and once after", () => {
  const counts = new Map<string, number>();
  const counting: TokenCounter = {
    name: "counting",
    count: (text) => {
      counts.set(text, (counts.get(text) ?? 0) + 1);
      return tokens.count(text);
    },
  };
  const whole = { uri: "a.md", text: documents["a.md"]! };
  const small = hit("a.md", 15, 30);
  const hits = [{ ...small, chunk: { ...small.chunk, parent: { start: 0, end: 48 } } }, hit("b.md", 0, 15)];
  for (const widen of [
    { documents: new Map(), maxTokens: 0 },
    { documents: new Map([["a.md", whole]]), maxTokens: 1000 },
  ]) {
    const { passages } = packSources(hits, { maxTokens: 1000, tokens: counting, widen });
    expect(counts.get(passages.map(renderSource).join("\n"))).toBe(1);
  }
  expect([...counts.keys()].filter((text) => text.includes("One two") && text.includes("Red green"))).toHaveLength(1);
});

test("with room for all, the passages cover exactly the characters of the hits", () => {
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
