import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Pipeline } from "../../../src/core/pipeline.js";
import { widen, type WidenOptions } from "../../../src/stages/retrieval/widen.js";
import { collect } from "../../../src/core/stream.js";
import { sentences } from "../../../src/text/blocks/sentences.js";
import { surroundings } from "../../../src/text/prompt/widen-hit.js";
import type { Chunk, Document, Hit, Retrieved, Span } from "../../../src/core/types.js";
import { words } from "../../support/memory-store.js";

const tokens = { name: "words", count: (text: string) => words(text).length };
const text =
  "# Keys\n\nA key lasts 90 days. It is then renewed.\n\nNobody is told.\n\n# Logs\n\nLogs are kept. Then they go.\n";
const document: Document = { uri: "doc", text };

function hit(quote: string, parent?: string, of: Document = document): Hit {
  const start = of.text.indexOf(quote);
  const chunk: Chunk = {
    id: quote,
    documentId: of.uri,
    start,
    end: start + quote.length,
    text: quote,
    context: "",
    tokens: tokens.count(quote),
    ...(parent !== undefined && { parent: spanOf(parent, of) }),
  };
  return { chunk, uri: of.uri, line: 3, score: 1, placements: [] };
}

function spanOf(quote: string, { text: whole }: Document): Span {
  const start = whole.indexOf(quote);
  return { start, end: start + quote.length };
}

async function widened(hits: readonly Hit[], options: WidenOptions = {}, stored: Document | "gone" = document) {
  const stage = widen(
    { document: async () => (stored === "gone" ? undefined : stored) },
    { tokens, maxTokens: 16, ...options },
  );
  const given: Retrieved = { question: "q", hits, trace: [] };
  const [out] = await collect(Pipeline.from<Retrieved>().pipe(stage).stream([given]));
  return { hits: out!.hits, texts: out!.hits.map(({ chunk }) => chunk.text), step: out!.trace.at(-1)! };
}

const section = "# Keys\n\nA key lasts 90 days. It is then renewed.\n\nNobody is told.\n\n";

describe("widen", () => {
  test("a hit is widened to its parent, under its own id, and keeps the span that was found", async () => {
    const { hits } = await widened([hit("It is then renewed.", section)]);
    expect(hits[0]).toMatchObject({
      line: 1,
      chunk: { id: "It is then renewed.", text: section, start: 0, end: section.length, tokens: 13 },
      matched: [spanOf("It is then renewed.", document)],
    });
  });

  test("hits inside the span of a better one are merged into it, and the trace says so", async () => {
    const { hits, step } = await widened([
      hit("It is then renewed.", section),
      hit("Nobody is told.", section),
      hit("Logs are kept."),
    ]);
    expect(hits.map(({ chunk }) => chunk.id)).toEqual(["It is then renewed.", "Logs are kept."]);
    expect(hits[0]!.matched).toEqual(
      ["It is then renewed.", "Nobody is told."].map((quote) => spanOf(quote, document)),
    );
    expect(step.kept).toEqual(hits.map(({ chunk }) => chunk.id));
    expect(step.dropped).toEqual([
      { chunkId: "Nobody is told.", reason: "merged into It is then renewed.", into: "It is then renewed." },
    ]);
  });

  test("a parent that is too long is cut to the sentences around the hit that fit", async () => {
    const small = hit("It is then renewed.", section);
    const parts = await widened([{ ...small, chunk: { ...small.chunk, parent: spanOf(text, document) } }], {
      maxTokens: 16,
    });
    expect(parts.texts).toEqual(["# Keys\n\nA key lasts 90 days. It is then renewed.\n\nNobody is told.\n\n# Logs"]);
  });

  test("a hit without a parent stays unchanged, unless its surroundings are asked for", async () => {
    const chosen = hit("Nobody is told.");
    expect((await widened([chosen])).texts).toEqual(["Nobody is told."]);
    const { texts } = await widened([chosen], { to: "surroundings" });
    expect(texts[0]).toContain("It is then renewed.\n\nNobody is told.\n\n# Logs");
  });

  test("hits are not widened when their document has changed or is gone", async () => {
    const chosen = hit("It is then renewed.", section);
    const { hits, step } = await widened([chosen], {}, { uri: "doc", text: `New. ${text}` });
    expect(hits).toEqual([chosen]);
    expect(step.note).toBe("1 hits were not widened: their documents changed since the search");
    expect((await widened([chosen], {}, "gone")).hits).toEqual([chosen]);
    expect((await widened([chosen])).step).not.toHaveProperty("note");
  });

  test("a widened hit has the pages and anchors of the wider span", async () => {
    const paged: Document = {
      uri: "doc",
      text,
      anchors: [
        { start: 0, page: 1 },
        { start: 30, page: 2 },
        { start: 80, page: 3 },
      ],
    };
    const { hits } = await widened([hit("It is then renewed.", section, paged)], {}, paged);
    expect(hits[0]).toMatchObject({
      page: 1,
      anchors: [
        { start: 0, page: 1 },
        { start: 30, page: 2 },
      ],
    });
    expect(hits[0]).not.toHaveProperty("line");
  });
});

describe("surroundings", () => {
  test("contain the span, stay within the limits and end between sentences, whatever the text", () => {
    const piece = fc.constantFrom("One two. ", "Three. ", "four five ", "\n\n", "# Head\n", "检索增强。", "six! ");
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 20 }).map((pieces) => pieces.join("")),
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(20),
        fc.nat(20),
        (whole, from, length, maxTokens, before, behind) => {
          const start = from % whole.length;
          const end = start + 1 + (length % (whole.length - start));
          const all = sentences(whole);
          const within = { start: Math.max(0, start - before), end: Math.min(whole.length, end + behind) };
          const wide = surroundings(whole, { start, end }, all, {
            within,
            maxTokens,
            tokens,
          });
          expect(wide.start).toBeLessThanOrEqual(start);
          expect(wide.end).toBeGreaterThanOrEqual(end);
          expect(wide.start).toBeGreaterThanOrEqual(within.start);
          expect(wide.end).toBeLessThanOrEqual(within.end);
          if (wide.start !== start || wide.end !== end) {
            expect(tokens.count(whole.slice(wide.start, wide.end))).toBeLessThanOrEqual(maxTokens);
          }
          if (wide.start !== start) expect(all.map((each) => each.start)).toContain(wide.start);
          if (wide.end !== end) expect(all.map((each) => each.end)).toContain(wide.end);
        },
      ),
    );
  });
});
