import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport, type Embedder, embedder, openStore, type Store } from "citewell";
import { openCollection } from "citewell/evaluate";
import { localDefaults, startLocalService } from "citewell/local";
import { openPostgresStore } from "citewell/postgres";
import { noPostgres, startPostgres } from "../../test/support/postgres-server.js";
import { scifactVectors } from "../../test/support/scifact-vectors.js";
import { embeddingOnce, storeQuality } from "../../test/support/store-quality.js";
import { aimsOf } from "../aims.js";
import type { Benchmark, RunContext } from "../runner/benchmark.js";
import { firstDocuments } from "../shared/first-documents.js";

const collections = ["cranfield", "cmrc2018", "scifact", "squad"];
const modes = ["dense", "lexical", "hybrid"] as const;
/** Vectors of a sentence model, which only SciFact has. */
const modelVectors = "scifact with MiniLM";

/** Opens an empty store, given addresses of three empty databases. */
type OpenEmpty = (embed: Embedder, databases: readonly string[], folder: string) => Promise<Store>;

const stores: Readonly<Record<string, OpenEmpty>> = {
  folder: (embed, _, folder) => openStore(folder, embed),
  PostgreSQL: (embed, [url]) => openPostgresStore(url!, embed),
  "PostgreSQL, three shards": (embed, [url, ...shards]) => openPostgresStore(url!, embed, { shards }),
};

export const benchmark: Benchmark<OpenEmpty> = {
  name: "stores",
  question: "Does it matter for what is found where a collection is kept?",
  method:
    "nDCG@10 of the same chunks, a document each where it fits, in a folder, on PostgreSQL and on three shards of it, by `queries` " +
    "questions of each of the first `collections` of Cranfield, CMRC 2018, SciFact and SQuAD, with the vectors of the local service, and of " +
    "SciFact with those of MiniLM, too; all their documents, or the first `documents`. Differences up to 0.005 are tolerated. Nothing is random but the graphs, which PostgreSQL has from 5,000 chunks on.",
  contenders: Object.entries(stores).map(([name, open]) => ({ name, kind: "citewell", load: async () => open })),
  beside: "folder",
  measures: Object.fromEntries(
    [...collections, modelVectors].flatMap((name) =>
      modes.map((mode) => [`${name}, ${mode}`, { unit: "nDCG@10", better: "higher" }]),
    ),
  ),
  sizes: {
    smoke: { queries: 5, collections: 1, documents: 50 },
    usual: { queries: 100, collections: 2, documents: 0 },
  },
  rounds: 1,
  aims: aimsOf("stores"),
  corpus: "collection",
  unavailable: (corpus) =>
    noPostgres ??
    (collections.every((name) => existsSync(join(corpus, name)))
      ? undefined
      : `${corpus} has not the folders ${collections.join(", ")}; name their parent with --corpus`),
  measure: measureQuality,
};

async function measureQuality(open: OpenEmpty, { size, corpus }: RunContext<undefined>) {
  const { queries = 0, collections: count = 0, documents = 0 } = size;
  const server = await startPostgres();
  const service = await startLocalService();
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  const root = await mkdtemp(join(tmpdir(), "citewell-benchmark-"));
  const measures: Record<string, number> = {};
  try {
    for (const [at, name] of collections.slice(0, count).entries()) {
      const whole = await openCollection(join(corpus, name));
      const collection = firstDocuments(whole, documents || Infinity);
      const embedders: Record<string, Embedder> = { [name]: embedder(transport, { model: localDefaults.embedding }) };
      if (name === "scifact") embedders[modelVectors] = await scifactVectors(join(corpus, name), whole);
      for (const [vectors, slow] of Object.entries(embedders)) {
        const embed = embeddingOnce(slow);
        const place = `${vectors === name ? "local" : "model"}_${at}`;
        const databases = await Promise.all(["a", "b", "c"].map((part) => server.createDatabase(`${place}_${part}`)));
        const store = await open(embed, databases, join(root, place));
        const quality = await storeQuality(collection, embed, store, queries);
        for (const mode of modes) measures[`${vectors}, ${mode}`] = quality[mode];
        await store.close();
      }
    }
    return measures;
  } finally {
    await transport.close();
    await service.close();
    await server.remove();
    await rm(root, { recursive: true, force: true });
  }
}
