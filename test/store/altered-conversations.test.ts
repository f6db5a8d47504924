// In test:all alone: it alters every stored value of a conversation, for 12 s.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/core/ports.js";
import { openConversations } from "../../src/store/conversations/embedded-conversations.js";
import { openStoreAt } from "../../src/store/open-store-at.js";
import { type ConversationHome, inEachHome } from "../support/conversation-homes.js";
import { SQLite } from "../support/sqlite.js";
import { temporaryFolder } from "./temporary-folder.js";

const turn = { role: "assistant", text: "Ninety days." } as const;
const answer = { text: "Ninety days [1].", citations: [], turn, stopped: false };
const waiting = {
  text: "",
  citations: [],
  turn: { role: "assistant", text: "" },
  waiting: { calls: [{ approvalId: "x", id: "c", name: "send", input: {}, untrusted: true }], state: {} },
} as const;

const keys = { id: "keys" };

/** Two conversations, one of which has seen every kind of change, and decisions on calls within and outside of them. */
async function use(all: Awaited<ReturnType<ConversationHome["open"]>>): Promise<void> {
  const kept = all.of("team");
  await kept.answer(keys, await kept.ask({ ...keys, owner: "ada" }, "How long?"), { ...answer, stopped: true });
  await kept.answer(keys, 1, answer);
  await kept.rename(keys, "Keys");
  await kept.answer(keys, await kept.ask(keys, "Send it?"), waiting);
  await kept.approvals(keys).decide({ x: true });
  await kept.approvals(keys).record("x", '{"content":"sent"}');
  await kept.branch(keys, "other", 1);
  await kept.ask({ id: "other" }, "And then?");
  await kept.truncate({ id: "other" }, 1);
  await kept.approvals().decide({ y: false, z: true });
  await kept.approvals().end?.(["z"]);
  await all.close();
}

const itsKey = "(SELECT key FROM conversations WHERE id = 'keys')";
const otherKey = "(SELECT key FROM conversations WHERE id = 'other')";

inEachHome((home) => {
  async function inUse(): Promise<{
    readonly place: string;
    readonly store: Store;
    readonly alter: (sql: string) => Promise<unknown>;
    readonly reopen: () => ReturnType<typeof home.open>;
  }> {
    const place = await home.newPlace();
    const store = await openStoreAt(place, { space: "made" });
    onTestFinished(() => store.close());
    await use(await home.open(place));
    const reopen = async () => {
      const all = await home.open(place);
      onTestFinished(() => all.close());
      return all;
    };
    return { place, store, alter: (sql) => home.query(place, sql), reopen };
  }

  test("conversations and decisions that were changed in every way that there is are as they were written", async () => {
    const { store } = await inUse();
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
  });

  test.each([
    ["a question", `UPDATE exchanges SET question = 'How strong?' WHERE conversation = ${itsKey} AND position = 1`],
    ["an answer", `UPDATE exchanges SET answer = replace(answer, 'Ninety', 'Eighty') WHERE conversation = ${itsKey}`],
    [
      "an answer that waits",
      `UPDATE exchanges SET waiting = replace(waiting, 'send', 'bend') WHERE conversation = ${itsKey}`,
    ],
    ["a title", "UPDATE conversations SET title = 'Bees' WHERE id = 'keys'"],
    ["an owner", "UPDATE conversations SET owner = 'ida' WHERE id = 'keys'"],
    ["an exchange that is gone", `DELETE FROM exchanges WHERE conversation = ${itsKey} AND position = 1`],
    ["an exchange that was added", `INSERT INTO exchanges VALUES (${itsKey}, 3, 'team', 1, 'And?', NULL, 0, NULL, 0)`],
    [
      "an exchange of another conversation",
      `INSERT INTO exchanges SELECT ${itsKey}, 3, scope, asked_at, question, answer, stopped, waiting, checksum FROM exchanges WHERE conversation = ${otherKey}`,
    ],
    [
      "an exchange in the place of another",
      `UPDATE exchanges SET position = 5 WHERE conversation = ${itsKey} AND position = 1;
     UPDATE exchanges SET position = 1 WHERE conversation = ${itsKey} AND position = 2;
     UPDATE exchanges SET position = 2 WHERE conversation = ${itsKey} AND position = 5`,
    ],
  ])("%s that was altered is found with the id of its conversation, and kept by a repair", async (_, sql) => {
    const { store, alter, reopen } = await inUse();
    await alter(sql);
    const all = await reopen();
    const altered = await all.of("team").exchanges(keys);
    const message = expect.stringMatching(
      /"keys" is not as it was written: a repair keeps it as it reads now/,
    ) as string;
    const problems = [{ what: "conversations", message, repairable: true }];
    expect(await store.verify()).toMatchObject({ ok: false, problems });
    expect(await store.verify({ repair: true })).toMatchObject({ ok: true, problems, repaired: true });
    const withoutWaits = altered.map(({ waiting: _waiting, ...exchange }) => exchange);
    expect(await all.of("team").exchanges(keys)).toEqual(withoutWaits);
    expect((await all.of("team").waiting(keys)).size).toBe(0);
  });

  test.each([
    ["altered", `UPDATE exchanges SET question = 'How strong?' WHERE conversation = ${itsKey} AND position = 1`],
    ["deleted", `DELETE FROM exchanges WHERE conversation = ${itsKey} AND position = 1`],
  ])(
    "a turn reads no earlier exchange to save its own: one that was %s before is still found after it",
    async (_, sql) => {
      const { store, alter, reopen } = await inUse();
      await alter(sql);
      const all = await reopen();
      const kept = all.of("team");
      await kept.answer(keys, await kept.ask(keys, "And in France?"), answer);
      await kept.rename(keys, "Keys abroad");
      expect((await store.verify()).problems).toMatchObject([{ what: "conversations", repairable: true }]);
    },
  );

  test("an answer that cannot be read any more is taken out by a repair, and its question stays", async () => {
    const { store, alter, reopen } = await inUse();
    await alter(`UPDATE exchanges SET answer = replace(answer, '"text"', '"test"') WHERE conversation = ${itsKey}`);
    const all = await reopen();
    await expect(all.of("team").exchanges(keys)).rejects.toThrow(/invalid answer/);
    expect(await store.verify({ repair: true })).toMatchObject({ ok: true, repaired: true });
    expect(await all.of("team").exchanges(keys)).toMatchObject([
      { position: 1, question: "How long?" },
      { position: 2, question: "Send it?" },
    ]);
    expect((await all.of("team").exchanges(keys))[0]).not.toHaveProperty("answer");
  });

  test("a decision that was altered is found, and its call taken for one that may have run: it can run no more", async () => {
    const { store, alter, reopen } = await inUse();
    await alter("UPDATE approvals SET approved = 1 WHERE id = 'y'");
    const problems = [
      { what: "conversations", message: expect.stringContaining("call y ") as string, repairable: true },
    ];
    expect(await store.verify({ repair: true })).toMatchObject({ ok: true, problems, repaired: true });
    const all = await reopen();
    const book = all.of("team").approvals();
    expect((await book.decisions(["y"])).get("y")).toMatchObject({ approved: true });
    expect((await book.decisions(["y"])).get("y")).not.toHaveProperty("outcome");
    expect(await book.decide({ y: true })).toBe(false);
    expect((await book.decisions(["x"])).get("x")).toMatchObject({ approved: true });
  });
});

test("a file of conversations that SQLite finds broken is reported, and nothing is repaired", async () => {
  const folder = join(temporaryFolder(), "store");
  const store = await openStoreAt(folder, { space: "made" });
  onTestFinished(() => store.close());
  writeFileSync(join(folder, "conversations.sqlite"), "no database".repeat(1000));
  const verified = await store.verify({ repair: true });
  expect(verified).toMatchObject({ ok: false, repaired: false });
  expect(verified.problems[0]).toMatchObject({ what: "conversations", repairable: false });
});

test("conversations of version 5 are kept with their decisions, and get checksums when they are next opened", async () => {
  const folder = join(temporaryFolder(), "store");
  const store = await openStoreAt(folder, { space: "made" });
  onTestFinished(() => store.close());
  const database = new SQLite(join(folder, "conversations.sqlite"));
  const sent = '{"content":"sent"}';
  database.exec(`
    CREATE TABLE conversations (number INTEGER PRIMARY KEY, scope TEXT NOT NULL, id TEXT NOT NULL, title TEXT, owner TEXT,
      created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, checksum INTEGER,
      exchange_checksums INTEGER NOT NULL DEFAULT 0, UNIQUE (scope, id));
    CREATE TABLE exchanges (conversation INTEGER NOT NULL REFERENCES conversations (number) ON DELETE CASCADE,
      position INTEGER NOT NULL, asked_at INTEGER NOT NULL, question TEXT NOT NULL, answer TEXT,
      stopped INTEGER NOT NULL DEFAULT 0, waiting TEXT, checksum INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (conversation, position)) WITHOUT ROWID;
    CREATE TABLE approvals (id TEXT PRIMARY KEY, conversation INTEGER REFERENCES conversations (number) ON DELETE CASCADE,
      approved INTEGER NOT NULL, decided_at INTEGER NOT NULL, outcome TEXT, ended INTEGER NOT NULL DEFAULT 0,
      checksum INTEGER) WITHOUT ROWID;
    INSERT INTO conversations VALUES (7, 'team', 'keys', 'Keys', 'ada', 1000, 2000, 1, 2), (8, '', 'keys', NULL, NULL, 3, 4, 5, 6);
    INSERT INTO exchanges VALUES (7, 1, 1000, 'How long?', NULL, 0, '${JSON.stringify(waiting)}', 1),
      (7, 2, 2000, 'And then?', '${JSON.stringify({ ...answer, stopped: undefined })}', 1, NULL, 1), (8, 1, 3, 'Mine?', NULL, 0, NULL, 1);
    INSERT INTO approvals VALUES ('x', 7, 1, 1500, '${sent}', 0, 1), ('y', NULL, 0, 1600, NULL, 1, 1);
    PRAGMA user_version = 5`);
  database.close();
  expect(await store.verify()).toMatchObject({ ok: true });
  const all = openConversations(folder);
  onTestFinished(() => all.close());
  const kept = all.of("team");
  expect(await kept.list()).toEqual([
    { id: "keys", title: "Keys", owner: "ada", exchanges: 2, waiting: true, createdAtMs: 1000, updatedAtMs: 2000 },
  ]);
  expect(await kept.exchanges(keys)).toMatchObject([
    { question: "How long?", waiting: { calls: [{ approvalId: "x", decision: { approved: true, finished: true } }] } },
    { question: "And then?", answer: { text: answer.text, stopped: true } },
  ]);
  expect(await all.of("").exchanges(keys)).toEqual([{ position: 1, question: "Mine?", askedAtMs: 3 }]);
  expect(await kept.approvals().decisions(["x", "y"])).toEqual(
    new Map([
      ["x", { approved: true, decidedAtMs: 1500, outcome: sent }],
      ["y", { approved: false, decidedAtMs: 1600, ended: true }],
    ]),
  );
  expect(await store.verify()).toMatchObject({ ok: true });
  const later = new SQLite(join(folder, "conversations.sqlite"));
  later.exec("UPDATE exchanges SET question = 'How strong?' WHERE position = 2");
  later.close();
  expect((await store.verify()).problems).toHaveLength(1);
});
