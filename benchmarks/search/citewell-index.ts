import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore, Pipeline, type Question, search, type Store, type StoreOptions } from "citewell";
import type { SearchIndex } from "./search-index.js";
import type { Asking, Opening, Weighed } from "./searching-process.js";

export type Indexing = Pick<StoreOptions, "index" | "quantization">;

/** The embedded store. It is closed when all is written, and opened again by the first search. */
export async function citewellIndex(dimension: number, indexing: Indexing): Promise<SearchIndex> {
  const path = join(mkdtempSync(join(tmpdir(), "citewell-benchmark-")), "store");
  const embedder = { space: "benchmark", dimension };
  let opened: Promise<Store> | undefined;
  const store = () => (opened ??= openStore(path, embedder, indexing));
  const close = async () => {
    await (await opened)?.close();
    opened = undefined;
  };
  const ids = async (side: "dense" | "lexical", query: Asking, count: number) =>
    (await (await store())[side].retrieve(query, { count })).map(({ chunkId }) => chunkId);
  return {
    reopens: true,
    write: async (write) => {
      await (await store()).write(write);
    },
    finish: close,
    dense: (query, count) => ids("dense", query, count),
    words: (query, count) => ids("lexical", query, count),
    hybrid: async ({ text, vector }, filter) => {
      const flow = Pipeline.from<Question & { readonly vector: Float32Array; readonly space: string }>().pipe(
        search(await store(), { mode: "hybrid", count: 40, ...(filter && { filter }) }),
      );
      for await (const { hits } of flow.stream([{ question: text, vector, space: embedder.space }])) return hits;
      throw new Error("The search stage answered nothing");
    },
    weigh: async (queries) => {
      await close();
      return weigh({ path, ...embedder, ...indexing }, queries);
    },
    diskBytes: () => readdirSync(path).reduce((sum, file) => sum + statSync(join(path, file)).size, 0),
    verify: async () => {
      // A sample of one question: measuring the recall is another matter.
      const { ok, problems } = await (await store()).verify({ sample: 1 });
      if (!ok) throw new Error(`verify found ${JSON.stringify(problems)}`);
    },
    close: async () => {
      await close();
      rmSync(join(path, ".."), { recursive: true, force: true });
    },
  };
}

/** Weighs a process that only opens the store and searches. */
async function weigh(opening: Opening, queries: readonly Asking[]): Promise<Weighed> {
  const child = fork(fileURLToPath(new URL("./searching-process.js", import.meta.url)), { serialization: "advanced" });
  const told = async (message: Opening | Asking) => {
    child.send(message);
    return ((await once(child, "message")) as [Weighed])[0];
  };
  let weighed = await told(opening);
  for (const { text, vector } of queries) weighed = await told({ text, vector });
  child.disconnect();
  await once(child, "exit");
  return weighed;
}
