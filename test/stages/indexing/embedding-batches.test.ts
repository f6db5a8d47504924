import fc from "fast-check";
import { expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { packBatches } from "../../../src/stages/indexing/batches/embedding-batches.js";
import { chunksOf } from "../../support/chunks-of.js";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom("\u0000", '"', "\\", "\ud800", "\n", "中", "é", "a"), maxLength: 12 }),
);
const size = (texts: readonly string[]) => Buffer.byteLength(JSON.stringify(texts));

test("each batch is as large as the byte limit allows for its JSON array, and no larger, whatever the texts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 200 }),
      async (texts, bytes) => {
        const source = (async function* () {
          yield* chunksOf("doc", ...texts);
        })();
        const limits = { texts: Infinity, tokens: Infinity, bytes };
        const batches = await collect(packBatches(source, { limits, space: "words", rememberTexts: 0 }));
        const sent = batches.map((batch) => batch.texts.map((each) => each.text));
        expect(sent.flat()).toEqual(texts);
        for (const [index, batch] of sent.entries()) {
          if (batch.length > 1) expect(size(batch)).toBeLessThanOrEqual(bytes);
          const next = sent[index + 1]?.[0];
          if (next !== undefined) expect(size([...batch, next])).toBeGreaterThan(bytes);
        }
      },
    ),
  );
});

test.each([
  [10, 256],
  [64, 256],
  [65, 260],
  [2048, 8192],
  [5000, 8192],
])(
  "of batches of at most %i texts none has more than %i chunks, though equal ones are sent once",
  async (texts, most) => {
    const source = (async function* () {
      yield* chunksOf("doc", ...Array.from({ length: most + 1 }, () => "same"));
    })();
    const limits = { texts, tokens: Infinity, bytes: Infinity };
    const batches = await collect(packBatches(source, { limits, space: "words", rememberTexts: 1 }));
    expect(batches.map(({ chunks }) => chunks.length)).toEqual([most, 1]);
    expect(batches.map((batch) => batch.texts.length)).toEqual([1, 0]);
  },
);
