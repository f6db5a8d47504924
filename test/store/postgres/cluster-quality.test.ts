// In test:all alone: it ranks eight collections on a cluster and embedded, for several minutes.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Embedder } from "../../../src/core/ports.js";
import { type Collection, openCollection } from "../../../src/evaluate/collection.js";
import { localDefaults } from "../../../src/contract/catalogue.js";
import { embedder as transported } from "../../../src/models/embedder.js";
import { openStore } from "../../../src/store/open-store.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { type CitusCluster, startCitus } from "../../support/citus-cluster.js";
import { root } from "../../support/citewell.js";
import { localUpstream } from "../../support/local-upstream.js";
import { noCitus } from "../../support/postgres-server.js";
import { scifactVectors } from "../../support/scifact-vectors.js";
import { embeddingOnce, storeQuality } from "../../support/store-quality.js";
import { temporaryFolder } from "../temporary-folder.js";

const data = join(root, "../shared/data");
const isCollection = (name: string) => existsSync(join(data, name, "qrels"));
const collections = existsSync(data) ? readdirSync(data).filter(isCollection) : [];
const absent = noCitus ?? (collections.length > 0 ? undefined : `there are no collections at ${data}`);
if (absent) console.warn(`skipped: ${absent}`);

/** Questions of each collection, spread evenly over all. */
const maxQuestions = 60;

describe.skipIf(absent)("a collection on a cluster has the ranks of a folder, its nDCG to four digits,", () => {
  const upstream = localUpstream();
  let cluster: CitusCluster;
  let url: string;
  beforeAll(async () => {
    cluster = await startCitus();
    url = await cluster.createDatabase("docs");
  }, 180_000);
  afterAll(() => cluster.remove());

  /** The quality in a folder and on the cluster, rounded. */
  async function qualities(schema: string, collection: Collection, slow: Embedder) {
    const embedder = embeddingOnce(slow);
    // Graphs are random: all vectors are compared.
    const folder = await openStore(temporaryFolder(), embedder, { index: "flat" });
    onTestFinished(() => folder.close());
    const spread = await openPostgresStore(url, embedder, { schema, index: "flat", distributed: { shards: 6 } });
    onTestFinished(() => spread.close());
    const expected = await storeQuality(collection, embedder, folder, maxQuestions);
    const found = await storeQuality(collection, embedder, spread, maxQuestions);
    expect(expected.hybrid).toBeGreaterThan(0.2);
    const rounded = (quality: typeof expected) =>
      Object.fromEntries(Object.entries(quality).map(([mode, ndcg]) => [mode, ndcg.toFixed(4)]));
    return { found: rounded(found), expected: rounded(expected) };
  }

  test.each(collections)("%s with the vectors of the local service", { timeout: 900_000 }, async (name) => {
    const collection = await openCollection(join(data, name));
    const embedder = transported(upstream.transport, { model: localDefaults.embedding });
    const { found, expected } = await qualities(name, collection, embedder);
    expect(found).toEqual(expected);
  });

  test.skipIf(!collections.includes("scifact"))(
    "scifact with those of a sentence model",
    { timeout: 900_000 },
    async () => {
      const collection = await openCollection(join(data, "scifact"));
      const embedder = await scifactVectors(join(data, "scifact"), collection);
      const { found, expected } = await qualities("minilm", collection, embedder);
      expect(found).toEqual(expected);
    },
  );
});
