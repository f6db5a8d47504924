import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { openDatabase } from "../../../src/sqlite/database.js";
import { AllowedChunks } from "../../../src/store/derived/allowed-chunks.js";
import { Changes } from "../../../src/store/derived/changes.js";
import { LexicalIndex } from "../../../src/store/lexical/lexical-index.js";
import { openStore } from "../../../src/store/open-store.js";
import { temporaryFolder } from "../temporary-folder.js";

const manyPostings = 1000;

/** A store, and a folder for indexes of it that are opened and saved by hand. */
async function stored() {
  const [path, folder] = [temporaryFolder(), temporaryFolder()];
  const store = await openStore(path, { space: "made" }, { index: "flat" });
  onTestFinished(() => store.close());
  const write = (from: number, to: number) =>
    store.write(
      withVectors(
        Array.from({ length: to - from }, (_, at) => madeDocument(`d${from + at}`, [`always own${from + at}`])),
        2,
      ),
    );
  await write(0, 50);
  const database = openDatabase(join(path, "store.sqlite"));
  onTestFinished(() => {
    database.close();
  });
  const changes = new Changes(database);
  const warnings: string[] = [];
  const open = async () => {
    const index = await LexicalIndex.open(changes, {
      k1: 1.2,
      b: 0.75,
      contextWeight: 1,
      folder,
      store: "made",
      allowed: new AllowedChunks(database),
      onWarning: (text) => warnings.push(text),
      whenUnsaved: async () => {},
      enoughPostings: manyPostings,
    });
    onTestFinished(() => index.close());
    return index;
  };
  return { store, folder, write, changes, warnings, open };
}

test("an index that could not be saved once is saved the next time", async () => {
  const { folder, open, warnings } = await stored();
  const index = await open();
  await index.catchUp();
  // A folder in the place of the manifest.
  mkdirSync(join(folder, "lexical.json"));
  await expect(index.save()).rejects.toThrow("lexical.json");
  rmdirSync(join(folder, "lexical.json"));
  await index.save();
  const again = await open();
  expect((await again.search("own7", 10)).labels).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test("a search that was waiting for new texts finds all of them when another one meets a damaged segment", async () => {
  const { folder, write, changes, open, warnings } = await stored();
  const first = await open();
  await first.catchUp();
  await first.save();
  const upTo = changes.head();
  const { segments } = JSON.parse(readFileSync(join(folder, "lexical.json"), "utf8")) as {
    readonly segments: readonly [{ readonly tailStart: number }];
  };
  const file = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(".bin"))!,
  );
  const bytes = readFileSync(file);
  writeFileSync(
    file,
    bytes.map((byte, at) => (at < segments[0].tailStart ? byte ^ 1 : byte)),
  );
  await write(50, 500);

  const index = await open();
  const waiting = index.search("always", 1000);
  const atOnce = index.search("own7", 10, { upTo });
  expect((await atOnce).labels).toHaveLength(1);
  expect((await waiting).labels).toHaveLength(500);
  expect(warnings).toEqual([expect.stringContaining("built again")]);
});

/** Keeps all threads that work on files busy, until the returned function is called. */
function blockFileThreads(folder: string): () => Promise<void> {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  // Opening a pipe for reading waits for someone who writes to it.
  const blocked = Array.from({ length: Number(process.env.UV_THREADPOOL_SIZE ?? 4) }, () => openFile(pipe, "r"));
  return async () => {
    const writer = openSync(pipe, "r+");
    for (const handle of await Promise.all(blocked)) await handle.close();
    closeSync(writer);
  };
}

test.skipIf(process.platform === "win32")(
  "a text that is added and removed while the index is being saved does not come back",
  async () => {
    const { store, folder, open } = await stored();
    const index = await open();
    await index.catchUp();
    const unblock = blockFileThreads(temporaryFolder());
    const saving = index.save();
    // Until its first segment waits for the disk.
    while (!readdirSync(folder).some((name) => name.endsWith(".bin"))) await nextTurn();

    // So many words that they become a segment at once.
    const manyWords = Array.from({ length: manyPostings }, (_, at) => `w${at}x`).join(" ");
    await store.write(withVectors([madeDocument("many", [manyWords]), madeDocument("fleeting", ["fleeting"])], 2));
    await index.catchUp();
    await store.deleteDocuments(["fleeting"]);
    await index.catchUp();
    await unblock();
    await saving;
    await index.save();

    const again = await open();
    expect((await again.search("fleeting", 10)).labels).toHaveLength(0);
    expect((await again.search("w999x", 10)).labels).toHaveLength(1);
  },
);
