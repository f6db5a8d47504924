import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Changes } from "../../src/store/changes.js";
import { openDatabase } from "../../src/sqlite/database.js";
import { Follower } from "../../src/store/follower.js";
import { openStore } from "../../src/store/open-store.js";
import { madeDocument, withVectors } from "./made-documents.js";
import { temporaryFolder } from "./temporary-folder.js";

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

function following(changes: Changes) {
  const labels: number[] = [];
  const follower = new Follower(changes, {
    read: (label, limit) => changes.vectorsAfter(label, limit),
    add: ({ label }) => void labels.push(label),
    remove: (label) => void labels.splice(labels.indexOf(label), 1),
  });
  return { labels, follower };
}

test("however many follow at once, each chunk is taken over once and in order", async () => {
  const { store, changes } = await storeWith(500);
  const { labels, follower } = following(changes);
  await Promise.all(Array.from({ length: 50 }, () => follower.follow()));
  expect(labels).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
  await store.deleteDocuments(["d0", "d499"]);
  await follower.follow();
  expect(labels).toEqual(Array.from({ length: 498 }, (_, index) => index + 2));
});

test("a task that wants the index for itself gets its turn in the midst of a long build", async () => {
  const { changes } = await storeWith(2000);
  const { labels, follower } = following(changes);
  const all = Promise.all(Array.from({ length: 50 }, () => follower.follow()));
  const atItsTurn = await follower.exclusively(async () => labels.length);
  expect(atItsTurn).toBeLessThan(1000);
  await all;
  expect(labels).toHaveLength(2000);
});

test("a stopped follower lets go at once, and who waits for it goes on", async () => {
  const { changes } = await storeWith(2000);
  const { labels, follower } = following(changes);
  const waiting = follower.follow();
  await follower.stop();
  await waiting;
  const { length } = labels;
  expect(length).toBeLessThan(2000);
  await follower.follow();
  expect(labels).toHaveLength(length);
});

test("who needs only what was committed by some moment waits for no more than that", async () => {
  const { store, changes } = await storeWith(200);
  const { labels, follower } = following(changes);
  const head = changes.head();
  await store.write(
    withVectors(
      Array.from({ length: 1000 }, (_, index) => madeDocument(`later${index}`, ["text"])),
      4,
    ),
  );
  await follower.follow(head);
  expect(labels.length).toBeGreaterThanOrEqual(200);
  expect(labels.length).toBeLessThan(1200);
  await follower.follow();
  expect(labels).toHaveLength(1200);
});
