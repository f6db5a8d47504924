import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { embeddingText } from "../../../src/text/chunking/chunk-identity.js";
import type { Document } from "../../../src/core/types.js";
import { embeddingReply, textsOf } from "../../support/embedding-service.js";
import type { RecordedRequest, ScriptedReply } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { transportFor } from "../../support/transport-for.js";

/** A knowledge base with short chunks whose upstream records what it was sent. */
async function opened(reply: (request: RecordedRequest) => ScriptedReply = embeddingReply) {
  const { transport, upstream } = await transportFor(reply, { maxRetries: 0 });
  const kb = await openKnowledgeBase({
    path: join(await temporaryFolder(), "store"),
    transport,
    models: { embedding: "test/embed-m3" },
    chunk: { maxTokens: 32, overlapTokens: 0 },
  });
  onTestFinished(() => kb.close());
  let seen = 0;
  const takeSent = () => {
    const sent = upstream.requests.slice(seen).flatMap(textsOf);
    seen = upstream.requests.length;
    return sent;
  };
  return { kb, takeSent };
}

/** A source that holds these documents and no others. */
const whole = (documents: readonly Document[]) => ({
  id: "test:",
  read: async function* () {
    yield* documents;
  },
  vanished: () => true,
  async *[Symbol.asyncIterator]() {
    yield* documents;
  },
});

describe("indexing complaints of users of other libraries", () => {
  test("unchanged chunks of a long source are not deleted and embedded again, however many batches they fill", async () => {
    const { kb, takeSent } = await opened();
    const text = Array.from({ length: 250 }, (_, at) => `## Part ${at}\n\nThe mole of part ${at} digs.`).join("\n\n");
    const source = whole([{ uri: "test:long", text, mediaType: "text/markdown" }]);
    const first = await kb.ingest(source);
    // More than three requests take.
    expect(first.chunks.total).toBeGreaterThan(100);
    takeSent();
    expect(await kb.ingest(source)).toMatchObject({
      documents: { unchanged: 1, added: 0, updated: 0, deleted: 0 },
      chunks: { embedded: 0, deleted: 0 },
    });
    expect(takeSent()).toEqual([]);
  });

  test("a change deep inside metadata is stored, and costs nothing", async () => {
    const { kb, takeSent } = await opened();
    const on = (page: number): Document => ({
      uri: "test:a",
      text: "A mole digs.",
      metadata: { place: { page, of: ["a", { b: page }] } },
    });
    await kb.ingest([on(1)]);
    takeSent();
    expect((await kb.ingest([on(2)])).documents).toMatchObject({ updated: 1, unchanged: 0 });
    expect(takeSent()).toEqual([]);
    expect((await kb.store.document("test:a"))?.metadata).toEqual(on(2).metadata);
  });

  test("of two documents with the same words, the deleted one is gone and the other is found", async () => {
    const { kb } = await opened();
    const twins = ["test:one", "test:two"].map((uri) => ({ uri, text: "A mole digs." }));
    await kb.ingest(whole(twins));
    expect((await kb.ingest(whole(twins.slice(1)))).documents).toMatchObject({ deleted: 1, unchanged: 1 });
    const { hits } = await kb.search("mole", { mode: "lexical" });
    expect(hits.map(({ uri }) => uri)).toEqual(["test:two"]);
    expect(await kb.store.verify()).toMatchObject({ ok: true });
  });

  test("documents of a run that failed as a whole are all stored by the next one", async () => {
    let down = true;
    const { kb } = await opened((request) => (down ? { status: 503, text: "down" } : embeddingReply(request)));
    const documents = ["a", "b"].map((name) => ({ uri: `test:${name}`, text: `Mole ${name} digs.` }));
    await expect(kb.ingest(documents)).rejects.toThrow("503");
    down = false;
    expect((await kb.ingest(documents)).documents).toMatchObject({ added: 2, unchanged: 0, failed: 0 });
  });

  test("a document that became shorter leaves no chunk of its old ending behind", async () => {
    const { kb } = await opened();
    const parts = ["moles", "badgers", "voles"].map(
      (animal) => `# ${animal}\n\nOf ${animal} much is said here and there.`,
    );
    const written = (count: number): Document => ({
      uri: "test:a",
      text: parts.slice(0, count).join("\n\n"),
      mediaType: "text/markdown",
    });
    await kb.ingest([written(3)]);
    const { chunks } = await kb.ingest([written(1)]);
    expect((await kb.store.counts()).chunks).toBe(chunks.total);
    expect((await kb.search("voles badgers", { mode: "lexical" })).hits).toEqual([]);
  });

  test("no text is cut off on its way: every unit of it is in a chunk that was sent completely", async () => {
    const { kb, takeSent } = await opened();
    const numbers = Array.from({ length: 600 }, (_, at) => String(at));
    const documents = [
      { uri: "test:a", text: numbers.map((at) => `土拨鼠挖了${at}个洞`).join("") },
      { uri: "test:b", text: numbers.map((at) => `x${at}`).join("") },
    ];
    await kb.ingest(documents);
    const sent = new Set(takeSent());
    for (const { uri, text } of documents) {
      const { hits } = await kb.search("mole", { mode: "dense", count: 1000, filter: { uri } });
      const spans = hits.map(({ chunk }) => chunk).toSorted((one, other) => one.start - other.start);
      expect(spans.filter((chunk) => !sent.has(embeddingText(chunk)))).toEqual([]);
      let covered = 0;
      for (const { start, end } of spans) {
        expect(start).toBeLessThanOrEqual(covered);
        covered = Math.max(covered, end);
      }
      expect(covered).toBe(text.length);
    }
  });
});
