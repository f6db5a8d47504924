import pg from "pg";

/** Everything that a store holds, in a canonical order and without the numbers of its rows: equal for equal stores. */
export async function postgresContent(url: string, schema = "citewell"): Promise<Readonly<Record<string, unknown[]>>> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(`SET search_path TO ${schema}, public`);
    const rows = async (sql: string) => (await client.query<Record<string, unknown>>(sql)).rows;
    const checksums = "encode(sha256(convert_to(t::text, 'UTF8')), 'hex')";
    return {
      documents: await rows(
        `SELECT uri, title, media_type, source, fingerprint, chunk_count, metadata, anchors, revision, checksum::text,
           (SELECT string_agg(text, '' ORDER BY piece) FROM texts WHERE document = documents.id) AS text
         FROM documents ORDER BY uri`,
      ),
      chunks: await rows(
        `SELECT uri, chunks.id, vector, start, "end", tokens, parent_start, parent_end, context, words, embedding::text
         FROM chunks JOIN documents ON documents.id = document JOIN embeddings USING (document, label) ORDER BY uri, start`,
      ),
      postings: await rows(
        `SELECT id, count(*)::integer AS words, sum(frequency)::integer AS frequency, min(length) AS length,
           md5(string_agg(word || frequency, ' ' ORDER BY word)) AS all
         FROM postings JOIN chunks ON chunks.document = postings.document AND label = chunk GROUP BY id ORDER BY id`,
      ),
      totals: await rows("SELECT sum(chunks)::integer AS chunks, sum(words)::integer AS words FROM totals"),
      fields: await rows(
        "SELECT uri, name, kind, text, number FROM fields JOIN documents ON documents.id = document ORDER BY 1, 2, 3, 4, 5",
      ),
      vectors: await rows(`SELECT key, ${checksums} AS sum FROM vectors AS t ORDER BY key`),
      notes: await rows("SELECT uri, note FROM notes ORDER BY uri"),
    };
  } finally {
    await client.end();
  }
}
