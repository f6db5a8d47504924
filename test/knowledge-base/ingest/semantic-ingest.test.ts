import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import type { Document } from "../../../src/core/types.js";
import { embeddingReply, textsOf } from "../../support/embedding-service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { transportFor } from "../../support/transport-for.js";

const note = (number: number, sentences: number): Document => ({
  uri: `note:${number}`,
  text: Array.from({ length: sentences }, (_, at) => `Sentence ${at} of note ${number} has some words.`).join(" "),
});
const oneSentence = /^Sentence \d+ of (note) (\d+) has some words\.$/;

test("a stopped semantic run pays again only for sentences of documents that were not stored", async () => {
  const stop = new AbortController();
  let answered = 0;
  const { transport, upstream } = await transportFor((request) => {
    if (++answered === 60) stop.abort(new Error("stopped"));
    return embeddingReply(request);
  });
  const path = join(await temporaryFolder(), "store");
  const opened = async () => {
    const kb = await openKnowledgeBase({
      path,
      transport,
      models: { embedding: "test/embed-m3" },
      chunk: { strategy: "semantic", maxTokens: 64, overlapTokens: 0 },
    });
    onTestFinished(() => kb.close());
    return kb;
  };
  const documents = Array.from({ length: 60 }, (_, number) => note(number, 30));
  const first = await opened();
  await expect(first.ingest(documents, { signal: stop.signal })).rejects.toThrow("stopped");
  const stored = new Set((await first.store.documents()).map(({ uri }) => uri));
  await first.close();
  expect(stored.size).toBeGreaterThan(0);
  expect(stored.size).toBeLessThan(documents.length);

  const before = upstream.requests.length;
  const second = await opened();
  expect((await second.ingest(documents)).documents).toMatchObject({ unchanged: stored.size, failed: 0 });
  const compared = (requests: typeof upstream.requests) =>
    requests.flatMap(textsOf).flatMap((text) => {
      const [, kind, number] = oneSentence.exec(text) ?? [];
      return kind === undefined ? [] : [{ text, uri: `${kind}:${number}` }];
    });
  const again = compared(upstream.requests.slice(before));
  expect(again.filter(({ uri }) => stored.has(uri))).toEqual([]);
  // A chunk may be one sentence: as many texts, however often they were sent.
  expect(new Set(again.map(({ text }) => text)).size).toBe((documents.length - stored.size) * 30);

  // Unchanged documents cost nothing; of a changed one all sentences are compared anew.
  const settled = upstream.requests.length;
  expect(await second.ingest(documents)).toMatchObject({ requests: 0, tokens: 0 });
  const changed = { ...documents[7]!, text: documents[7]!.text.replace("Sentence 3 ", "Phrase 3 ") };
  await second.ingest(documents.with(7, changed));
  const anew = compared(upstream.requests.slice(settled));
  expect(new Set(anew.map(({ uri }) => uri))).toEqual(new Set(["note:7"]));
  expect(new Set(anew.map(({ text }) => text)).size).toBe(29);
});
