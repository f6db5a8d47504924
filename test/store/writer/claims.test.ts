// In test:all alone: it starts processes that wait for each other, for 15 s.
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ingest } from "../../../src/knowledge-base/ingest.js";
import type { Found, Store } from "../../../src/core/ports.js";
import { openStore } from "../../../src/store/open-store.js";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";
import { wordEmbedder } from "../../support/word-embedder.js";

async function openedTwice(): Promise<[Store, Store]> {
  const path = join(temporaryFolder(), "store");
  const open = async () => {
    const store = await openStore(path, { space: "made", dimension: 8 });
    onTestFinished(() => store.close());
    return store;
  };
  return [await open(), await open()];
}

const put = (store: Store, uri: string) => store.write(withVectors([madeDocument(uri, [`words of ${uri}`])], 8));

/** The documents that searching finds, by words and by vectors. */
async function found(store: Store): Promise<[string[], string[]]> {
  const uris = async (places: readonly Found[]) => (await store.hits(places)).map(({ uri }) => uri).toSorted();
  const lexical = await store.lexical.retrieve({ text: "words" }, { count: 50 });
  const dense = await store.dense.retrieve({ text: "", vector: madeVector("x", 8) }, { count: 50 });
  return [await uris(lexical), await uris(dense)];
}

test("processes that idle let each other write, and each sees at once what the other wrote", async () => {
  const [one, other] = await openedTwice();
  const uris: string[] = [];
  for (const [turn, store] of [one, other, one, other, other, one].entries()) {
    uris.push(`d${turn}`);
    await put(store, `d${turn}`);
    for (const reader of [one, other]) expect(await found(reader)).toEqual([uris, uris]);
  }
  await one.deleteDocuments(["d1"]);
  const left = uris.filter((uri) => uri !== "d1");
  expect(await found(other)).toEqual([left, left]);
  await other.close();
  expect(await one.verify()).toMatchObject({ ok: true });
});

test("a claim keeps others from writing until it is let go, also where nothing is written meanwhile", async () => {
  const [one, other] = await openedTwice();
  const [first, second] = [await one.claim!(), await one.claim!()];
  await expect(put(other, "theirs")).rejects.toMatchObject({ code: "locked" });
  await first();
  // Let go twice, it counts once.
  await first();
  await expect(put(other, "theirs")).rejects.toMatchObject({ code: "locked" });
  await put(one, "ours");
  // A repair takes the lock for itself, and gives it back.
  expect(await one.verify({ repair: true })).toMatchObject({ ok: true });
  await expect(put(other, "theirs")).rejects.toMatchObject({ code: "locked" });
  await second();
  expect(await put(other, "theirs")).toMatchObject([{ outcome: "added" }]);
});

test("a run keeps the store between its writes, however slow the embedding is, and lets go at its end", async () => {
  const path = join(temporaryFolder(), "store");
  const words = wordEmbedder();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let asked = () => {};
  const begun = new Promise<void>((resolve) => (asked = resolve));
  const slow: typeof words = {
    ...words,
    embed: async (texts, call) => {
      asked();
      await held;
      return words.embed(texts, call);
    },
  };
  const store = await openStore(path, words);
  const other = await openStore(path, words);
  onTestFinished(async () => {
    await store.close();
    await other.close();
  });
  const running = ingest([{ uri: "a", text: "Ada keeps the key." }], { store, embedder: slow });
  await begun;
  // Longer than an idle process keeps the lock.
  await new Promise((resolve) => setTimeout(resolve, 800));
  const late = ingest([{ uri: "b", text: "Bob has none." }], { store: other, embedder: words });
  await expect(late).rejects.toMatchObject({ code: "locked" });
  release();
  expect((await running).documents).toMatchObject({ added: 1, failed: 0 });
  const again = await ingest([{ uri: "b", text: "Bob has none." }], { store: other, embedder: words });
  expect(again.documents).toMatchObject({ added: 1, failed: 0 });
});
