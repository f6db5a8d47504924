import { rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { OptionsError, StoreError } from "../../../src/core/errors.js";
import type { AnswerEvent, Document } from "../../../src/core/types.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import type { KnowledgeBaseOptions, ReaderOptions, ScopedKnowledgeBase } from "../../../src/knowledge-base/options.js";
import { memoryStore } from "../../support/memory-store.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const page = (tenant: string, number: number): Document => ({
  uri: `${tenant}:${number}`,
  text: `Keys of ${tenant} number ${number} expire after ${number + 10} days.\n\nAda renews lock ${number}.`,
  metadata: { tenant },
});
const pages = Array.from({ length: 30 }, (_, number) => [page("mine", number), page("theirs", number)]).flat();
const question = "When do keys number 7 expire?";

async function open(readers: ReaderOptions, options: KnowledgeBaseOptions = {}) {
  const path = join(await temporaryFolder(), "store");
  const kb = await openKnowledgeBase({ path, ...options });
  onTestFinished(() => kb.close());
  await kb.ingest(pages);
  return { kb, path, threads: kb.readers(readers) };
}

/** Many, since one of two searches may end before the other begins to wait on a fast machine. */
const callers = Array.from({ length: 16 }, (_, number) => `caller ${number}`);

/** The first two searches at once start a reader. */
async function untilOpen({
  threads,
  as,
}: {
  readonly threads: () => number;
  readonly as: (caller: string) => ScopedKnowledgeBase;
}) {
  for (let attempt = 0; threads() === 0 && attempt < 600; attempt++) {
    await Promise.all(callers.map((caller) => as(caller).search(question)));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(threads()).toBe(1);
}

async function lastOf(events: AsyncIterable<AnswerEvent>): Promise<unknown> {
  let last: AnswerEvent | undefined;
  for await (const event of events) last = event;
  if (last?.type !== "finish") throw new Error("no answer");
  const { text, citations, trace, answered } = last.answer;
  const steps = trace.map(({ step, kept, dropped, lists }) => ({ step, kept, dropped, lists }));
  return { text, citations, answered, steps };
}

test("searches and answers are the same with readers as without", async () => {
  const { kb, threads } = await open({ workers: 1 });
  await untilOpen(threads);
  const there = threads.as("a");
  for (const mode of ["hybrid", "dense", "lexical"] as const) {
    const [one, other] = await Promise.all([kb.search(question, { mode }), there.search(question, { mode })]);
    expect(other.hits).toEqual(one.hits);
    expect(other.trace.why(one.hits[1]!.chunk.id)).toEqual(one.trace.why(one.hits[1]!.chunk.id));
  }
  const asked = {
    question: "And which of them expire after 20?",
    history: [{ role: "user" as const, text: question }],
  };
  expect(await lastOf(there.ask(asked))).toEqual(await lastOf(kb.ask(asked)));
  expect(await lastOf(there.ask(question))).toEqual(await lastOf(kb.ask(question)));
});

test("a reader finds nothing outside its scope, and refuses a search without one where one is required", async () => {
  const { kb, threads } = await open({ workers: 1 }, { requireScope: true });
  const scoped = (tenant: string) => ({
    ...threads,
    as: (caller: string) => threads.as(caller).scoped({ metadata: { tenant } }),
  });
  await untilOpen(scoped("theirs"));
  const { hits } = await threads
    .as("a")
    .scoped({ metadata: { tenant: "mine" } })
    .search(question, { count: 100 });
  expect(hits.length).toBeGreaterThan(10);
  expect(hits.filter(({ uri }) => !uri.startsWith("mine:"))).toEqual([]);
  await expect(threads.as("a").search(question)).rejects.toMatchObject({ code: "scope" });
  await expect(kb.search(question)).rejects.toMatchObject({ code: "scope" });
});

test("a filter that does not fit the schema of the metadata is refused with readers as without", async () => {
  const { kb, threads } = await open({ workers: 1 }, { metadata: z.object({ tenant: z.string() }) });
  await untilOpen(threads);
  const filter = { metadata: { tenat: "mine" } };
  const refusal = { name: "OptionsError", message: expect.stringContaining("tenat") as string };
  await expect(kb.search(question, { filter })).rejects.toMatchObject(refusal);
  await expect(threads.as("a").search(question, { filter })).rejects.toMatchObject(refusal);
});

test("readers find what was written a moment before, and not what was deleted", async () => {
  const { kb, threads } = await open({ workers: 1 });
  await untilOpen(threads);
  const ask = async () => (await threads.as("a").search("Who keeps the lighthouse?", { mode: "lexical" })).hits[0]?.uri;
  expect(await ask()).not.toBe("new:1");
  await kb.ingest([{ uri: "new:1", text: "Bea keeps the lighthouse." }]);
  expect(await ask()).toBe("new:1");
  await kb.deleteDocuments(["new:1"]);
  expect(await ask()).not.toBe("new:1");
});

test("beyond the limit searches are refused, and a caller who asks for much keeps no other waiting", async () => {
  const { threads } = await open({ workers: 1, maxWaiting: 20 });
  await untilOpen(threads);
  const order: string[] = [];
  const search = async (caller: string) => {
    await threads.as(caller).search(question, { mode: "lexical" });
    order.push(caller);
  };
  const greedy = Promise.allSettled(Array.from({ length: 40 }, () => search("greedy")));
  await expect.poll(() => threads.waiting(), { interval: 0 }).toBe(20);
  await expect(search("late")).rejects.toMatchObject({ name: "StoreError", code: "busy" });
  const outcomes = await greedy;
  const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  expect(refused.every((reason) => reason instanceof StoreError && reason.code === "busy")).toBe(true);
  expect(order.length + refused.length).toBe(40);
  order.length = 0;
  await Promise.all([...Array.from({ length: 20 }, () => search("greedy")), search("modest")]);
  expect(order.indexOf("modest")).toBeLessThan(6);
});

test("a search whose caller has gone leaves the queue with the caller's reason", async () => {
  const { threads } = await open({ workers: 1 });
  await untilOpen(threads);
  const going = Array.from({ length: 30 }, () => new AbortController());
  const searches = going.map(({ signal }) => threads.as("a").search(question, { signal }));
  await expect.poll(() => threads.waiting(), { interval: 0 }).toBeGreaterThan(0);
  const reason = new Error("gone");
  for (const each of going) each.abort(reason);
  for (const outcome of await Promise.allSettled(searches)) {
    if (outcome.status === "rejected") expect(outcome.reason).toBe(reason);
  }
  expect(threads.waiting()).toBe(0);
  expect((await threads.as("a").search(question)).hits[0]?.uri).toBe("mine:7");
});

test("where no reader can be started, searches are made as without, and a warning says so", async () => {
  const warnings: string[] = [];
  const { path, threads } = await open({ workers: 2 }, { onWarning: (warning) => warnings.push(warning) });
  await rename(path, `${path}-moved`);
  onTestFinished(() => rename(`${path}-moved`, path));
  for (let round = 0; warnings.length < 4 && round < 600; round++) {
    const found = await Promise.all(callers.map((caller) => threads.as(caller).search(question)));
    expect(found.map(({ hits }) => hits[0]?.uri)).toEqual(callers.map(() => "mine:7"));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(warnings[0]).toMatch(/^Searches are made on the thread that answers: There is no store at/);
  expect(warnings.slice(3)).toEqual([expect.stringContaining("no more are started")]);
  expect(threads.threads()).toBe(0);
});

test("readers of a store of the caller's own are refused, since they could not open it", async () => {
  const kb = await openKnowledgeBase({ store: memoryStore("citewell/local-lexical-m3") });
  onTestFinished(() => kb.close());
  expect(() => kb.readers({ workers: 1 })).toThrow(OptionsError);
  expect(() => kb.readers({ workers: 0 })).toThrow(/workers/);
});
