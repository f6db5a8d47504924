import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { keepsConversations } from "../../../src/store/conversations/keeps-conversations.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

const talk = { id: "talk" };
const answer = {
  text: "Ninety days.",
  citations: [],
  turn: { role: "assistant", text: "Ninety days." },
  stopped: false,
} as const;

describe.skipIf(noPostgres)("conversations with row-level security", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  async function openAs(url: string) {
    const store = await openPostgresStore(url, { space: "made" }, { rowLevelSecurity: true });
    onTestFinished(() => store.close());
    if (!keepsConversations(store)) throw new Error("It keeps no conversations");
    return store.conversations();
  }

  test("are kept by a user who is not the owner, each scope its own, and SQL without a condition shows no other's", async () => {
    const url = await server.createDatabase("secured_talks");
    await openAs(url);
    const admin = new pg.Client(url);
    await admin.connect();
    await admin.query(`CREATE USER talker; GRANT USAGE ON SCHEMA citewell TO talker;
      GRANT SELECT ON ALL TABLES IN SCHEMA citewell TO talker;
      GRANT INSERT, UPDATE, DELETE ON citewell.conversations, citewell.exchanges, citewell.approvals TO talker`);
    await admin.end();
    const address = url.replace("postgres@", "talker@");
    const all = await openAs(address);
    const [north, south] = [all.of("north"), all.of("south")];
    for (const [kept, question] of [
      [north, "In the north?"],
      [south, "In the south?"],
    ] as const) {
      expect(await kept.answer(talk, await kept.ask(talk, question), answer)).toBe(true);
      expect(await kept.exchanges(talk)).toMatchObject([{ question, answer: { text: answer.text } }]);
      expect(await kept.approvals(talk).decide({ [question]: true })).toBe(true);
      expect(await kept.list()).toMatchObject([{ ...talk, title: question, exchanges: 1 }]);
    }
    const client = new pg.Client(address);
    await client.connect();
    onTestFinished(() => client.end());
    const seen = async () => {
      const tables = ["conversations", "exchanges", "approvals"];
      const counts = tables.map((table) => `(SELECT count(*)::int FROM citewell.${table}) AS ${table}`);
      return (await client.query<Record<string, number>>(`SELECT ${counts.join(", ")}`)).rows[0];
    };
    expect(await seen()).toEqual({ conversations: 0, exchanges: 0, approvals: 0 });
    await client.query("SET citewell.conversations = 'north'");
    expect(await seen()).toEqual({ conversations: 1, exchanges: 1, approvals: 1 });
    await expect(client.query("UPDATE citewell.exchanges SET scope = 'south'")).rejects.toThrow(/row-level security/);
    await north.delete(talk);
    expect(await seen()).toEqual({ conversations: 0, exchanges: 0, approvals: 0 });
    expect(await south.exchanges(talk)).toHaveLength(1);
  });
});
