import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/store/open-store.js";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

test("words find the right texts after the index was compacted without the words of deleted texts", async () => {
  const store = await openStore(temporaryFolder(), { space: "made" });
  onTestFinished(() => store.close());
  const write = (from: number, to: number) => {
    const numbers = Array.from({ length: to - from }, (_, at) => from + at);
    const documents = numbers.map((number) => madeDocument(`d${number}`, [`always own${number} rare${number % 7}`]));
    return store.write(withVectors(documents, 2));
  };
  const uris = async (text: string) => {
    const hits = await store.hits(await store.lexical.retrieve({ text }, { count: 5000 }));
    return hits.map(({ uri }) => uri).toSorted();
  };
  await write(0, 1300);
  // More than a thousand texts, and more than remain: words that only they contained lose their numbers.
  await store.deleteDocuments(Array.from({ length: 1200 }, (_, number) => `d${number}`));
  await write(1300, 1310);
  expect(await uris("own5")).toEqual([]);
  expect(await uris("own1205")).toEqual(["d1205"]);
  expect(await uris("own1304")).toEqual(["d1304"]);
  expect(await uris("always")).toHaveLength(110);
  const living = Array.from({ length: 110 }, (_, at) => 1200 + at);
  expect(await uris("rare3")).toEqual(living.filter((number) => number % 7 === 3).map((number) => `d${number}`));
});
