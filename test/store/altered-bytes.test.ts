import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Database } from "../../src/sqlite/database.js";
import { prepareSchema } from "../../src/store/database/schema.js";
import { openStore } from "../../src/store/open-store.js";
import { checkDatabase } from "../../src/store/verify/check-database.js";
import { madeDocument, withVectors } from "../../src/conformance/made-documents.js";
import { temporaryFolder } from "./temporary-folder.js";
import { SQLite } from "../support/sqlite.js";

/** Everything that was written, as it reads now. */
function contents(database: Database): string {
  const tables = [
    "documents",
    "document_records",
    "texts",
    "chunks",
    "vectors",
    "meta",
    "notes",
    "fields",
    "removals",
    "sqlite_sequence",
  ];
  return JSON.stringify(tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all()));
}

/** The file of a small closed store, marked as one without a journal, so that SQLite opens it in memory. */
async function storeFile(): Promise<Buffer> {
  const path = join(temporaryFolder(), "store");
  const store = await openStore(path, { space: "made" });
  const documents = Array.from({ length: 6 }, (_, at) =>
    madeDocument(`d${at}`, [`apple ${at} — 苹果`, `pear ${at}`], {
      title: `Fruit ${at}`,
      source: "orchard",
      metadata: { at, kinds: ["apple", "pear"] },
      anchors: [{ start: 0, page: at + 1 }],
      revision: { etag: `"${at}"` },
    }),
  );
  await store.write({ ...withVectors(documents, 16), settings: { batchTexts: 12 }, tokenMargin: 1.25 });
  await store.write({ notes: new Map([...documents.keys()].map((at) => [`d${at}`, `{"cut":"${at}"}`])) });
  await store.deleteDocuments(["d2"]);
  await store.close();
  const file = readFileSync(join(path, "store.sqlite"));
  file.fill(1, 18, 20);
  return file;
}

test("a byte that was altered anywhere in the file is found, unless nothing that was written reads differently", async () => {
  const file = await storeFile();
  const intact = contents(new SQLite(file));
  // Every 31st byte in use: the free space of a page is zeros.
  const inUse = Array.from(file.keys()).filter((at) => file[at] !== 0);
  const unnoticed: string[] = [];
  for (const [nth, at] of inUse.filter((_, index) => index % 31 === 0).entries()) {
    const altered = Buffer.from(file);
    altered[at]! ^= 1 << (nth % 8);
    const database = new SQLite(altered);
    try {
      prepareSchema(database, "altered.sqlite");
      const { problems } = await checkDatabase(database, "altered.sqlite");
      if (problems.length === 0 && contents(database) !== intact) unnoticed.push(`byte ${at}, bit ${nth % 8}`);
    } catch {
      // Refused: noticed.
    } finally {
      database.close();
    }
  }
  expect(unnoticed).toEqual([]);
});
