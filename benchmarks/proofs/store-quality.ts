/**
 * Prints nDCG@10 of dense, lexical and hybrid search on every collection by the store in a folder, that on PostgreSQL and
 * that on three shards: with the vectors of the local service, and SciFact with those of a sentence model, too.
 *
 *     npm run bench store-quality [queries of each collection] [collection…]
 *
 * Collections are read from ../shared/data. Needs PostgreSQL 15 with pgvector on this machine. Default: 300 queries, all.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport, type Embedder, embedder, openStore } from "citewell";
import { type Collection, openCollection } from "citewell/evaluate";
import { localDefaults, startLocalService } from "citewell/local";
import { openPostgresStore } from "citewell/postgres";
import { startPostgres } from "../../test/support/postgres-server.js";
import { scifactVectors } from "../../test/support/scifact-vectors.js";
import { embeddingOnce, storeQuality } from "../../test/support/store-quality.js";

const [given, ...named] = process.argv.slice(2);
const maxQueries = Number(given ?? 300);
const wanted = named.length > 0 ? named : ["cranfield", "scifact", "squad", "cmrc2018"];

const server = await startPostgres();
const service = await startLocalService();
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const root = await mkdtemp(join(tmpdir(), "citewell-store-quality-"));
try {
  for (const name of wanted) {
    const folder = join("../shared/data", name);
    const collection = await openCollection(folder);
    await compare(name, "local", collection, embedder(transport, { model: localDefaults.embedding }));
    if (!existsSync(join(folder, "vectors"))) continue;
    await compare(name, "minilm", collection, await scifactVectors(folder, collection));
  }
} finally {
  await transport.close();
  await service.close();
  await server.remove();
  await rm(root, { recursive: true, force: true });
}

async function compare(name: string, vectors: string, collection: Collection, slow: Embedder): Promise<void> {
  const embed = embeddingOnce(slow);
  const database = (part: string) => server.createDatabase(`${name}_${vectors}_${part}`);
  const shards = [await database("two"), await database("three")];
  const stores = {
    embedded: await openStore(join(root, `${name}-${vectors}`), embed),
    PostgreSQL: await openPostgresStore(await database("alone"), embed),
    "three shards": await openPostgresStore(await database("one"), embed, { shards }),
  };
  for (const [store, opened] of Object.entries(stores)) {
    const { dense, lexical, hybrid } = await storeQuality(collection, embed, opened, maxQueries);
    const figures = [dense, lexical, hybrid].map((each) => each.toFixed(4)).join(" | ");
    console.log(`| ${name} | ${vectors} | ${store} | ${figures} |`);
    await opened.close();
  }
}
