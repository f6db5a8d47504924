import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Changes } from "../../../src/store/derived/changes.js";
import { openDatabase } from "../../../src/sqlite/database.js";
import { IndexUpdater } from "../../../src/store/derived/index-updater.js";
import { openStore } from "../../../src/store/open-store.js";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

async function storeWith(documents: number) {
  const path = join(temporaryFolder(), "store");
  const store = await openStore(path, { space: "made" });
  const made = Array.from({ length: documents }, (_, index) => madeDocument(`d${index}`, [`text ${index}`]));
  await store.write(withVectors(made, 4));
  const database = openDatabase(join(path, "store.sqlite"));
  onTestFinished(async () => {
    database.close();
    await store.close();
  });
  return { store, changes: new Changes(database) };
}

function recordingIndex(changes: Changes) {
  const labels: number[] = [];
  const updater = new IndexUpdater(changes, {
    read: (label, limit) => changes.vectorsAfter(label, limit),
    add: ({ label }) => void labels.push(label),
    remove: (label) => void labels.splice(labels.indexOf(label), 1),
  });
  return { labels, updater };
}

test("however many callers wait at once, each chunk is added once and in order", async () => {
  const { store, changes } = await storeWith(500);
  const { labels, updater } = recordingIndex(changes);
  await Promise.all(Array.from({ length: 50 }, () => updater.catchUp()));
  expect(labels).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
  await store.deleteDocuments(["d0", "d499"]);
  await updater.catchUp();
  expect(labels).toEqual(Array.from({ length: 498 }, (_, index) => index + 2));
});

test("a task that needs the index exclusively gets its turn during a long build", async () => {
  const { changes } = await storeWith(2000);
  const { labels, updater } = recordingIndex(changes);
  const all = Promise.all(Array.from({ length: 50 }, () => updater.catchUp()));
  const atItsTurn = await updater.exclusively(async () => labels.length);
  expect(atItsTurn).toBeLessThan(1000);
  await all;
  expect(labels).toHaveLength(2000);
});

test("a stopped updater ends at once, and releases those who wait for it", async () => {
  const { changes } = await storeWith(2000);
  const { labels, updater } = recordingIndex(changes);
  const waiting = updater.catchUp();
  await updater.stop();
  await waiting;
  const { length } = labels;
  expect(length).toBeLessThan(2000);
  await updater.catchUp();
  expect(labels).toHaveLength(length);
});

test("a caller that needs the changes up to a position waits for no more", async () => {
  const { store, changes } = await storeWith(200);
  const { labels, updater } = recordingIndex(changes);
  const head = changes.head();
  await store.write(
    withVectors(
      Array.from({ length: 1000 }, (_, index) => madeDocument(`later${index}`, ["text"])),
      4,
    ),
  );
  await updater.catchUp(head);
  expect(labels.length).toBeGreaterThanOrEqual(200);
  expect(labels.length).toBeLessThan(1200);
  await updater.catchUp();
  expect(labels).toHaveLength(1200);
});
