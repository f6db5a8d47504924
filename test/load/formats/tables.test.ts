import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SQLite } from "../../support/sqlite.js";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { loadSqlite } from "../../../src/load/formats/rows/sqlite-tables.js";
import { wordsBeyond } from "../../support/share-of-words.js";
import { readAll } from "../../support/read-all.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const people = [
  { name: "id", data: ["a", "b"], type: "STRING" as const },
  { name: "title", data: ["Anna", "Zoë"], type: "STRING" as const },
  { name: "text", data: ["Likes tea.", "喜欢咖啡。"], type: "STRING" as const },
  { name: "age", data: [41, 39], type: "INT32" as const },
  { name: "big", data: [2n ** 60n, 5n], type: "INT64" as const },
  { name: "since", data: [new Date(Date.UTC(2019, 2, 1)), null], type: "TIMESTAMP" as const },
];
const parquet = (options: object = {}, columnData: readonly object[] = people) =>
  new Uint8Array(parquetWriteBuffer({ columnData: columnData as never, ...options }));

describe("a Parquet file", () => {
  test.each([{}, { codec: "UNCOMPRESSED" }, { rowGroupSize: 1 }])(
    "has a document for each row, by the mapping of CSV, written with %j",
    async (options) => {
      const { documents, failures } = await readAll("p.parquet", parquet(options));
      expect(failures).toEqual([]);
      expect(documents.map(({ uri, title, text }) => [uri, title, text])).toEqual([
        ["p.parquet#a", "Anna", "Likes tea."],
        ["p.parquet#b", "Zoë", "喜欢咖啡。"],
      ]);
      expect(documents[0]!.metadata).toEqual({
        id: "a",
        age: 41,
        big: "1152921504606846976",
        since: "2019-03-01T00:00:00.000Z",
      });
    },
  );

  test("takes the mapping that the caller gives", async () => {
    const { documents } = await readAll("p.parquet", parquet(), { rows: { text: "title", id: "age" } });
    expect(documents.map(({ uri, text }) => [uri, text])).toEqual([
      ["p.parquet#41", "Anna"],
      ["p.parquet#39", "Zoë"],
    ]);
  });

  test("of DuckDB keeps days as days, and times as times", async () => {
    const bytes = readFileSync(new URL("../../../test/fixtures/tables/parquet/berths-duckdb.parquet", import.meta.url));
    const { documents } = await readAll("p.parquet", bytes);
    expect(documents[0]!.metadata).toMatchObject({ opened: "2019-03-01", updated: "2024-03-05T14:03:21.000Z" });
  });

  test("that says of a page that it unpacks to 400 MB is refused before that is taken", async () => {
    const made = parquet({ codec: "GZIP", compressors: { GZIP: () => new Uint8Array(100) } }, [
      { name: "text", data: ["words ".repeat(1000)], type: "STRING" },
    ]);
    // The header of the first page: its kind, then both of its sizes, each an integer of seven bits a byte.
    expect([made[4], made[6]]).toEqual([0x15, 0x15]);
    const rest = Buffer.from(made.subarray(made.findIndex((byte, at) => at > 6 && byte < 0x80) + 1));
    // The longer number takes three bytes from the page behind it.
    rest[1]! -= 2 * 3;
    const lying = Buffer.concat([made.subarray(0, 7), Buffer.from([0x80, 0x90, 0xbc, 0xfd, 0x02]), rest]);
    expect((await readAll("p.parquet", lying)).failures).toEqual([expect.stringMatching(/a page of 39999\d{4} bytes/)]);
  });

  test("of many rows in a few bytes has a document for each", async () => {
    const same = (count: number) => [
      { name: "text", data: Array.from({ length: count }, () => "same words"), type: "STRING" },
    ];
    const small = parquet({}, same(20_000));
    expect(small.length).toBeLessThan(20_000);
    expect((await readAll("p.parquet", small)).documents).toHaveLength(20_000);
  });

  test("cut or changed anywhere ends as a failure or with other values, never without end", async () => {
    const whole = parquet();
    for (let at = 4; at < whole.length; at += 397) {
      const changed = Buffer.from(whole);
      changed.fill(0xff, at, at + 3);
      for (const bytes of [whole.subarray(0, at), changed]) {
        const { documents, failures } = await readAll("p.parquet", bytes, { timeoutMs: 2000 });
        expect(documents.length + failures.length).toBeGreaterThan(0);
        // A file that is cut has lost its directory, which stands at its end.
        if (bytes.length < whole.length) expect(documents).toEqual([]);
      }
    }
    expect((await readAll("p.parquet", "words")).failures).toEqual([
      expect.stringContaining("is text by its first bytes"),
    ]);
  });
});

/** The bytes of a database that these statements made. */
function sqlite(...statements: readonly string[]): Buffer {
  const database = new SQLite(":memory:");
  for (const statement of statements) database.exec(statement);
  const bytes = database.serialize();
  database.close();
  return bytes;
}

describe("a SQLite file", () => {
  const tables = [
    `CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, bio TEXT, photo BLOB, twice TEXT GENERATED ALWAYS AS (name || name) VIRTUAL)`,
    `INSERT INTO people (id, name, bio, photo) VALUES (1, 'Anna', 'Likes tea.', x'ff00'), (2, 'Zoë', NULL, NULL)`,
    `CREATE TABLE "odd ""name" (body TEXT, n REAL)`,
    `INSERT INTO "odd ""name" VALUES ('Words.', 1.5)`,
    `CREATE VIEW bomb AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c`,
    `CREATE VIRTUAL TABLE search USING fts5(words)`,
    `INSERT INTO search VALUES ('hidden words')`,
  ];

  test("has a document for each row of its tables, and none of views, virtual tables and computed columns", async () => {
    const { documents, failures } = await readAll("p.db", sqlite(...tables));
    expect(failures).toEqual([]);
    expect(documents.map(({ uri, title, text }) => [uri, title, text])).toEqual([
      ["p.db#people#1", "Anna", "name: Anna\nbio: Likes tea."],
      ["p.db#people#2", "Zoë", "name: Zoë"],
      ["p.db#odd%20%22name#line=1", undefined, "Words."],
    ]);
  });

  test("in WAL mode is read by what is in the file itself", async () => {
    const path = join(await temporaryFolder(), "a.db");
    const database = new SQLite(path);
    database.pragma("journal_mode = WAL");
    database.exec("CREATE TABLE t (text); INSERT INTO t VALUES ('Kept.')");
    database.pragma("wal_checkpoint(TRUNCATE)");
    const bytes = readFileSync(path);
    database.close();
    expect((await readAll("a.sqlite", bytes)).documents.map(({ text }) => text)).toEqual(["Kept."]);
  });

  test("of twenty thousand rows has a document for each", async () => {
    const numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000)";
    const made = sqlite(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, text)",
      `INSERT INTO t ${numbers} SELECT x, 'row ' || x FROM c`,
    );
    const { documents } = await readAll("p.db", made);
    expect(documents).toHaveLength(20_000);
    expect(documents[19_999]).toMatchObject({ uri: "p.db#t#20000", text: "row 20000" });
  });

  test("cut or changed anywhere ends as a failure or a part of it; another file says that it is none", async () => {
    const whole = sqlite(...tables.slice(0, 4));
    const load = async (bytes: Uint8Array) =>
      loadSqlite({ path: "p.db", uri: "file:///p.db", bytes }, new AbortController().signal);
    const { text } = await load(whole);
    let failures = 0;
    for (let at = 16; at < whole.length; at += 211) {
      const changed = Buffer.from(whole);
      changed.fill(0xff, at, at + 8);
      for (const bytes of [whole.subarray(0, at), changed]) {
        const part = await load(bytes).catch((error: Error) => {
          expect(error.message).toContain("is a damaged SQLite file");
          failures++;
          return { text: "" };
        });
        if (bytes !== changed) expect(wordsBeyond(part.text, text), `of ${at} bytes`).toEqual([]);
      }
    }
    expect(failures).toBeGreaterThan(0);
    expect((await readAll("p.db", "words")).failures).toEqual([
      expect.stringContaining("is no SQLite file, or is encrypted"),
    ]);
  });
});
