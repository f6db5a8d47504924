import fc from "fast-check";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/sqlite/database.js";
import { Changes } from "../../src/store/changes.js";
import { ExactAmong } from "../../src/store/dense/exact-among.js";
import { openStore } from "../../src/store/open-store.js";
import { normalised } from "../../src/store/vectors.js";
import { allowedOf } from "./allowed-of.js";
import { cosine, madeDocument, madeVector, withVectors } from "./made-documents.js";
import { temporaryFolder } from "./temporary-folder.js";

const dimension = 8;
const chunks = 60;

test("whatever was asked before, whatever of it was kept or is gone, the nearest of those allowed are found", async () => {
  const path = temporaryFolder();
  const store = await openStore(path, { space: "made" });
  onTestFinished(() => store.close());
  const made = Array.from({ length: chunks }, (_, at) => madeDocument(`${at}`, [`text ${at}`]));
  await store.write(withVectors(made, dimension));
  await store.deleteDocuments(["7", "8", "30"]);
  const database = openDatabase(join(path, "store.sqlite"));
  onTestFinished(() => {
    database.close();
  });
  const changes = new Changes(database);
  const vectors = new Map(
    Array.from(changes.vectorsAfter(0, -1), ({ label, vector }) => [label, Float32Array.from(vector)]),
  );
  expect(vectors.size).toBe(chunks - 3);
  const filters = fc.oneof(
    fc.uniqueArray(fc.integer({ min: 1, max: chunks }), { minLength: 1 }),
    // As a document's chunks lie: one after the other.
    fc
      .tuple(fc.integer({ min: 1, max: chunks }), fc.integer({ min: 1, max: 20 }))
      .map(([first, length]) => Array.from({ length: Math.min(length, chunks + 1 - first) }, (_, at) => first + at)),
  );
  fc.assert(
    fc.property(
      // Room for so many vectors: fewer than some filters let through, more than others.
      fc.integer({ min: 0, max: 70 }),
      fc.array(fc.tuple(filters, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 1000 })), {
        minLength: 1,
        maxLength: 20,
      }),
      (room, questions) => {
        const among = new ExactAmong(changes, room * dimension * 4);
        for (const [labels, count, seed] of questions) {
          const question = normalised(madeVector(`question ${seed}`, dimension));
          const expected = labels
            .filter((label) => vectors.has(label))
            .map((label) => ({ label, score: cosine(question, vectors.get(label)!) }))
            .toSorted((a, b) => b.score - a.score)
            .slice(0, count);
          const found = among.search(question, count, allowedOf(labels));
          expect([...found.labels]).toEqual(expected.map(({ label }) => label));
          for (const [at, { score }] of expected.entries()) expect(found.scores[at]).toBeCloseTo(score, 5);
        }
      },
    ),
    { numRuns: 200 },
  );
});
