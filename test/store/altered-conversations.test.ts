import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/core/ports.js";
import { openConversations } from "../../src/store/conversations.js";
import { openStore } from "../../src/store/open-store.js";
import { temporaryFolder } from "./temporary-folder.js";
import { SQLite } from "../support/sqlite.js";

const turn = { role: "assistant", text: "Ninety days." } as const;
const answer = { text: "Ninety days [1].", citations: [], turn, stopped: false };
const waiting = {
  text: "",
  citations: [],
  turn: { role: "assistant", text: "" },
  waiting: { calls: [{ approvalId: "x", id: "c", name: "send", input: {}, untrusted: true }], state: {} },
} as const;

/** Two conversations, one of which has seen every kind of change, and decisions on calls within and outside of them. */
async function use(folder: string): Promise<void> {
  const all = openConversations(folder);
  const kept = all.of("team");
  kept.answer("keys", kept.ask("keys", "How long?", "ada"), { ...answer, stopped: true });
  kept.answer("keys", 1, answer);
  kept.rename("keys", "Keys");
  kept.answer("keys", kept.ask("keys", "Send it?"), waiting);
  await kept.approvals("keys").decide({ x: true });
  await kept.approvals("keys").record("x", '{"content":"sent"}');
  kept.branch("keys", "other", 1);
  kept.ask("other", "And then?");
  kept.truncate("other", 1);
  await all.approvals.decide({ y: false, z: true });
  await all.approvals.end?.(["z"]);
  all.close();
}

async function folderInUse(): Promise<{ store: Store; folder: string; alter: (sql: string) => void }> {
  const folder = join(temporaryFolder(), "store");
  const store = await openStore(folder, { space: "made" });
  onTestFinished(() => store.close());
  await use(folder);
  const alter = (sql: string) => {
    const database = new SQLite(join(folder, "conversations.sqlite"));
    database.exec(sql);
    database.close();
  };
  return { store, folder, alter };
}

test("conversations and decisions that were changed in every way that there is are as they were written", async () => {
  const { store } = await folderInUse();
  expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
});

test.each([
  ["a question", "UPDATE exchanges SET question = 'How strong?' WHERE conversation = 1 AND position = 1"],
  ["an answer", "UPDATE exchanges SET answer = replace(answer, 'Ninety', 'Eighty') WHERE conversation = 1"],
  ["an answer that waits", "UPDATE exchanges SET waiting = replace(waiting, 'send', 'bend') WHERE conversation = 1"],
  ["a title", "UPDATE conversations SET title = 'Bees' WHERE number = 1"],
  ["an owner", "UPDATE conversations SET owner = 'ida' WHERE number = 1"],
  ["an exchange that is gone", "DELETE FROM exchanges WHERE conversation = 1 AND position = 1"],
  [
    "an exchange that was added",
    "INSERT INTO exchanges (conversation, position, asked_at, question) VALUES (1, 3, 1, 'And?')",
  ],
  [
    "an exchange of another conversation",
    "INSERT INTO exchanges SELECT 1, 3, asked_at, question, answer, stopped, waiting, checksum FROM exchanges WHERE conversation = 2",
  ],
  [
    "an exchange in the place of another",
    `UPDATE exchanges SET position = 5 WHERE conversation = 1 AND position = 1;
     UPDATE exchanges SET position = 1 WHERE conversation = 1 AND position = 2;
     UPDATE exchanges SET position = 2 WHERE conversation = 1 AND position = 5`,
  ],
])("%s that was altered is found with the id of its conversation, and kept by a repair", async (_, sql) => {
  const { store, folder, alter } = await folderInUse();
  alter(sql);
  const all = openConversations(folder);
  onTestFinished(() => all.close());
  const altered = all.of("team").exchanges("keys");
  const message = expect.stringMatching(/"keys" is not as it was written: a repair keeps it as it reads now/) as string;
  const problems = [{ what: "conversations", message, repairable: true }];
  expect(await store.verify()).toMatchObject({ ok: false, problems });
  expect(await store.verify({ repair: true })).toMatchObject({ ok: true, problems, repaired: true });
  const withoutWaits = altered.map(({ waiting: _waiting, ...exchange }) => exchange);
  expect(all.of("team").exchanges("keys")).toEqual(withoutWaits);
  expect(all.of("team").waiting("keys").size).toBe(0);
});

test.each([
  ["altered", "UPDATE exchanges SET question = 'How strong?' WHERE conversation = 1 AND position = 1"],
  ["deleted", "DELETE FROM exchanges WHERE conversation = 1 AND position = 1"],
])(
  "a turn reads no earlier exchange to save its own: one that was %s before is still found after it",
  async (_, sql) => {
    const { store, folder, alter } = await folderInUse();
    alter(sql);
    const all = openConversations(folder);
    onTestFinished(() => all.close());
    const kept = all.of("team");
    kept.answer("keys", kept.ask("keys", "And in France?"), answer);
    kept.rename("keys", "Keys abroad");
    expect((await store.verify()).problems).toMatchObject([{ what: "conversations", repairable: true }]);
  },
);

test("an answer that cannot be read any more is taken out by a repair, and its question stays", async () => {
  const { store, folder, alter } = await folderInUse();
  alter(`UPDATE exchanges SET answer = replace(answer, '"text"', '"test"') WHERE conversation = 1`);
  const all = openConversations(folder);
  onTestFinished(() => all.close());
  expect(() => all.of("team").exchanges("keys")).toThrow(/invalid answer/);
  expect(await store.verify({ repair: true })).toMatchObject({ ok: true, repaired: true });
  expect(all.of("team").exchanges("keys")).toMatchObject([
    { position: 1, question: "How long?" },
    { position: 2, question: "Send it?" },
  ]);
  expect(all.of("team").exchanges("keys")[0]).not.toHaveProperty("answer");
});

test("a decision that was altered is found, and its call taken for one that may have run: it can run no more", async () => {
  const { store, folder, alter } = await folderInUse();
  alter("UPDATE approvals SET approved = 1 WHERE id = 'y'");
  const problems = [{ what: "conversations", message: expect.stringContaining("call y ") as string, repairable: true }];
  expect(await store.verify({ repair: true })).toMatchObject({ ok: true, problems, repaired: true });
  const all = openConversations(folder);
  onTestFinished(() => all.close());
  expect(all.approvals.decisions(["y"]).get("y")).toMatchObject({ approved: true });
  expect(all.approvals.decisions(["y"]).get("y")).not.toHaveProperty("outcome");
  expect(await all.approvals.decide({ y: true })).toBe(false);
  expect(all.approvals.decisions(["x"]).get("x")).toMatchObject({ approved: true });
});

test("a file of conversations that SQLite finds broken is reported, and nothing is repaired", async () => {
  const { store, folder } = await folderInUse();
  writeFileSync(join(folder, "conversations.sqlite"), "no database".repeat(1000));
  const verified = await store.verify({ repair: true });
  expect(verified).toMatchObject({ ok: false, repaired: false });
  expect(verified.problems[0]).toMatchObject({ what: "conversations", repairable: false });
});

const withoutExchangeChecksums = `
  ALTER TABLE conversations DROP COLUMN exchange_checksums; ALTER TABLE exchanges DROP COLUMN checksum;
`;
const withoutChecksums = `${withoutExchangeChecksums}
  ALTER TABLE conversations DROP COLUMN checksum; ALTER TABLE approvals DROP COLUMN checksum;
`;

test.each([
  [3, withoutChecksums],
  [4, withoutExchangeChecksums],
])(
  "conversations of version %i get checksums when they are next opened: what is altered from then on is found",
  async (version, older) => {
    const { store, folder, alter } = await folderInUse();
    alter(`${older} PRAGMA user_version = ${version}`);
    expect(await store.verify()).toMatchObject({ ok: true });
    openConversations(folder).close();
    expect(await store.verify()).toMatchObject({ ok: true });
    alter("UPDATE exchanges SET question = 'How strong?' WHERE conversation = 1 AND position = 1");
    expect((await store.verify()).problems).toHaveLength(1);
  },
);
