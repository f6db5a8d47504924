import { expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { openStore } from "../../../src/store/open-store.js";
import { nearestStems, nearStems } from "../../../src/text/words/similar-words.js";
import { terms } from "../../../src/text/words/terms.js";
import { seededRandom } from "../../support/seeded-random.js";
import { temporaryFolder } from "../temporary-folder.js";

const next = seededRandom(11);
const letters = "aeiklmnorst".split("");
const word = () =>
  Array.from({ length: 4 + Math.floor(9 * next()) }, () => letters[Math.floor(letters.length * next())]).join("");
const vocabulary = Array.from({ length: 400 }, word);
const texts = Array.from({ length: 300 }, () =>
  Array.from({ length: 12 }, () => vocabulary[Math.floor(vocabulary.length * next() ** 2)]).join(" "),
);

/** The obvious way: each word of each text is compared. */
function slowly(typed: string, unfinished: boolean, among: readonly string[]): readonly string[] {
  const chunks = new Map<string, number>();
  for (const text of among) for (const term of new Set(terms(text))) chunks.set(term, (chunks.get(term) ?? 0) + 1);
  const { slipsTo, beginnings } = nearStems(typed, unfinished);
  const near = [...chunks].flatMap(([stem, count]) => {
    const slips = beginnings.some((beginning) => stem.startsWith(beginning)) ? slipsTo(stem) : undefined;
    return slips === undefined || stem.length < 3 ? [] : [{ stem, slips, chunks: count }];
  });
  return nearestStems(near, 20);
}

/** A word with a slip or two, or the beginning of one. */
function typedWord(): string {
  let typed = vocabulary[Math.floor(vocabulary.length * next())]!;
  for (let slip = 0; slip < 1 + Math.floor(2 * next()); slip++) {
    const at = 1 + Math.floor((typed.length - 1) * next());
    typed = typed.slice(0, at) + (next() < 0.5 ? "" : letters[slip]!) + typed.slice(at + (next() < 0.5 ? 0 : 1));
  }
  return typed;
}

test("similar words of a store in memory, in segments and after removals are those that comparing all words finds", async () => {
  const path = temporaryFolder();
  const open = () => openStore(path, { space: "made" }, { index: "flat" });
  let store = await open();
  onTestFinished(() => store.close());
  const written = texts.map((text, index) => madeDocument(`d${index}`, [text]));
  const compare = async (from: number, to: number) => {
    for (let round = 0; round < 60; round++) {
      const typed = typedWord();
      const unfinished = round % 3 === 0;
      const wanted = slowly(unfinished ? typed.slice(0, 4) : typed, unfinished, texts.slice(from, to));
      const found = await store.similarWords!(unfinished ? typed.slice(0, 4) : typed, { count: 20, unfinished });
      // A stem that has a shorter one comes as a word of it.
      expect({ typed, found: found.map((one) => terms(one)[0]) }).toEqual({ typed, found: wanted });
    }
  };
  await store.write(withVectors(written.slice(0, 200), 2));
  await compare(0, 200);
  await store.close();
  store = await open();
  await store.write(withVectors(written.slice(200), 2));
  await compare(0, 300);
  await store.deleteDocuments(written.slice(0, 120).map(({ document }) => document.uri));
  await compare(120, 300);
  await store.close();
  store = await open();
  await compare(120, 300);
});
