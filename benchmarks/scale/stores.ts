import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "citewell";
import { openPostgresStore } from "citewell/postgres";
import pg from "pg";
import type { Contender } from "../runner/benchmark.js";
import type { Asked } from "../shared/made-corpus.js";
import { peerStores } from "./peer-store.js";
import type { OpenScaled, Place } from "./scaled-store.js";

function ours(name: string, open: (place: Place, embedder: { space: string; dimension: number }) => Promise<Store>) {
  const opened: OpenScaled = async (place) => {
    const opening = () => open(place, { space: "made", dimension: place.dimension });
    let store = await opening();
    return {
      write: (write) => store.write(write),
      finishLoad: async () => {
        await store.close();
        store = await opening();
      },
      dense: async (query, count, metadata) => {
        const filter = metadata && { metadata: metadata as Readonly<Record<string, number>> };
        return (await store.dense.retrieve(query, { count, ...(filter && { filter }) })).length;
      },
      words: (query, count) => store.lexical.retrieve(query, { count }),
      both: (query, count) => Promise.all([store.dense, store.lexical].map((side) => side.retrieve(query, { count }))),
      close: () => store.close(),
    };
  };
  return { name, kind: "citewell", load: async () => opened } satisfies Contender<OpenScaled>;
}

const inFolder: OpenScaled = async (place) => {
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const store = await ours("", (_, embedder) => openStore(join(folder, "store"), embedder))
    .load()
    .then((open) => open(place));
  return {
    ...store,
    close: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** A table of ids, vectors with a graph, and words with an index, and the statements that any program would have to send. */
const bareSql: OpenScaled = async ({ urls, dimension, name }) => {
  const client = new pg.Client(urls[0]);
  await client.connect();
  await client.query("CREATE EXTENSION IF NOT EXISTS vector");
  await client.query(
    `CREATE TABLE bare_${name} (id text PRIMARY KEY, metadata jsonb, embedding vector(${dimension}), words tsvector)`,
  );
  await client.query(`CREATE INDEX ON bare_${name} USING gin (words)`);
  await client.query(
    `CREATE INDEX ON bare_${name} USING hnsw (embedding vector_ip_ops) WITH (m = 16, ef_construction = 100)`,
  );
  await client.query("SET hnsw.ef_search = 200");
  const any = ({ text }: Asked) => text.split(" ").join(" | ");
  const relevant = (words: string, limit: string) => `SELECT id, ts_rank(words, query) AS score
    FROM bare_${name}, to_tsquery('simple', ${words}) AS query WHERE words @@ query ORDER BY score DESC LIMIT ${limit}`;
  const unit = (vector: Float32Array) => {
    const length = Math.hypot(...vector);
    return `[${Array.from(vector, (component) => component / length).join(",")}]`;
  };
  return {
    write: async ({ documents, vectors }) => {
      const rows = documents.flatMap(({ document, chunks }) =>
        chunks.map(({ id, text }) => [id, JSON.stringify(document.metadata), text] as const),
      );
      const made = [...vectors.values()].map((vector) => unit(vector));
      await client.query(
        `INSERT INTO bare_${name} SELECT id, metadata, embedding, to_tsvector('simple', text)
         FROM unnest($1::text[], $2::jsonb[], $3::vector[], $4::text[]) AS given (id, metadata, embedding, text)`,
        [rows.map(([id]) => id), rows.map(([, metadata]) => metadata), made, rows.map(([, , text]) => text)],
      );
    },
    dense: async ({ vector }, count, metadata) => {
      const filter = metadata === undefined ? "" : "WHERE metadata @> $3";
      const values = [unit(vector), count, ...(metadata === undefined ? [] : [JSON.stringify(metadata)])];
      const text = `SELECT id FROM bare_${name} ${filter} ORDER BY embedding <#> $1::vector LIMIT $2`;
      return (await client.query(text, values)).rows.length;
    },
    words: (query, count) => client.query(relevant("$1", "$2"), [any(query), count]),
    both: (query, count) =>
      client.query(
        `WITH near AS (
           SELECT id, row_number() OVER (ORDER BY distance) AS rank FROM (
             SELECT id, embedding <#> $1::vector AS distance FROM bare_${name} ORDER BY embedding <#> $1::vector LIMIT $3) AS n),
         relevant AS (
           SELECT id, row_number() OVER (ORDER BY score DESC) AS rank FROM (${relevant("$2", "$3")}) AS r)
         SELECT id, coalesce(1.0 / (60 + near.rank), 0) + coalesce(1.0 / (60 + relevant.rank), 0) AS score
         FROM near FULL JOIN relevant USING (id) ORDER BY score DESC LIMIT $3`,
        [unit(query.vector), any(query), count],
      ),
    close: () => client.end(),
  };
};

export const scaledStores: readonly Contender<OpenScaled>[] = [
  { name: "bare SQL", kind: "limit", packages: ["pg"], load: async () => bareSql },
  ours("citewell, PostgreSQL", ({ urls, name }, embedder) =>
    openPostgresStore(urls[0]!, embedder, { schema: `one_${name}` }),
  ),
  ours("citewell, three servers", ({ urls, name }, embedder) =>
    openPostgresStore(urls[0]!, embedder, { schema: `three_${name}`, shards: urls.slice(1) }),
  ),
  { name: "citewell, folder", kind: "citewell", load: async () => inFolder },
  ...peerStores,
];
