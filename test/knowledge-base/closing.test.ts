import { getEventListeners } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Embedder, openKnowledgeBase, type KnowledgeBase } from "../../src/index.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { wordEmbedder } from "../support/word-embedder.js";

const documents = Array.from({ length: 300 }, (_, at) => ({ uri: `note:${at}`, text: `Mole ${at} digs.` }));

/** An embedder whose calls wait until they are let through or aborted, and a promise of the first call. */
function heldEmbedder() {
  let begin!: () => void;
  let release!: () => void;
  const began = new Promise<void>((resolve) => (begin = resolve));
  const gate = new Promise<void>((resolve) => (release = resolve));
  const embedder = wordEmbedder({
    before: async (_texts, { signal }) => {
      begin();
      const aborted = new Promise<never>((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason as Error)),
      );
      await Promise.race([gate, aborted]);
    },
  });
  return { embedder, began, release };
}

async function opened(embedder: Embedder): Promise<KnowledgeBase> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store"), embedder });
  onTestFinished(() => {
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
  return kb;
}

const closed = { name: "StoreError", code: "closed", message: expect.stringContaining("open it again") };

test("an ingest that is under way when the knowledge base is closed ends with one error, and goes on after the next opening", async () => {
  const { embedder, began } = heldEmbedder();
  const kb = await opened(embedder);
  const ended = kb.ingest(documents).catch((error: unknown) => error);
  await began;
  await kb.close();
  expect(await ended).toMatchObject(closed);
  await expect(kb.ingest(documents)).rejects.toMatchObject(closed);
  await expect(kb.plan(documents)).rejects.toMatchObject(closed);
  await expect(kb.search("mole")).rejects.toMatchObject(closed);
  await expect(kb.verify()).rejects.toMatchObject(closed);
});

test("plans and checks that are under way when the knowledge base is closed end with the same error", async () => {
  const kb = await opened(wordEmbedder());
  await kb.ingest(documents);
  const endless = (async function* () {
    for (let at = 0; ; at++) {
      yield { uri: `more:${at}`, text: `Vole ${at} digs.` };
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const planning = kb.plan(endless).catch((error: unknown) => error);
  const checking = kb.verify({ sample: 300 }).catch((error: unknown) => error);
  await kb.close();
  expect(await planning).toMatchObject(closed);
  // It may have been done just then.
  const checked = await checking;
  expect(checked).toMatchObject(checked instanceof Error ? closed : { ok: true });
});

test("a search that is under way when the knowledge base is closed still finds what it looks for", async () => {
  let held = false;
  const { embedder, began, release } = heldEmbedder();
  const kb = await opened({
    ...wordEmbedder(),
    embed: (texts, call) => (held ? embedder : wordEmbedder()).embed(texts, call),
  });
  await kb.ingest(documents);
  held = true;
  const searching = kb.search("mole 7");
  await began;
  const closing = kb.close();
  release();
  expect((await searching).hits).toHaveLength(10);
  await Promise.all([closing, kb.close()]);
});

test("searches and lists tie nothing to a signal that lives on, of the caller or of the knowledge base", async () => {
  const kb = await opened(wordEmbedder());
  await kb.ingest(documents.slice(0, 5));
  const joined = vi.spyOn(AbortSignal, "any");
  onTestFinished(() => joined.mockRestore());
  const { signal } = new AbortController();
  for (let search = 0; search < 20; search++) await kb.search("mole", { mode: "lexical", signal });
  await kb.documents();
  expect(joined.mock.calls.length).toBe(0);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  await kb.close();
});
