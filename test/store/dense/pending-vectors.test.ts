import fc from "fast-check";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../src/sqlite/database.js";
import { Changes } from "../../../src/store/derived/changes.js";
import { PendingVectors } from "../../../src/store/dense/graph/pending-vectors.js";
import { openStore } from "../../../src/store/open-store.js";
import { TopK } from "../../../src/store/derived/top-k.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { allowedOf } from "../derived/allowed-of.js";
import { cosine, madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const dimension = 8;
const chunks = 50;

test("all vectors that a graph lacks are found, however far the graph has caught up and however little memory is allowed", async () => {
  const path = temporaryFolder();
  const store = await openStore(path, { space: "made" });
  onTestFinished(() => store.close());
  const made = Array.from({ length: chunks }, (_, at) => madeDocument(`${at}`, [`text ${at}`]));
  await store.write(withVectors(made, dimension));
  const database = openDatabase(join(path, "store.sqlite"));
  onTestFinished(() => {
    database.close();
  });
  const changes = new Changes(database);
  const vectors = Array.from(changes.vectorsAfter(0, -1));
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 1, max: 60 }),
      fc.array(
        fc.record({
          inserted: fc.integer({ min: 0, max: 20 }),
          prepared: fc.boolean(),
          count: fc.integer({ min: 1, max: 60 }),
          allowed: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: chunks })), { nil: undefined }),
        }),
        { minLength: 1, maxLength: 8 },
      ),
      (room, perSegment, steps) => {
        const pending = new PendingVectors(changes, { maxBytes: room * dimension * 4, perSegment });
        const position = { label: 0, removal: 0 };
        for (const [at, { inserted, prepared, count, allowed }] of steps.entries()) {
          for (let more = 0; more < inserted && position.label < chunks; more++) pending.remove(++position.label);
          if (prepared) pending.readAhead(position, dimension);
          const vector = normalised(madeVector(`question ${at}`, dimension));
          const best = new TopK(count);
          pending.search({ vector, count, position, allowed: allowed && allowedOf(allowed) }, best);
          const expected = vectors
            .filter(({ label }) => label > position.label && (!allowed || allowed.includes(label)))
            .map((row) => ({ label: row.label, score: cosine(vector, row.vector) }))
            .toSorted((a, b) => b.score - a.score)
            .slice(0, count);
          expect([...best.ranking().labels]).toEqual(expected.map(({ label }) => label));
        }
      },
    ),
    { numRuns: 150 },
  );
});
