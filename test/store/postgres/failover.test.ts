// In test:all alone: it stops and starts database servers, for 29 s.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { StoreError } from "../../../src/core/errors.js";
import type { WrittenDocument } from "../../../src/core/ports.js";
import { seededRandom } from "../../../src/core/random.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { noPostgres, startPostgres } from "../../support/postgres-server.js";

const dimension = 16;
const text = (writer: number, at: number, version: string) => `w${writer}x${at} ${version}`;

test.skipIf(noPostgres).each([
  ["is restarted", "fast"],
  ["crashes and is started again", "immediate"],
] as const)(
  "while the server %s, writes are done once, reads find all that was written or say that it is away, and both go on",
  async (_, mode) => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const open = (deadlineMs: number) => openPostgresStore(server.url(), { space: "made" }, { deadlineMs });
    const [patient, hasty] = [await open(60_000), await open(250)];
    const random = seededRandom(mode.length);
    const known: string[] = [];
    const done: WrittenDocument[] = [];
    const refused: unknown[] = [];
    let answered = 0;
    const over = new AbortController();
    const write = async (writer: number) => {
      for (let at = 0; !over.signal.aborted; at++) {
        for (const version of ["first", "second"]) {
          const document = madeDocument(`${writer}/${at}`, [text(writer, at, version)]);
          done.push(...(await patient.write(withVectors([document], dimension))));
        }
        known.push(text(writer, at, "second"));
      }
    };
    const read = async (store: typeof patient) => {
      while (!over.signal.aborted) {
        const wanted = known[Math.floor(random() * known.length)];
        if (wanted !== undefined) {
          try {
            const [found] = await store.lexical.retrieve({ text: wanted.split(" ")[0]! }, { count: 1 });
            const [hit] = await store.hits(found ? [found] : []);
            expect(hit?.chunk.text).toBe(wanted);
            answered++;
          } catch (error) {
            if (store === patient || !(error instanceof StoreError)) throw error;
            refused.push(error);
          }
        }
        await sleep(5);
      }
    };
    const work = Promise.all([write(0), write(1), write(2), read(patient), read(hasty)]);
    const goesOn = async () => {
      const [moreDone, moreAnswered] = [done.length + 10, answered + 10];
      await expect.poll(() => done.length >= moreDone && answered >= moreAnswered, { timeout: 60_000 }).toBe(true);
    };
    const interrupt = async () => {
      for (let time = 0; time < 3; time++) {
        await goesOn();
        await sleep(200 * random());
        await server.stop(mode);
        // Longer than the hasty one waits.
        await sleep(600);
        await server.start();
      }
      await goesOn();
      over.abort();
    };
    await Promise.race([Promise.all([work, interrupt()]), work]);
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) expect(error).toMatchObject({ code: "unavailable" });
    // Had a write been done twice, the second time would have updated what the first added, or found nothing to replace.
    for (const uri of new Set(done.map((each) => each.uri))) {
      expect(done.filter((each) => each.uri === uri)).toEqual([
        { uri, outcome: "added", chunks: 1, deletedChunks: 0 },
        { uri, outcome: "updated", chunks: 1, deletedChunks: 1 },
      ]);
    }
    expect(await patient.counts()).toMatchObject({ documents: known.length, chunks: known.length });
    expect(await patient.verify()).toMatchObject({ ok: true, problems: [] });
    await Promise.all([patient.close(), hasty.close()]);
  },
  120_000,
);

test.skipIf(noPostgres)(
  "a write that a crash has undone is done again, also where another transaction has got its number and was committed",
  async () => {
    const server = await startPostgres({ settings: ["wal_level=minimal", "max_wal_senders=0", "autovacuum=off"] });
    onTestFinished(() => server.remove());
    const sockets = new Set<Socket>();
    let [lastCommit, isAway]: [(() => void) | undefined, boolean] = [undefined, false];
    const proxy = createServer((client) => {
      if (isAway) return client.destroy();
      const upstream = connect(server.port, "127.0.0.1");
      for (const socket of [client, upstream]) sockets.add(socket.on("error", () => {}));
      client.on("data", (bytes) => {
        if (lastCommit && bytes.includes("COMMIT")) {
          isAway = true;
          lastCommit();
        } else upstream.write(bytes);
      });
      upstream.on("data", (bytes) => client.write(bytes)).on("close", () => client.destroy());
      return client.on("close", () => upstream.destroy());
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => proxy.once("listening", resolve));
    onTestFinished(() => void proxy.close());
    const url = new URL(server.url());
    url.port = String((proxy.address() as AddressInfo).port);
    const store = await openPostgresStore(url.href, { space: "made" }, { deadlineMs: 60_000 });
    await store.write(withVectors([madeDocument("first", ["the first"])], dimension));
    const connected = async () => {
      const client = new pg.Client(server.url());
      client.on("error", () => {});
      await client.connect();
      return client;
    };
    const numberOf = async (client: pg.Client, sql: string) =>
      Number((await client.query<{ number: string }>(sql)).rows[0]!.number);

    const before = await connected();
    // Uncommitted writes never reach the log, so that the crash takes them.
    const logWriter = "SELECT pid AS number FROM pg_stat_activity WHERE backend_type = 'walwriter'";
    process.kill(await numberOf(before, logWriter), "SIGSTOP");
    const isCommitting = new Promise<void>((resolve) => (lastCommit = resolve));
    const writing = store.write(withVectors([madeDocument("second", ["the second"])], dimension));
    await isCommitting;
    const running = "SELECT backend_xid::text AS number FROM pg_stat_activity WHERE backend_xid IS NOT NULL";
    const number = await numberOf(before, running);
    await server.stop("immediate");
    await server.start();
    const after = await connected();
    const next = () => numberOf(after, "SELECT pg_current_xact_id()::text AS number");
    const first = await next();
    expect(first).toBeLessThanOrEqual(number);
    for (let given = first; given < number;) given = await next();
    await after.end();
    [lastCommit, isAway] = [undefined, false];
    for (const socket of sockets) socket.destroy();

    expect(await writing).toMatchObject([{ uri: "second", outcome: "added" }]);
    expect((await store.documents()).map(({ uri }) => uri)).toEqual(["first", "second"]);
    await store.close();
  },
  120_000,
);
