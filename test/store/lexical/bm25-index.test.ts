import fc from "fast-check";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bm25Index } from "../../../src/store/lexical/bm25-index.js";
import { lexicalFileFacts, readLexicalFile, writeLexicalFile } from "../../../src/store/lexical/lexical-file.js";
import { seededRandom } from "../../support/seeded-random.js";
import { temporaryFolder } from "../temporary-folder.js";

type Texts = ReadonlyMap<number, readonly string[]>;
const options = { k1: 1.2, b: 0.75 };
const word = fc.constantFrom("a", "b", "c", "d", "e", "检索", "rare\nline", '"');
const text = fc.array(word, { maxLength: 12 });
const change = fc.oneof(
  fc.record({ add: text }),
  fc.record({ remove: fc.nat({ max: 30 }) }),
  fc.constant({ reload: true as const }),
);

/** BM25 straight from its formula. */
function slowBm25(texts: Texts, query: readonly string[]): { label: number; score: number }[] {
  const lengths = [...texts.values()].map((words) => words.length);
  const average = lengths.reduce((sum, length) => sum + length, 0) / texts.size;
  return [...texts]
    .map(([label, words]) => {
      let score = 0;
      for (const wanted of query) {
        const n = [...texts.values()].filter((others) => others.includes(wanted)).length;
        const f = words.filter((one) => one === wanted).length;
        const idf = Math.log(1 + (texts.size - n + 0.5) / (n + 0.5));
        if (f > 0) score += (idf * f) / (f + options.k1 * (1 - options.b + (options.b * words.length) / average));
      }
      return { label, score };
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.label - b.label);
}

function add(index: Bm25Index, label: number, words: readonly string[]): void {
  index.add(label, (count) => {
    for (const one of words) count(index.numberOf(one), 1);
  });
}

test("after any additions, removals and reloads the scores are those of the formula over the remaining texts", async () => {
  const folder = temporaryFolder();
  let files = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 60 }), text, async (changes, query) => {
      let index = Bm25Index.empty();
      const texts = new Map<number, readonly string[]>();
      let label = 0;
      for (const step of changes) {
        if ("add" in step) {
          label += 3;
          add(index, label, step.add);
          texts.set(label, step.add);
        } else if ("remove" in step) {
          index.remove(step.remove * 3);
          texts.delete(step.remove * 3);
        } else {
          const content = await index.content();
          const path = join(folder, `${files++}.bin`);
          await writeLexicalFile(path, content);
          index = await Bm25Index.from(await readLexicalFile(path, lexicalFileFacts(content)));
        }
      }
      expect(index.size).toBe(texts.size);
      const { labels, scores } = index.search(query, 100, options);
      const expected = new Map(slowBm25(texts, query).map((one) => [one.label, one.score]));
      expect([...labels].toSorted((a, b) => a - b)).toEqual([...expected.keys()].toSorted((a, b) => a - b));
      for (const [at, found] of labels.entries()) {
        expect(scores[at]).toBeCloseTo(expected.get(found)!, 9);
        if (at > 0) expect(scores[at]).toBeLessThanOrEqual(scores[at - 1]!);
      }
    }),
    { numRuns: 150 },
  );
});

test("skipping long lists finds what reading them finds, in the same order with the same scores", () => {
  const next = seededRandom(11);
  // Zipf's law: the commonest of 5,000 words are in most texts, the rarest in a few.
  const anyWord = () => `w${Math.floor(5000 ** next())}`;
  const index = Bm25Index.empty();
  let label = 0;
  const grow = (count: number, length: number) => {
    for (const until = label + count; label < until;) {
      add(index, ++label, Array.from({ length: 1 + Math.floor(length * next()) }, anyWord));
    }
  };
  const ask = () => {
    for (let question = 0; question < 20; question++) {
      const words = Array.from({ length: 2 + (question % 9) }, anyWord);
      const third = (one: number) => one % 3 === 1;
      const allowed = { size: label, has: third, labels: function* (): Generator<number> {} };
      for (const conditions of [{}, { allowed }, { required: [`w${1 + (question % 3)}`] }]) {
        const everything = index.search(words, index.size, options, conditions);
        for (const count of [1, 10, 200]) {
          expect(index.search(words, count, options, conditions)).toEqual({
            labels: everything.labels.slice(0, count),
            scores: everything.scores.slice(0, count),
          });
        }
      }
    }
  };
  grow(9000, 40);
  ask();
  // The longest lists grow, texts become longer on average, and some are removed.
  grow(6000, 80);
  for (let gone = 2; gone < label; gone += 7) index.remove(gone);
  ask();
}, 30_000);

test("an index of many postings, some of them dead, finds the same after saving and after compaction", async () => {
  const index = Bm25Index.empty();
  for (let label = 1; label <= 9000; label++) {
    const words = Array.from({ length: 10 }, (_, at) => `word ${(label * (at + 1)) % (50 * (at + 1))}`);
    add(index, label, words);
  }
  for (let label = 1; label <= 9000; label += 7) index.remove(label);
  const content = await index.content();
  expect([...content.postings.numbers()].length).toBeGreaterThan(1);
  const path = join(temporaryFolder(), "many.bin");
  await writeLexicalFile(path, content);
  const saved = await Bm25Index.from(await readLexicalFile(path, lexicalFileFacts(content)));
  const query = ["word 1", "word 30", "word 49", "word 211"];
  const found = index.search(query, 9000, options);
  expect(found.labels.length).toBeGreaterThan(100);
  for (const other of [saved, await index.compacted()]) {
    expect(other.search(query, 9000, options)).toEqual(found);
    expect(other.dead).toBe(0);
  }
});

test("a search does not affect the next one", () => {
  const index = Bm25Index.empty();
  add(index, 1, ["a", "b"]);
  add(index, 2, ["b"]);
  const first = index.search(["b", "a"], 5, options);
  expect(index.search(["zzz"], 5, options).labels).toHaveLength(0);
  expect(index.search(["b", "a"], 5, options)).toEqual(first);
});

test("labels that do not ascend are refused", () => {
  const index = Bm25Index.empty();
  add(index, 5, ["a"]);
  expect(() => add(index, 5, ["b"])).toThrow(RangeError);
});
