// In test:all alone: it needs a database server, for 20 s.
import { join } from "node:path";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { conversationKey } from "../../src/store/conversations/conversation-rows.js";
import {
  type ConversationInfo,
  type ConversationPage,
  listConversations,
} from "../../src/store/conversations/conversation-list.js";
import type { ScopedConversations } from "../../src/store/conversations/conversations.js";
import { openConversations } from "../../src/store/conversations/embedded-conversations.js";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.js";
import { conversationEquals } from "../../src/store/postgres/postgres-conversations.js";
import { inEachHome } from "../support/conversation-homes.js";
import { noPostgres, startPostgres } from "../support/postgres-server.js";
import { SQLite } from "../support/sqlite.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** All pages, one after the other; `between` runs after each. */
async function pagesOf(
  kept: ScopedConversations,
  given: ConversationPage & { readonly limit: number },
  between: (page: readonly ConversationInfo[]) => Promise<void> = async () => {},
): Promise<ConversationInfo[]> {
  const all: ConversationInfo[] = [];
  for (let after: ConversationInfo | undefined; ;) {
    const page = await kept.list({ ...given, ...(after && { after }) });
    expect(page.length).toBeLessThanOrEqual(given.limit);
    all.push(...page);
    if (page.length < given.limit) return all;
    after = page.at(-1)!;
    await between(page);
  }
}

/** The order of the list, worked out from all conversations. */
function inOrder(scope: string, all: readonly ConversationInfo[]): ConversationInfo[] {
  const keyOf = ({ id }: ConversationInfo) => conversationKey(scope, id);
  return all.toSorted((one, other) => other.updatedAtMs - one.updatedAtMs || (keyOf(one) < keyOf(other) ? 1 : -1));
}

describe("pages of conversations", () => {
  inEachHome((home) => {
    test("are together the whole list, for every size of page, owner and scope, also where times are the same", async () => {
      const place = await home.newPlace();
      const kept = await home.open(place);
      onTestFinished(kept.close);
      const long = `{"tenant":"${"north".repeat(2000)}"}`;
      const owners = ["ada", "bob", "ü\u0000\ud800", undefined];
      for (const scope of ["", long]) {
        for (let at = 0; at < 40; at++) await kept.of(scope).ask({ id: `talk ${at}`, owner: owners[at % 4] }, `${at}?`);
      }
      // Eight at once, and the others one by one.
      const times = "UPDATE conversations SET updated_at = 1000 + length(id) * 100000 + (created_at % 3)";
      await home.query(place, times);
      for (const scope of ["", long, "empty"]) {
        const whole = await kept.of(scope).list();
        expect(whole).toHaveLength(scope === "empty" ? 0 : 40);
        expect(whole).toEqual(inOrder(scope, whole));
        for (const limit of [1, 3, 7, 40, 41]) expect(await pagesOf(kept.of(scope), { limit })).toEqual(whole);
        for (const owner of ["ada", "bob", "ü\u0000\ud800", "nobody"]) {
          const own = whole.filter((info) => info.owner === owner.toWellFormed());
          expect(await kept.of(scope).list({ owner })).toEqual(own);
          expect(await pagesOf(kept.of(scope), { owner, limit: 3 })).toEqual(own);
        }
      }
    });

    test("have each conversation that nobody changes once, while others begin, go on and are deleted", async () => {
      const kept = await home.open(await home.newPlace());
      onTestFinished(kept.close);
      const talks = kept.of("");
      for (let at = 0; at < 30; at++) await talks.ask({ id: `talk ${at}` }, `${at}?`);
      const before = await talks.list();
      let turn = 0;
      const changed = new Set<string>();
      const seen = await pagesOf(talks, { limit: 4 }, async (page) => {
        await talks.ask({ id: `new ${turn++}` }, "New?");
        // The last of the page, whose place the next page begins behind, and one that is still to come.
        for (const id of [page.at(-1)!.id, before.at(-turn)!.id]) changed.add(id);
        await talks.delete({ id: page.at(-1)!.id });
        await talks.ask({ id: before.at(-turn)!.id }, "Again?");
      });
      const unchanged = before.map(({ id }) => id).filter((id) => !changed.has(id));
      const ids = seen.map(({ id }) => id);
      expect(turn).toBeGreaterThan(4);
      expect(ids.filter((id) => unchanged.includes(id))).toEqual(unchanged);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.some((id) => id.startsWith("new"))).toBe(false);
    });
  });
});

const scope = "tenant";
const talkCount = 5000;
const last = { id: "talk 2500", updatedAtMs: 2500 };
const asked: [string, ConversationPage][] = [
  ["the first page", { limit: 5 }],
  ["a page in the middle", { limit: 5, after: last }],
  ["the first page of an owner", { limit: 5, owner: "ada" }],
  ["a page of an owner in the middle", { limit: 5, owner: "ada", after: last }],
];
const insertTalks = (rows: string) =>
  `INSERT INTO conversations (key, scope, id, title, owner, created_at, updated_at, exchange_checksums, checksum) ${rows}`;

describe("a page costs what its own conversations cost", () => {
  test("in a folder, by the plan of its statement", async () => {
    const folder = await temporaryFolder();
    openConversations(folder).close();
    const database = new SQLite(join(folder, "conversations.sqlite"));
    onTestFinished(() => void database.close());
    for (const [name, page] of asked) {
      const { text, values } = listConversations(scope, page, (column, at) => `${column} = ${at}`).next().value as {
        readonly text: string;
        readonly values: readonly unknown[];
      };
      const given = Object.fromEntries(values.map((value, index) => [index + 1, value]));
      const plan = database.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(given);
      const steps = plan.map(({ detail }) => detail);
      const index = page.owner === undefined ? "conversations_by_time" : "conversations_of_owner";
      expect([name, steps.filter((step) => step.includes(" conversations "))]).toEqual([
        name,
        [expect.stringMatching(new RegExp(`^SEARCH conversations USING INDEX ${index} \\(scope=\\?`))],
      ]);
      if (page.after) expect(steps.join("\n")).toMatch(/updated_at<\?|updated_at,key\)</);
      expect(steps.join("\n")).not.toMatch(/TEMP B-TREE|SCAN/);
    }
  });

  test.skipIf(noPostgres)(
    "in PostgreSQL, by the rows that it reads, also behind policies",
    async () => {
      const server = await startPostgres();
      onTestFinished(() => server.remove());
      const url = await server.createDatabase("pages");
      const store = await openPostgresStore(url, { space: "made" }, { rowLevelSecurity: true });
      onTestFinished(() => store.close());
      const owner = new pg.Client(url);
      await owner.connect();
      await owner.query("SET search_path TO citewell, public");
      await owner.query(
        insertTalks(`SELECT md5(at::text), CASE WHEN at % 100 = 0 THEN 'other' ELSE '${scope}' END, 'talk ' || at, NULL,
          CASE at % 2 WHEN 0 THEN 'ada' ELSE 'bob' END, at, at, 0, 0 FROM generate_series(1, ${talkCount}) AS at`),
      );
      await owner.query(`CREATE USER talker; GRANT USAGE ON SCHEMA citewell TO talker;
        GRANT SELECT ON ALL TABLES IN SCHEMA citewell TO talker; ANALYZE`);
      const talker = new pg.Client(url.replace("postgres@", "talker@"));
      await talker.connect();
      await talker.query(`SET search_path TO citewell, public; SET citewell.conversations = '${scope}'`);
      onTestFinished(async () => {
        await Promise.all([owner.end(), talker.end()]);
      });
      for (const [user, client] of Object.entries({ owner, talker })) {
        for (const [name, page] of asked) {
          const { text, values } = listConversations(scope, page, conversationEquals).next().value as {
            readonly text: string;
            readonly values: readonly unknown[];
          };
          const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Step }] }>(
            `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
            [...values],
          );
          const steps = stepsOf(rows[0]!["QUERY PLAN"][0].Plan);
          const reads = steps.filter((step) => step["Relation Name"] === "conversations");
          expect([user, name, steps.map((step) => step["Node Type"])]).toEqual([
            user,
            name,
            expect.not.arrayContaining(["Sort", "Seq Scan", "Incremental Sort"]),
          ]);
          const readRows = reads.map((step) => step["Actual Rows"] + (step["Rows Removed by Filter"] ?? 0));
          expect([user, name, readRows]).toEqual([user, name, [expect.toBeOneOf([5, 6])]]);
        }
      }
    },
    120_000,
  );
});

interface Step {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Step[];
}

function stepsOf(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

test("a file of a release without these lists gets them when it is opened, and stays readable to that release", async () => {
  const folder = await temporaryFolder();
  openConversations(folder).close();
  const path = join(folder, "conversations.sqlite");
  const database = new SQLite(path);
  const version = () => database.pragma("user_version", { simple: true });
  const before = version();
  database.exec(`DROP INDEX conversations_by_time; DROP INDEX conversations_of_owner;
    CREATE INDEX conversations_by_scope ON conversations (scope)`);
  const kept = openConversations(folder);
  await kept.of("").ask({ id: "talk" }, "When?");
  expect(await kept.of("").list({ limit: 1 })).toMatchObject([{ id: "talk" }]);
  kept.close();
  const indexes = database
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'conv%'")
    .all();
  expect(indexes.map(({ name }) => name).toSorted()).toEqual(["conversations_by_time", "conversations_of_owner"]);
  expect(version()).toBe(before);
  database.close();
});
