// In test:all alone: it kills migrations on a server at eight places, for 70 s.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Document } from "../../../src/core/types.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { migratePostgresBack } from "../../../src/store/postgres/migration.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { citewellJson, commandFile } from "../../support/citewell.js";
import { query } from "../../support/citus-cluster.js";
import { embeddingReply, textsOf, vectorOf } from "../../support/embedding-service.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { type ScriptedReply, type ScriptedUpstream, startScriptedUpstream } from "../../support/scripted-upstream.js";
import { wordEmbedder, wordVector } from "../../support/word-embedder.js";

const documents: Document[] = Array.from({ length: 60 }, (_, number) => ({
  uri: `note:${String(number).padStart(2, "0")}`,
  text: [0, 1, 2, 3]
    .map((at) => `Topic ${number}.${at} is told here. ${"More words follow it. ".repeat(20)}`)
    .join("\n\n"),
  metadata: { number },
}));
const chunk = { maxTokens: 128, overlapTokens: 0 };

describe.skipIf(noPostgres)("a migration that is killed", () => {
  let server: PostgresServer;
  let before: Awaited<ReturnType<typeof contents>>;
  let migrated: typeof before;
  let texts: number;
  const upstreams: ScriptedUpstream[] = [];

  beforeAll(async () => {
    server = await startPostgres();
    const url = await server.createDatabase("filled");
    const embedder = { ...wordEmbedder(), space: "old-m3" };
    const kb = await openKnowledgeBase({ path: url, embedder, chunk });
    await kb.ingest(documents);
    await kb.close();
    before = await contents(url, "old-m3");
  }, 120_000);
  afterAll(async () => {
    for (const upstream of upstreams) await upstream.close();
    await server?.remove();
  });

  /** A copy of the filled store, and a service that the command asks. */
  async function setting(name: string, script: (index: number) => ScriptedReply | undefined = () => undefined) {
    await query(server.url(), `CREATE DATABASE ${name} TEMPLATE filled`);
    const url = server.url(name);
    const upstream = await startScriptedUpstream((request, index) => ({
      ...embeddingReply(request),
      ...script(index),
    }));
    upstreams.push(upstream);
    const environment = {
      CITEWELL_BASE_URL: upstream.baseUrl,
      CITEWELL_API_KEY: "sk-0123456789",
      CITEWELL_EMBEDDING_MODEL: "new-m3",
      CITEWELL_STORE: url,
    };
    const migrate = (...flags: string[]) =>
      citewellJson<{ switched?: boolean; back?: boolean }>(["migrate", ...flags], { environment });
    /** Starts the command and kills it once the condition holds. */
    const killedOnce = async (isThere: () => Promise<boolean> | boolean, ...flags: string[]) => {
      const child = spawn(process.execPath, [commandFile, "migrate", ...flags], {
        env: { ...process.env, ...environment },
        stdio: ["ignore", "ignore", "pipe"],
      });
      const ended = once(child, "close");
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
      const exit = async () => {
        if (child.exitCode !== null) throw new Error(`it ended before it was killed: ${said}`);
        return isThere();
      };
      await expect.poll(exit, { timeout: 60_000, interval: 50 }).toBe(true);
      child.kill("SIGKILL");
      expect(await ended).toEqual([null, "SIGKILL"]);
    };
    return { url, upstream, migrate, killedOnce };
  }

  beforeAll(async () => {
    const { url, upstream, migrate } = await setting("undisturbed");
    await migrate();
    migrated = await contents(url, "new-m3");
    texts = (await answered(upstream)).length;
  }, 120_000);

  test.each([
    ["while the first texts are embedded", 0],
    ["in the middle of embedding", 4],
  ])(
    "%s leaves the old store in use, and what was stored is not paid for again",
    async (_, replies) => {
      let isHanging = true;
      const { url, upstream, migrate, killedOnce } = await setting(`killed_after_${replies}`, (index) =>
        isHanging && index >= replies ? { hang: true, json: undefined } : undefined,
      );
      // Vectors that have arrived are stored within a second, also behind a text that is not answered.
      await killedOnce(
        async () =>
          upstream.requests.length > replies && (await storedVectors(url)) >= (await answered(upstream)).length,
      );
      isHanging = false;
      const paid = await answered(upstream);
      expect(paid.length > 0).toBe(replies > 0);
      expect(texts).toBeGreaterThanOrEqual(documents.length);
      expect(await contents(url, "old-m3")).toEqual(before);
      expect(await migrate()).toMatchObject({ switched: true });
      expect(await contents(url, "new-m3")).toEqual(migrated);
      const all = await answered(upstream);
      expect(new Set(all).size).toBe(all.length);
      expect(all).toHaveLength(texts);
      expect(await migrate("--back")).toEqual({ back: true });
      expect(await contents(url, "old-m3")).toEqual(before);
    },
    120_000,
  );

  test("time and again leaves the old store in use, and pays twice at most for what was under way", async () => {
    let from = 0;
    const { url, upstream, migrate, killedOnce } = await setting("killed_often", (index) => ({
      delayMs: 400 * (index - from + 1),
    }));
    let [stored, lost] = [0, 0];
    for (let kill = 0; kill < 3; kill++) {
      from = upstream.requests.length;
      await killedOnce(async () => upstream.requests.length > from && (await storedVectors(url)) > stored);
      stored = await storedVectors(url);
      // The service has counted what it has sent, though the client was gone before it was stored.
      lost += new Set(await answered(upstream)).size - stored;
      expect(await contents(url, "old-m3")).toEqual(before);
    }
    from = upstream.requests.length;
    expect(await migrate()).toMatchObject({ switched: true });
    expect(await contents(url, "new-m3")).toEqual(migrated);
    const all = await answered(upstream);
    expect(new Set(all).size).toBe(texts);
    expect(all.length - texts).toBeLessThanOrEqual(lost);
  }, 120_000);

  test.each([
    ["before it keeps writers out", "citewell.notes", "ROW EXCLUSIVE"],
    ["before the first table changes its place", "citewell.documents", "ACCESS SHARE"],
    ["when the old tables have left their place and the new ones come", "citewell_next.embeddings", "ACCESS SHARE"],
  ])(
    "%s leaves the old store in use",
    async (_, table, mode) => {
      let open!: () => void;
      const isOpen = new Promise<void>((resolve) => (open = resolve));
      const isNext = table.startsWith("citewell_next");
      const { url, upstream, migrate, killedOnce } = await setting(`killed_at_${table.replace(".", "_")}`, (index) =>
        isNext && index === 0 ? { after: isOpen } : undefined,
      );
      let release = isNext ? undefined : await lock(url, table, mode);
      await killedOnce(async () => {
        if (isNext && upstream.requests.length === 0) return false;
        release ??= await lock(url, table, mode);
        open();
        return isWaiting(url, table);
      });
      await release!();
      expect(await contents(url, "old-m3")).toEqual(before);
      expect(await migrate()).toMatchObject({ switched: true });
      expect(await contents(url, "new-m3")).toEqual(migrated);
      const all = await answered(upstream);
      expect(new Set(all).size).toBe(all.length);
      expect(all).toHaveLength(texts);
      expect(await migrate("--back")).toEqual({ back: true });
      expect(await contents(url, "old-m3")).toEqual(before);
    },
    120_000,
  );

  test.each([
    ["before it keeps writers out", "citewell.notes", "ROW EXCLUSIVE"],
    ["before the first table changes its place", "citewell.documents", "ACCESS SHARE"],
    ["when the tables have left their place and the earlier ones come", "citewell_previous.embeddings", "ACCESS SHARE"],
  ])(
    "on its way back %s leaves the new store in use",
    async (_, table, mode) => {
      const { url, migrate, killedOnce } = await setting(`back_at_${table.replace(".", "_")}`);
      expect(await migrate()).toMatchObject({ switched: true });
      const release = await lock(url, table, mode);
      await killedOnce(() => isWaiting(url, table), "--back");
      await release();
      expect(await contents(url, "new-m3")).toEqual(migrated);
      expect(await migrate("--back")).toEqual({ back: true });
      expect(await contents(url, "old-m3")).toEqual(before);
      expect(await migrate("--back")).toEqual({ back: true });
      expect(await contents(url, "new-m3")).toEqual(migrated);
    },
    120_000,
  );

  test("keeps the next one waiting only until the server has noticed", async () => {
    const { url, migrate, killedOnce } = await setting("begun_at_once");
    expect(await migrate()).toMatchObject({ switched: true });
    const release = await lock(url, "citewell.documents", "ACCESS SHARE");
    await killedOnce(() => isWaiting(url, "citewell.documents"), "--back");
    const [again] = await Promise.all([migratePostgresBack(url), sleep(500).then(release)]);
    expect(again).toBeUndefined();
    expect(await contents(url, "old-m3")).toEqual(before);
  }, 120_000);
});

/** Reads all that readers see of a store, which must be sound. */
async function contents(url: string, space: string) {
  const store = await openPostgresStore(url, { space }, { create: false });
  try {
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    const text = "topic told here";
    const question = { text, vector: space === "old-m3" ? wordVector(text) : Float32Array.from(vectorOf(text)) };
    const { dense, lexical } = store.scoped({ uri: { exists: true } });
    const infos = await store.documents();
    return {
      counts: await store.counts(),
      settings: store.settings,
      documents: await Promise.all(infos.map(({ uri }) => store.document(uri))),
      near: await dense.retrieve(question, { count: 1000 }),
      relevant: await lexical.retrieve(question, { count: 1000 }),
    };
  } finally {
    await store.close();
  }
}

/** How many vectors a migration that is under way has stored. */
async function storedVectors(url: string): Promise<number> {
  const [found] = await query<{ count: number }>(url, "SELECT count(*)::integer FROM citewell_next.vectors");
  return found!.count;
}

/** The texts whose vectors left the service. */
async function answered({ requests }: ScriptedUpstream, from = 0): Promise<string[]> {
  const pending = Symbol("pending");
  const found: string[] = [];
  for (const request of requests.slice(from)) {
    if ((await Promise.race([request.end, Promise.resolve(pending)])) === "finished") found.push(...textsOf(request));
  }
  return found;
}

/** Locks a table as a search or a write does, until the returned function is called. */
async function lock(url: string, table: string, mode: string): Promise<() => Promise<void>> {
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`BEGIN; LOCK TABLE ${table} IN ${mode} MODE`);
  return async () => {
    await client.query("ROLLBACK");
  };
}

/** Whether another connection waits for the table. */
async function isWaiting(url: string, table: string): Promise<boolean> {
  const [found] = await query<{ waits: boolean }>(
    url,
    "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = to_regclass($1)) AS waits",
    [table],
  );
  return found!.waits;
}
