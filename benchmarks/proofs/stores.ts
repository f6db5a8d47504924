import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport, type Embedder, embedder, openStore, type Store } from "citewell";
import { openCollection } from "citewell/evaluate";
import { localDefaults, startLocalService } from "citewell/local";
import { openPostgresStore } from "citewell/postgres";
import { startCitus } from "../../test/support/citus-cluster.js";
import { noCitus, noPostgres, startPostgres } from "../../test/support/postgres-server.js";
import { scifactVectors } from "../../test/support/scifact-vectors.js";
import { embeddingOnce, storeQuality } from "../../test/support/store-quality.js";
import { aimsOf } from "../aims.js";
import type { Benchmark, RunContext } from "../runner/benchmark.js";
import { firstDocuments } from "../shared/first-documents.js";

const collections = ["cranfield", "cmrc2018", "scifact", "squad"];
const modes = ["dense", "lexical", "hybrid"] as const;
/** Vectors of a sentence model, which only SciFact has. */
const modelVectors = "scifact with MiniLM";

/** Opens an empty store, given addresses of a server and a cluster, a name, and a folder. */
type OpenEmpty = (
  embed: Embedder,
  place: { readonly url: string; readonly cluster: string; readonly schema: string; readonly folder: string },
) => Promise<Store>;

const stores: Readonly<Record<string, OpenEmpty>> = {
  folder: (embed, { folder }) => openStore(folder, embed),
  PostgreSQL: (embed, { url, schema }) => openPostgresStore(url, embed, { schema }),
  ...(noCitus === undefined && {
    "PostgreSQL, cluster": (embed, { cluster, schema }) =>
      openPostgresStore(cluster, embed, { schema, distributed: { shards: 6 } }),
  }),
};

export const benchmark: Benchmark<OpenEmpty> = {
  name: "stores",
  question: "Does it matter for what is found where a collection is kept?",
  method:
    "nDCG@10 of the same chunks, a document each where it fits, in a folder, on PostgreSQL and on a Citus cluster with three workers, by `queries` " +
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
  const cluster = noCitus === undefined ? await startCitus() : undefined;
  const clusterUrl = (await cluster?.createDatabase("docs")) ?? "";
  const service = await startLocalService();
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  const root = await mkdtemp(join(tmpdir(), "citewell-benchmark-"));
  const measures: Record<string, number> = {};
  try {
    for (const [index, name] of collections.slice(0, count).entries()) {
      const whole = await openCollection(join(corpus, name));
      const collection = firstDocuments(whole, documents || Infinity);
      const embedders: Record<string, Embedder> = { [name]: embedder(transport, { model: localDefaults.embedding }) };
      if (name === "scifact") embedders[modelVectors] = await scifactVectors(join(corpus, name), whole);
      for (const [vectors, slow] of Object.entries(embedders)) {
        const embed = embeddingOnce(slow);
        const place = `${vectors === name ? "local" : "model"}_${index}`;
        const at = { url: server.url(), cluster: clusterUrl, schema: place, folder: join(root, place) };
        const store = await open(embed, at);
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
    await cluster?.remove();
    await rm(root, { recursive: true, force: true });
  }
}
