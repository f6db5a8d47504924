import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "citewell";
import { openPostgresStore } from "citewell/postgres";
import pg from "pg";
import type { Contender } from "../runner/benchmark.js";
import type { Asked } from "../shared/made-corpus.js";
import type { queryTerms as QueryTerms } from "../../src/text/words/terms.js";
import { shipped } from "../runner/project.js";
import { noCitus } from "../../test/support/postgres-server.js";
import { peerStores } from "./peer-store.js";
import type { OpenScaled, Place } from "./scaled-store.js";

const { queryTerms } = await shipped<{ readonly queryTerms: typeof QueryTerms }>("text/words/terms.js");

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

function unit(vector: Float32Array): string {
  const length = Math.hypot(...vector);
  return `[${Array.from(vector, (component) => component / length).join(",")}]`;
}

/** Sends a statement that the server parses once a connection and whose plan it may keep, as ours are. */
const prepared = (client: pg.Client) => (name: string, text: string, values: readonly unknown[]) =>
  client.query({ name, text, values: [...values] });

/** A table of ids, vectors with a graph, and words with an index, and the statements that any program would have to send. */
const bareSql: OpenScaled = async ({ url, dimension, name }) => {
  const client = new pg.Client(url);
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
  const ask = prepared(client);
  const any = ({ text }: Asked) => text.split(" ").join(" | ");
  const relevant = (words: string, limit: string) => `SELECT id, ts_rank(words, query) AS score
    FROM bare_${name}, to_tsquery('simple', ${words}) AS query WHERE words @@ query ORDER BY score DESC LIMIT ${limit}`;
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
      return (await ask(filter === "" ? "dense" : "filtered", text, values)).rows.length;
    },
    words: (query, count) => ask("words", relevant("$1", "$2"), [any(query), count]),
    both: (query, count) =>
      ask(
        "both",
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

const distributed = { shards: 12 };

/** The tables of our store, with the shortest statements by which any program would get what ours returns: ids by vector and by BM25. */
const bareBm25 =
  (where: "url" | "cluster"): OpenScaled =>
  async (place) => {
    const schema = `bm25_${place.name}`;
    const { write, finishLoad, close } = await ours("", (_, embedder) =>
      openPostgresStore(place[where], embedder, { schema, ...(where === "cluster" && { distributed }) }),
    )
      .load()
      .then((open) => open(place));
    const client = new pg.Client(place[where]);
    await client.connect();
    await client.query(
      `SET search_path = ${schema}, public; SET hnsw.ef_search = 200; SET hnsw.iterative_scan = strict_order`,
    );
    const ask = prepared(client);
    const near = (filter = "") =>
      `SELECT id, -(embedding <#> $1::vector) AS score FROM embeddings ${filter} ORDER BY embedding <#> $1::vector LIMIT $2`;
    const relevant = (words: string, limit: string) => `
    WITH t AS MATERIALIZED (SELECT sum(chunks)::float8 AS chunks, (sum(words) / sum(chunks))::float8 AS average FROM totals),
    q AS MATERIALIZED (SELECT word, count(*)::float8 AS n FROM postings WHERE word = ANY(${words}::text[]) GROUP BY word)
    SELECT c.id, s.score FROM (
      SELECT p.document, p.chunk, sum(ln(1 + (t.chunks - q.n + 0.5::float8) / (q.n + 0.5::float8)) * p.frequency /
        (p.frequency + 1.2::float8 * (0.25::float8 + 0.75::float8 * p.length / t.average))) AS score
      FROM q JOIN postings p USING (word), t GROUP BY p.document, p.chunk ORDER BY score DESC LIMIT ${limit}) AS s
    JOIN chunks c ON c.document = s.document AND c.label = s.chunk`;
    return {
      write,
      ...(finishLoad && { finishLoad }),
      dense: async ({ vector }, count, metadata = {}) => {
        const [[name, value] = []] = Object.entries(metadata);
        const filter =
          name === undefined
            ? undefined
            : "WHERE document IN (SELECT document FROM fields WHERE name = $3 AND number = $4)";
        const values = [unit(vector), count, ...(filter === undefined ? [] : [`.${name}`, value])];
        return (await ask(filter === undefined ? "dense" : "filtered", near(filter), values)).rows.length;
      },
      words: ({ text }, count) => ask("words", relevant("$1", "$2"), [[...queryTerms(text).keys()], count]),
      both: ({ text, vector }, count) =>
        ask("both", `(${near()}) UNION ALL (${relevant("$3", "$2")})`, [
          unit(vector),
          count,
          [...queryTerms(text).keys()],
        ]),
      close: async () => {
        await client.end();
        await close();
      },
    };
  };

const bareOnCluster: Contender<OpenScaled> = {
  name: "bare SQL, BM25, cluster",
  kind: "limit",
  packages: ["pg"],
  load: async () => bareBm25("cluster"),
};

const onCluster = ours("citewell, cluster", ({ cluster, name }, embedder) =>
  openPostgresStore(cluster, embedder, { schema: `cluster_${name}`, distributed }),
);

export const scaledStores: readonly Contender<OpenScaled>[] = [
  { name: "bare SQL", kind: "limit", packages: ["pg"], load: async () => bareSql },
  { name: "bare SQL, BM25", kind: "limit", packages: ["pg"], load: async () => bareBm25("url") },
  ours("citewell, PostgreSQL", ({ url, name }, embedder) =>
    openPostgresStore(url, embedder, { schema: `one_${name}` }),
  ),
  ...(noCitus === undefined ? [bareOnCluster, onCluster] : []),
  { name: "citewell, folder", kind: "citewell", load: async () => inFolder },
  ...peerStores,
];
