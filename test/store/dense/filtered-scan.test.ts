import fc from "fast-check";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../src/sqlite/database.js";
import { Changes } from "../../../src/store/derived/changes.js";
import { FilteredScan } from "../../../src/store/dense/graph/filtered-scan.js";
import { openStore } from "../../../src/store/open-store.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { allowedOf } from "../derived/allowed-of.js";
import { cosine, madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const dimension = 8;
const chunks = 60;

test("the nearest of the allowed are found whatever was asked before, is cached, or was deleted", async () => {
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
    // Consecutive labels, like the chunks of a document.
    fc
      .tuple(fc.integer({ min: 1, max: chunks }), fc.integer({ min: 1, max: 20 }))
      .map(([first, length]) => Array.from({ length: Math.min(length, chunks + 1 - first) }, (_, at) => first + at)),
  );
  fc.assert(
    fc.property(
      // Vectors that fit the cache: fewer than some filters allow, more than others.
      fc.integer({ min: 0, max: 70 }),
      fc.array(fc.tuple(filters, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 1000 })), {
        minLength: 1,
        maxLength: 20,
      }),
      (room, questions) => {
        const scan = new FilteredScan(changes, room * dimension * 4);
        for (const [labels, count, seed] of questions) {
          const question = normalised(madeVector(`question ${seed}`, dimension));
          const expected = labels
            .filter((label) => vectors.has(label))
            .map((label) => ({ label, score: cosine(question, vectors.get(label)!) }))
            .toSorted((a, b) => b.score - a.score)
            .slice(0, count);
          const found = scan.search(question, count, allowedOf(labels));
          expect([...found.labels]).toEqual(expected.map(({ label }) => label));
          for (const [at, { score }] of expected.entries()) expect(found.scores[at]).toBeCloseTo(score, 5);
        }
      },
    ),
    { numRuns: 200 },
  );
});
