import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../src/knowledge-base.js";
import { embeddingReply } from "./support/embedding-service.js";
import { temporaryFolder } from "./support/temporary-folder.js";
import { transportFor } from "./support/transport-for.js";

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

    const second = await open();
    const more = [...stored, { uri: "test:b", text: "A vole digs. A wombat digs too." }];
    await expect(second.ingest(more)).rejects.toMatchObject({ code: "locked" });
    expect(upstream.requests.length).toBe(paid);
    // What costs nothing needs no right to write.
    expect((await second.ingest(stored)).documents).toMatchObject({ unchanged: 1 });

    await first.close();
    expect((await second.ingest(more)).documents).toMatchObject({ added: 1, unchanged: 1 });
  },
);
