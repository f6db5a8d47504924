import { expect, onTestFinished, test } from "vitest";
import { OptionsError } from "../../../src/core/errors.js";
import { openStore } from "../../../src/store/open-store.js";
import { namingTerms } from "../../../src/text/words/page-names.js";
import { terms } from "../../../src/text/words/terms.js";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const dimension = 4;
const made = [
  madeDocument("orchard", ["Trees stand in rows and are pruned in winter."], { title: "Apple orchards" }),
  madeDocument("market", ["An apple costs less in autumn than a pear does."], { title: "Prices" }),
  madeDocument("pie", ["Apple, apple and once more apple: that is all there is to it."]),
  madeDocument("other", ["Nothing of the kind stands here."], { title: "Something else" }),
];

/** BM25 over sums of weighted frequencies, straight from the formula. */
function scores(word: string, weight: number): Map<string, number> {
  const [k1, b] = [1.2, 0.75];
  const counted = made.map(({ document: { uri, title = "", text }, chunks }) => {
    const count = (of: string) => terms(of).filter((term) => term === word).length;
    const names = weight === 0 ? [] : namingTerms(chunks[0]!);
    return {
      uri,
      frequency: count(text) + weight * count(title),
      length: terms(text).length + weight * terms(title).length + names.length,
    };
  });
  const average = counted.reduce((sum, { length }) => sum + length, 0) / counted.length;
  const holders = counted.filter(({ frequency }) => frequency > 0);
  const rarity = Math.log(1 + (counted.length - holders.length + 0.5) / (holders.length + 0.5));
  return new Map(
    holders.map(({ uri, frequency, length }) => [
      uri,
      (rarity * frequency) / (frequency + k1 * (1 - b + (b * length) / average)),
    ]),
  );
}

test("words of title and headings count as often as contextWeight says, before frequencies saturate, also in a store that was indexed with another weight", async () => {
  const path = temporaryFolder();
  const first = await openStore(path, { space: "made" });
  await first.write(withVectors(made, dimension));
  await first.close();
  const [apple] = terms("apple");
  for (const contextWeight of [2, 0, 1, 5, undefined]) {
    const store = await openStore(path, { space: "made" }, contextWeight === undefined ? {} : { contextWeight });
    onTestFinished(() => store.close());
    const found = await store.lexical.retrieve({ text: "apple" }, { count: 10 });
    const expected = scores(apple!, contextWeight ?? 2);
    expect(expected.size).toBe(contextWeight === 0 ? 2 : 3);
    const hits = await store.hits(found);
    expect(new Map(hits.map(({ uri, score }) => [uri, score]))).toEqual(
      new Map([...expected].map(([uri, score]) => [uri, expect.closeTo(score, 6)])),
    );
    await store.close();
  }
  await expect(openStore(path, { space: "made" }, { contextWeight: 0.5 })).rejects.toThrow(OptionsError);
});
