import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Filter } from "../../src/core/filter.js";
import { Pipeline } from "../../src/core/pipeline.js";
import type { Store } from "../../src/core/ports.js";
import { collect } from "../../src/core/stream.js";
import type { Question } from "../../src/core/types.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { search } from "../../src/stages/retrieval/search.js";
import { vectorKey } from "../../src/text/chunking/chunk-identity.js";
import { memoryStore } from "../support/memory-store.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function twoTenants() {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  const note = (tenant: string) => ({
    uri: `note:${tenant}`,
    text: `Moles of ${tenant} dig tunnels.`,
    metadata: { tenant },
  });
  await kb.ingest([note("a"), note("b")]);
  return kb;
}

const noFilters: readonly unknown[] = [null, false, true, 0, "", NaN, [], {}, () => true, "a"];
/** Without the second of its fields it would let through what the first does. */
const prototype = JSON.parse('{"metadata":{"tenant":"a","__proto__":"b"}}') as Filter;

test("a filter that is none is refused by search and ask, and never taken for no filter", async () => {
  const kb = await twoTenants();
  for (const bad of [...noFilters, prototype]) {
    const filter = bad as Filter;
    await expect(kb.search("moles", { filter })).rejects.toMatchObject({ code: "options" });
    expect(await endOf(kb.ask("What do moles dig?", { filter }))).toMatchObject({ code: "options" });
    expect(await endOf(kb.ask({ question: "What do moles dig?", filter }))).toMatchObject({ code: "options" });
    expect(() => kb.scoped(filter)).toThrow(expect.objectContaining({ code: "options" }));
  }

  async function endOf(answer: ReturnType<typeof kb.ask>): Promise<unknown> {
    try {
      const last = (await collect(answer)).at(-1);
      return last?.type === "error" ? last.error : last;
    } catch (error) {
      return error;
    }
  }
});

test("an empty filter of a question does not replace the caller's", async () => {
  const kb = await twoTenants();
  const caller: Filter = { metadata: { tenant: "a" } };
  const answer = kb.ask({ question: "What do moles dig?", filter: {} }, { filter: caller });
  const last = await collect(answer).then(
    (events) => events.at(-1),
    (error: unknown) => ({ type: "error", error }),
  );
  expect(last).toMatchObject({ type: "error", error: { code: "options" } });
});

test("a filter that is there and undefined was lost on the way, and is refused wherever a filter is an option", async () => {
  const kb = await twoTenants();
  const lost = { filter: undefined } as never;
  const message = "filter: must have a value where it is named: leave it out to see everything (got undefined)";
  await expect(kb.search("moles", lost)).rejects.toThrow(message);
  expect(() => kb.ask("What do moles dig?", lost)).toThrow(message);
  expect(() => kb.ask({ question: "What do moles dig?", filter: undefined as never })).toThrow(message);
  await expect(kb.scoped({ metadata: { tenant: "a" } }).search("moles", lost)).rejects.toThrow(message);
  const asked = { question: "moles", filter: undefined as never };
  expect(() => search(kb.store, { mode: "lexical", filter: undefined })).toThrow(message);
  const searching = Pipeline.from<Question>().pipe(search(kb.store, { mode: "lexical" }));
  await expect(collect(searching.stream([asked]))).rejects.toThrow(
    "search: the question's filter is undefined: leave it out to search everything",
  );
  for (const store of [kb.store, await memoryCopy(kb.store)]) {
    await expect(store.lexical.retrieve({ text: "moles" }, { count: 3, filter: undefined })).rejects.toThrow("filter");
    await expect(store.document("note:a", lost)).rejects.toThrow("filter");
    await expect(store.hits([], lost)).rejects.toThrow("filter");
    await expect(store.documents({ source: undefined as never })).rejects.toThrow("source");
  }
  await expect(kb.conversations({ owner: undefined as never })).rejects.toThrow("owner: must have a value");
  await expect(kb.conversations({ limit: 2, after: undefined as never })).rejects.toThrow("after: must have a value");
  expect((await kb.search("moles")).hits).toHaveLength(2);
});

/** A store in memory with the documents of another. */
async function memoryCopy(store: Store): Promise<Store> {
  const copy = memoryStore(store.space);
  const documents = [];
  for (const { uri } of await store.documents()) documents.push((await store.documentWithChunks!(uri))!);
  const keys = documents.flatMap(({ chunks }) => chunks.map(vectorKey));
  await copy.write({ documents, vectors: await store.knownVectors(keys) });
  return copy;
}
