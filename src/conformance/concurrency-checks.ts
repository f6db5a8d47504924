import { ok } from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import type { Store, StoreWrite } from "../core/ports.js";
import { type Check, dimension, same } from "./check.js";
import { madeDocument, madeVector, withVectors } from "./made-documents.js";

const pair = (version: number) => madeDocument("pair", [`left ${version}`, `right ${version}`]);

/** Writes, and waits while another writer has the store. */
async function writeInTurn(store: Store, write: StoreWrite): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await store.write(write);
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "locked" || attempt === 600) throw error;
      await wait(50);
    }
  }
}

export const concurrencyChecks: Readonly<Record<string, Check>> = {
  "shows whole states to searches while documents are replaced": async (store) => {
    await store.write(withVectors([pair(0)], dimension));
    const writing = async () => {
      for (let version = 1; version <= 20; version++) await store.write(withVectors([pair(version)], dimension));
    };
    const reading = async () => {
      for (let round = 0; round < 20; round++) {
        same((await store.counts()).chunks, 2);
        const { text } = (await store.document("pair"))!;
        const [, left, right] = /^left (\d+)\n\nright (\d+)$/.exec(text)!;
        same(left, right);
        const found = await store.dense.retrieve({ text: "", vector: madeVector("x", dimension) }, { count: 9 });
        ok(found.length <= 2, `${found.length} chunks of a document of two were found`);
      }
    };
    const ended = await Promise.allSettled([writing(), reading()]);
    for (const outcome of ended) if (outcome.status === "rejected") throw outcome.reason;
    same((await store.lexical.retrieve({ text: "left right" }, { count: 9 })).length, 2);
  },

  "shows whole states to a second reader, and all that was acknowledged": async (store, { again }) => {
    await store.write(withVectors([pair(0)], dimension));
    const reader = await again();
    for (let version = 1; version <= 10; version++) {
      await store.write(withVectors([pair(version)], dimension));
      same((await reader.document("pair"))?.text, pair(version).document.text);
      const [found] = await reader.lexical.retrieve({ text: `left ${version}` }, { count: 1 });
      same(found?.chunkId, pair(version).chunks[0]!.id);
      same((await reader.counts()).chunks, 2);
    }
  },

  "keeps what two writers write at once, whole and each exactly once": async (store, { again }) => {
    const other = await again();
    const documentsOf = (writer: number) =>
      Array.from({ length: 12 }, (_, index) =>
        madeDocument(`${writer} ${index}`, [`shared ${index}`, `own ${writer} ${index}`]),
      );
    await Promise.all(
      [store, other].map(async (writer, number) => {
        for (const document of documentsOf(number)) await writeInTurn(writer, withVectors([document], dimension));
        // Both write these, in opposite orders.
        const common = [pair(1), madeDocument("second", ["one", "two"])];
        const documents = number === 0 ? common : common.toReversed();
        await writeInTurn(writer, withVectors(documents, dimension));
      }),
    );
    // 24 documents and the two that both wrote; 12 shared texts, 24 own ones and 4 of the last two.
    const expected = { documents: 26, chunks: 52, vectors: 40 };
    same(await store.counts(), expected);
    same(await other.counts(), expected);
    same((await store.lexical.retrieve({ text: "shared" }, { count: 100 })).length, 24);
    const { ok: isSound, problems } = await other.verify();
    same({ isSound, problems }, { isSound: true, problems: [] });
  },

  "takes many calls at once": async (store) => {
    const made = Array.from({ length: 40 }, (_, position) =>
      madeDocument(`many ${position}`, [`word${position}`, "common"]),
    );
    await Promise.all(made.map((document) => store.write(withVectors([document], dimension))));
    same(await store.counts(), { documents: 40, chunks: 80, vectors: 41 });
    const found = await Promise.all(
      made.map((_, offset) => store.lexical.retrieve({ text: `word${offset}` }, { count: 5 })),
    );
    same(
      found.map((list) => list.map(({ chunkId }) => chunkId)),
      made.map(({ chunks }) => [chunks[0]!.id]),
    );
  },
};
