import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import type { Document } from "../../../src/core/types.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const documents = [1, 2].map((at) => ({ uri: `note:${at}`, text: `Mole ${at} digs.` }));

async function emptyKnowledgeBase() {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  return kb;
}

test.each<[string, () => Iterable<Document> | AsyncIterable<Document>]>([
  [
    "generator",
    function* () {
      yield* documents;
    },
  ],
  [
    "asynchronous generator",
    async function* () {
      yield* documents;
    },
  ],
  ["iterator of a map", () => new Map(documents.map((each) => [each.uri, each])).values()],
  ["stream of Node", () => Readable.from(documents)],
  ["stream of the web", () => new ReadableStream({ start: fill })],
])("a %s that is given to a second run is refused, since it is empty by then", async (_, source) => {
  const kb = await emptyKnowledgeBase();
  const once = source();
  expect((await kb.ingest(once)).documents).toMatchObject({ added: 2 });
  await expect(kb.ingest(once)).rejects.toMatchObject({
    code: "options",
    message: expect.stringContaining("the source was read before"),
  });
  await expect(kb.plan(once)).rejects.toThrow("the source was read before");
});

function fill(controller: ReadableStreamDefaultController<Document>): void {
  for (const each of documents) controller.enqueue(each);
  controller.close();
}

test("a list, a set and an object that begins anew can be given to any number of runs", async () => {
  const kb = await emptyKnowledgeBase();
  const anew = { [Symbol.asyncIterator]: () => Readable.from(documents)[Symbol.asyncIterator]() };
  for (const source of [documents, new Set(documents), anew, documents, anew]) {
    expect((await kb.ingest(source)).documents).toMatchObject({ failed: 0 });
  }
  expect((await kb.ingest(anew)).documents).toMatchObject({ unchanged: 2 });
});

test("a generator that somebody else emptied is warned of", async () => {
  const kb = await emptyKnowledgeBase();
  const once = (function* () {
    yield* documents;
  })();
  await collect(once);
  expect((await kb.ingest(once)).warnings).toEqual([expect.stringContaining("The source handed out no document")]);
  expect((await kb.ingest([])).warnings).toEqual([]);
});
