// In test:all alone: its runs wait for each other's locks, for 20 s.
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { transportFor } from "../../support/transport-for.js";

test.each(["structure", "semantic"] as const)(
  "an ingest into a store that another one writes to is refused before it pays for anything (%s)",
  async (strategy) => {
    const { transport, upstream } = await transportFor(embeddingReply);
    const path = join(await temporaryFolder(), "store");
    const open = async () => {
      const kb = await openKnowledgeBase({
        path,
        transport,
        models: { embedding: "test/embed-m3" },
        chunk: { strategy },
      });
      onTestFinished(() => kb.close());
      return kb;
    };
    const stored = [{ uri: "test:a", text: "A mole digs. A badger digs too." }];
    const first = await open();
    await first.ingest(stored);
    const paid = upstream.requests.length;
    const letGo = await first.store.claim!();

    const second = await open();
    const more = [...stored, { uri: "test:b", text: "A vole digs. A wombat digs too." }];
    await expect(second.ingest(more)).rejects.toMatchObject({ code: "locked" });
    expect(upstream.requests.length).toBe(paid);
    // Work that costs nothing does not need the lock.
    expect((await second.ingest(stored)).documents).toMatchObject({ unchanged: 1 });

    await letGo();
    expect((await second.ingest(more)).documents).toMatchObject({ added: 1, unchanged: 1 });
  },
);

test("what another ingest has stored since it was looked up is not paid for again", async () => {
  const { transport, upstream } = await transportFor(embeddingReply);
  const path = join(await temporaryFolder(), "store");
  const open = async () => {
    const kb = await openKnowledgeBase({ path, transport, models: { embedding: "test/embed-m3" } });
    onTestFinished(() => kb.close());
    return kb;
  };
  const documents = Array.from({ length: 5 }, (_, at) => ({ uri: `test:${at}`, text: `Mole ${at} digs.` }));
  let go = () => {};
  const finished = new Promise<void>((resolve) => (go = resolve));
  let reached = () => {};
  const lookedUp = new Promise<void>((resolve) => (reached = resolve));
  async function* slowly() {
    yield* documents.slice(0, 4);
    reached();
    await finished;
    yield documents[4]!;
  }
  const second = await open();
  const run = second.ingest(slowly());
  await lookedUp;
  await new Promise((resolve) => setTimeout(resolve, 300));
  const first = await open();
  await first.ingest(documents);
  await first.close();
  const paid = upstream.requests.length;
  go();
  const report = await run;
  expect(report.chunks).toMatchObject({ total: 5, embedded: 0, reused: 5 });
  expect(upstream.requests.length).toBe(paid);
});

test("who aborts an ingest that has stored everything waits for nothing more, and gets its report", async () => {
  const path = join(await temporaryFolder(), "store");
  const kb = await openKnowledgeBase({ path });
  onTestFinished(() => kb.close());
  const controller = new AbortController();
  const claim = kb.store.claim!.bind(kb.store);
  let ended = false;
  Object.assign(kb.store, {
    claim: async () => {
      const letGo = await claim();
      return async () => {
        await letGo();
        controller.abort(new Error("enough"));
        await new Promise((_, reject) => setTimeout(reject, 100, new Error("of no interest any more")));
        ended = true;
      };
    },
  });
  const { documents } = await kb.ingest([{ uri: "test:a", text: "A mole digs." }], { signal: controller.signal });
  expect(documents.added).toBe(1);
  expect(ended).toBe(false);
  // Later failures end nothing, least of all this process.
  await new Promise((resolve) => setTimeout(resolve, 200));
});
