import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { runNode } from "../support/run-process.js";
import { madeDocument, withVectors } from "../../src/conformance/made-documents.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Whether every user may enter a folder and all above it. */
const everyoneEnters = (folder: string): boolean =>
  (statSync(folder).mode & 0o001) !== 0 && (folder === dirname(folder) || everyoneEnters(dirname(folder)));

// The tester becomes another user in a process of its own, which only root may. That user loads the package, too.
const mayBecomeAnother = process.getuid?.() === 0 && everyoneEnters(import.meta.dirname);
if (!mayBecomeAnother)
  console.warn(
    "Skipped: a store that may not be written needs root, and a package in a folder that every user may enter",
  );

async function closedStore(): Promise<string> {
  const path = join(temporaryFolder(), "store");
  const store = await openStore(path, { space: "made" }, { index: "hnsw" });
  const made = Array.from({ length: 40 }, (_, at) => madeDocument(`d${at}`, [`apple ${at}`], { metadata: { at } }));
  await store.write(withVectors(made, 16));
  await store.close();
  chmodSync(dirname(path), 0o755);
  chmodSync(path, 0o755);
  return path;
}

interface Seen {
  readonly found: readonly (readonly string[])[];
  readonly texts: readonly string[];
  readonly ok: boolean;
  readonly problems: readonly unknown[];
  readonly refused: { readonly code: string; readonly message: string };
  readonly warnings: readonly string[];
}

/** Opens a store as a user who may not write in its folder. */
async function asAnotherUser(path: string): Promise<Seen> {
  const { stdout, stderr } = await runNode(join(import.meta.dirname, "read-only-store.mjs"), [path, "apple 7"]);
  expect(stderr).toBe("");
  return JSON.parse(stdout) as Seen;
}

const filesOf = (path: string) =>
  readdirSync(path).map((file) => [file, statSync(join(path, file)).mtimeMs, readFileSync(join(path, file)).length]);

test.runIf(mayBecomeAnother)(
  "a store that cannot be written is searched and verified, and says in one line why it is not written",
  async () => {
    const path = await closedStore();
    const before = filesOf(path);
    const { found, texts, ok, problems, refused, warnings } = await asAnotherUser(path);
    expect(texts[0]).toBe("apple 7");
    expect(found.map(({ length }) => length)).toEqual([3, 3]);
    expect({ ok, problems, warnings }).toEqual({ ok: true, problems: [], warnings: [] });
    expect(refused).toEqual({
      code: "disk",
      message: expect.stringMatching(/^[^\n]*writer\.lock[^\n]*write permission[^\n]*$/),
    });
    expect(filesOf(path)).toEqual(before);
  },
);

test.runIf(mayBecomeAnother)(
  "the search indexes of a store that cannot be written are built in memory if they are missing",
  async () => {
    const path = await closedStore();
    const intact = await asAnotherUser(path);
    for (const file of readdirSync(path)) if (/\.(bin|json)$/.test(file)) rmSync(join(path, file));
    expect(await asAnotherUser(path)).toEqual(intact);
    expect(readdirSync(path).toSorted()).toEqual(["store.sqlite", "writer.lock"]);
  },
);

test.runIf(mayBecomeAnother)(
  "a store that was not closed is refused where it cannot be written, with the way out",
  async () => {
    const path = await closedStore();
    const writing = await openStore(path, { space: "made" });
    await writing.deleteDocuments(["d1"]);
    const crashed = join(dirname(path), "crashed");
    cpSync(path, crashed, { recursive: true });
    await writing.close();
    rmSync(join(crashed, "store.sqlite-shm"));
    const { stderr } = await runNode(join(import.meta.dirname, "read-only-store.mjs"), [crashed, "apple 7"]);
    expect(stderr).toMatch(/crashed.*and write it, if whoever wrote last did not close it/);
    await (await openStore(crashed, { space: "made" })).close();
    expect(await asAnotherUser(crashed)).toMatchObject({ ok: true });
  },
);

test("a closed store is one file of data, without a log beside it", async () => {
  const path = await closedStore();
  expect(readdirSync(path).filter((file) => file.startsWith("store."))).toEqual(["store.sqlite"]);
  const [one, other] = await Promise.all([0, 1].map(() => openStore(path, { space: "made" })));
  await one!.deleteDocuments(["d1"]);
  await one!.close();
  await other!.close();
  expect(readdirSync(path).filter((file) => file.startsWith("store."))).toEqual(["store.sqlite"]);
  expect(readFileSync(join(path, "store.sqlite"))[18]).toBe(1);
});
