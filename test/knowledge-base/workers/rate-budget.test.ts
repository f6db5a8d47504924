// In test:all alone: it waits for budgets to fill, for 26 s.
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { enqueue } from "../../../src/knowledge-base/workers/enqueue.js";
import { prepareQueueTables } from "../../../src/knowledge-base/workers/queue-tables.js";
import { RateBudget, withinBudget } from "../../../src/knowledge-base/workers/rate-budget.js";
import { queueOf } from "../../../src/knowledge-base/workers/queue.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { commandFile } from "../../support/citewell.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";
import { seededRandom } from "../../support/seeded-random.js";
import { wordEmbedder } from "../../support/word-embedder.js";
import { crowdDocuments, crowdEmbedder } from "../../support/worker-crowd.js";
import { startWorkerProcess } from "../../support/worker-process.js";

let server: PostgresServer;
beforeAll(async () => {
  if (!noPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.remove());

/** The same budget as so many workers have it, each with connections of its own. */
async function budgets(name: string, workers: number): Promise<RateBudget[]> {
  const url = await server.createDatabase(name);
  const all: RateBudget[] = [];
  for (let index = 0; index < workers; index++) {
    const store = await openPostgresStore(url, wordEmbedder());
    onTestFinished(() => store.close());
    const { database, schema } = queueOf("test", store);
    await prepareQueueTables(database, schema);
    all.push(new RateBudget(database, "words"));
  }
  return all;
}

/** When the requests of all workers may be sent, in milliseconds from now, in order. */
async function dueTimes(workers: readonly RateBudget[], each: number, tokens: number): Promise<number[]> {
  const startedAt = performance.now();
  const due = workers.map(async (budget) => {
    const times: number[] = [];
    for (let index = 0; index < each; index++) {
      const waitMs = await budget.take(1, tokens);
      times.push(performance.now() - startedAt + waitMs);
    }
    return times;
  });
  return (await Promise.all(due)).flat().toSorted((a, b) => a - b);
}

/** Requests in the fullest stretch of so many milliseconds. */
function mostWithin(times: readonly number[], spanMs: number): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + spanMs).length));
}

describe.skipIf(noPostgres)("the rate budget", () => {
  test("lets all workers together send no more requests in any minute than the limit", async () => {
    const workers = await budgets("requests", 3);
    await workers[0]!.limit({ requestsPerMinute: 120 });
    const times = await dueTimes(workers, 100, 10);
    // A tenth at once, and 108 a minute from then on. Times are read on our clock, a moment after the database's.
    expect(times.filter((at) => at < 60_000).length).toBeLessThanOrEqual(120);
    expect(mostWithin(times, 55_000)).toBeLessThanOrEqual(120);
    const wholeMs = ((300 - 12) / 108) * 60_000;
    expect(times.at(-1)!).toBeGreaterThan(wholeMs * 0.9);
    expect(times.at(-1)!).toBeLessThan(wholeMs * 1.5);
  });

  test("lets all workers together send no more tokens in any minute than the limit, and a request larger than that in its turn", async () => {
    const workers = await budgets("tokens", 2);
    await workers[1]!.limit({ tokensPerMinute: 6000 });
    const times = await dueTimes(workers, 50, 200);
    expect(mostWithin(times, 55_000) * 200).toBeLessThanOrEqual(6000);
    const large = await workers[0]!.take(1, 9000);
    expect(large).toBeGreaterThan(60_000);
    expect(await workers[1]!.take(1, 1)).toBeGreaterThanOrEqual(large - 5000);
  });

  test("waits for nothing until a limit is set, and a later limit holds for all", async () => {
    const workers = await budgets("later", 2);
    expect(await workers[0]!.take(1, 1_000_000)).toBe(0);
    await workers[0]!.limit({ requestsPerMinute: 1 });
    expect(await workers[1]!.take(1, 5)).toBe(0);
    expect(await workers[0]!.take(1, 5)).toBeGreaterThan(30_000);
    await workers[0]!.limit({ requestsPerMinute: 6_000_000 });
    expect(await workers[1]!.take(1, 5)).toBeLessThan(1000);
  });

  test("charges what the service counted, and every attempt that failed", async () => {
    const [budget] = await budgets("charged", 1);
    await budget!.limit({ tokensPerMinute: 100_000 });
    const words = wordEmbedder();
    const embedder = withinBudget(
      {
        ...words,
        embed: async (texts, call) => {
          await call?.onFailedAttempt?.({ code: "upstream", status: 500 });
          return { ...(await words.embed(texts, call)), tokens: 8000 };
        },
      },
      budget!,
    );
    await embedder.embed(["one two three four"], { countedTokens: 4000 });
    // The budget began with 10,000: 4,000 were asked for, 4,000 were repeated, and 4,000 more were counted: 2,000 are owed.
    await expect.poll(() => budget!.take(0, 0)).toBeGreaterThan(500);
  });

  test("lets three worker processes together send no more than the limit, repetitions of failed requests included", async () => {
    const url = await server.createDatabase("processes");
    const sentAt: number[] = [];
    const random = seededRandom(3);
    const upstream = await scriptedUpstream((request) => {
      sentAt.push(performance.now());
      return random() < 0.3 ? { status: 500 } : embeddingReply(request);
    });
    const { embedder, close } = crowdEmbedder(upstream);
    const store = await openPostgresStore(url, embedder);
    onTestFinished(async () => {
      await store.close();
      await close();
    });
    await enqueue(crowdDocuments(160), { store, embedder });
    // The bucket is empty from here on: so many requests are due by any time, and whatever is slow comes only later.
    const own = new RateBudget(queueOf("test", store).database, embedder.space);
    await own.limit({ requestsPerMinute: 120 });
    const emptyAt = performance.now();
    await own.take(12, 0);
    const flags = ["--until-done"];
    let messages = "";
    const ended = [1, 2, 3].map(async () => {
      const { baseUrl } = upstream;
      const worker = startWorkerProcess({ command: commandFile, url, baseUrl, flags }, (text) => (messages += text));
      await once(worker, "close");
    });
    await Promise.all(ended);
    expect(messages).toBe("");
    expect((await store.counts()).documents).toBe(160);
    expect(sentAt.length).toBeGreaterThan(20);
    // 108 a minute. A timer may be some milliseconds early.
    const due = sentAt.map((at) => Math.ceil(((at - emptyAt + 100) * 108) / 60_000));
    expect(sentAt.findIndex((_, index) => index + 1 > due[index]!)).toBe(-1);
  }, 90_000);
});
