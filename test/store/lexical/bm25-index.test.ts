import fc from "fast-check";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bm25Index } from "../../../src/store/lexical/bm25-index.js";
import { Segment } from "../../../src/store/lexical/segment.js";
import { fileBytes, fileSink, MemoryBytes } from "../../../src/store/lexical/segment-bytes.js";
import { unitBytes } from "../../../src/text/tables/numbered-strings.js";
import { seededRandom } from "../../support/seeded-random.js";
import { temporaryFolder } from "../temporary-folder.js";

type Texts = ReadonlyMap<number, readonly string[]>;
const options = { k1: 1.2, b: 0.75 };
const word = fc.constantFrom("a", "b", "c", "d", "e", "检索", "rare\nline", '"');
const text = fc.array(word, { maxLength: 12 });
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: text }) },
  fc.record({ remove: fc.nat({ max: 30 }) }),
  fc.constant({ segment: true as const }),
  fc.constant({ merge: true as const }),
);

interface Scored {
  readonly label: number;
  readonly score: number;
}

/** BM25 straight from its formula, summed from the rarest word on. */
function slowBm25(
  texts: Texts,
  query: ReadonlyMap<string, number>,
  isAllowed: (label: number, words: readonly string[]) => boolean = () => true,
): Scored[] {
  const lengths = [...texts.values()].map((words) => words.length);
  const average = lengths.reduce((sum, length) => sum + length, 0) / texts.size;
  const rarities = [...query].map(([wanted, weight]) => {
    const n = [...texts.values()].filter((others) => others.includes(wanted)).length;
    return { wanted, rarity: weight * Math.log(1 + (texts.size - n + 0.5) / (n + 0.5)) };
  });
  rarities.sort((one, other) => other.rarity - one.rarity);
  return [...texts]
    .filter(([label, words]) => isAllowed(label, words))
    .map(([label, words]) => {
      let score = 0;
      for (const { wanted, rarity } of rarities) {
        const f = words.filter((one) => one === wanted).length;
        if (f > 0) score += (rarity * f) / (f + options.k1 * (1 - options.b + (options.b * words.length) / average));
      }
      return { label, score };
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.label - b.label);
}

/** Every word counts as often as it stands there, or a quarter of that where it ends in an odd letter. */
function weighed(words: readonly string[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const term of words) {
    weights.set(term, (weights.get(term) ?? 0) + (term.charCodeAt(term.length - 1) % 2 === 1 ? 0.25 : 1));
  }
  return weights;
}

function add(index: Bm25Index, label: number, words: readonly string[]): void {
  index.add(label, (count) => {
    for (const one of words) count(index.numberOf(one), 1);
  });
}

async function merge(index: Bm25Index, from: number, to: number): Promise<void> {
  const old = index.segments.slice(from, to);
  const bytes = new MemoryBytes();
  index.replace(old, new Segment(bytes, await index.merged(old, bytes, options)));
}

test("after any additions, removals and merges the scores are those of the formula over the remaining texts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 60 }), text, async (changes, query) => {
      const index = new Bm25Index();
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
        } else if ("segment" in step) await index.makeSegment(options);
        else if (index.segments.length > 0) await merge(index, index.segments.length >> 1, index.segments.length);
      }
      expect(index.size).toBe(texts.size);
      const { labels, scores } = index.search(weighed(query), 100, options);
      const expected = slowBm25(texts, weighed(query));
      expect([...scores]).toEqual(expected.map(({ score }) => expect.closeTo(score, 9) as number));
      expect([...labels].toSorted((a, b) => a - b)).toEqual(expected.map((one) => one.label).toSorted((a, b) => a - b));
    }),
    { numRuns: 150 },
  );
});

/** Texts by Zipf's law: the commonest of 5,000 words are in most texts, the rarest in a few. Some are the same. */
function zipfIndex(seed: number) {
  const next = seededRandom(seed);
  const anyWord = () => `w${Math.floor(5000 ** next())}`;
  const index = new Bm25Index();
  const texts = new Map<number, readonly string[]>();
  let label = 0;
  const grow = (count: number, length: number) => {
    let words: readonly string[] = [];
    for (const until = label + count; label < until;) {
      if (next() < 0.8) words = Array.from({ length: 1 + Math.floor(length * next()) }, anyWord);
      add(index, ++label, words);
      texts.set(label, words);
    }
  };
  const remove = (gone: number) => {
    index.remove(gone);
    texts.delete(gone);
  };
  return { index, texts, next, anyWord, grow, remove };
}

function expectExact({ index, texts, anyWord }: ReturnType<typeof zipfIndex>, questions: number): void {
  for (let question = 0; question < questions; question++) {
    const words = weighed(Array.from({ length: 2 + (question % 9) }, anyWord));
    const allowedOf = (every: number) => {
      const labels = [...texts.keys()].filter((one) => one % every === 1);
      const set = new Set(labels);
      return {
        size: labels.length,
        has: (one: number) => set.has(one),
        labels: () => labels.values() as Generator<number>,
      };
    };
    const required = `w${1 + (question % 3)}`;
    const cases = [
      { conditions: {}, isAllowed: () => true },
      { conditions: { allowed: allowedOf(3) }, isAllowed: (label: number) => label % 3 === 1 },
      { conditions: { allowed: allowedOf(50) }, isAllowed: (label: number) => label % 50 === 1 },
      {
        conditions: { required: [required] },
        isAllowed: (_: number, has: readonly string[]) => has.includes(required),
      },
    ];
    for (const { conditions, isAllowed } of cases) {
      const expected = slowBm25(texts, words, isAllowed);
      for (const count of [1, 10, 200, expected.length]) {
        const { labels, scores } = index.search(words, count, options, conditions);
        const best = expected.slice(0, count);
        expect([...scores]).toEqual(best.map(({ score }) => expect.closeTo(score, 9) as number));
        // Texts of the same words have the same score to the last bit, and come in order of label.
        for (let at = 1; at < labels.length; at++) {
          if (scores[at] === scores[at - 1]) expect(labels[at]).toBeGreaterThan(labels[at - 1]!);
        }
        expect([...labels]).toEqual(best.map(({ label }) => label));
      }
    }
  }
}

test("searching by bounds finds exactly what scoring every text finds, with ties, filters, removals and segments", async () => {
  const made = zipfIndex(11);
  const { index, grow, remove, texts } = made;
  grow(3000, 40);
  expectExact(made, 4);
  await index.makeSegment(options);
  expectExact(made, 4);
  // Texts become longer on average, so that what was an upper bound is none any more.
  grow(1500, 120);
  await index.makeSegment(options);
  grow(700, 80);
  for (const gone of texts.keys()) if (gone % 7 === 2) remove(gone);
  expectExact(made, 9);
  await index.makeSegment(options);
  await merge(index, 0, 2);
  for (const gone of texts.keys()) if (gone % 11 === 2) remove(gone);
  expectExact(made, 9);
}, 60_000);

test("a segment in a file is found in as one in memory, and a changed byte is noticed when it is read", async () => {
  const made = zipfIndex(5);
  made.grow(900, 30);
  await made.index.makeSegment(options);
  const path = join(temporaryFolder(), "segment.bin");
  const sink = fileSink(path);
  const facts = made.index.segments[0]!.copyTo(sink);
  sink.flush();
  sink.close();
  const index = new Bm25Index([new Segment(fileBytes(path), facts)]);
  for (const words of [["w1", "w2"], ["w40", "w4900"], ["none"]]) {
    expect(index.search(weighed(words), 20, options)).toEqual(made.index.search(weighed(words), 20, options));
  }
  index.close();

  const bytes = fileBytes(path);
  const length = facts.tailStart + 8 * facts.texts + 12 * 2 ** facts.bucketBits;
  const allTerms = weighed(Array.from({ length: 5000 }, (_, at) => `w${at}`));
  for (let at = 0; at < length; at += Math.ceil(length / 40)) {
    const damaged = bytes.read(0, length);
    damaged[at]! ^= 16;
    const memory = new MemoryBytes();
    memory.write(damaged);
    expect(() => new Bm25Index([new Segment(memory, facts)]).search(allTerms, 1, options)).toThrow(/was changed/);
  }
  bytes.close();
});

test("four times the texts cost less than four times the scored postings, and a filter's cost shrinks with what it allows", async () => {
  const scored: number[] = [];
  for (const texts of [4000, 8000, 16_000]) {
    const { index, grow, anyWord } = zipfIndex(3);
    grow(texts, 30);
    await index.makeSegment(options);
    const allowed = {
      size: texts / 100,
      has: (label: number) => label % 100 === 1,
      labels: function* () {
        for (let label = 1; label <= texts; label += 100) yield label;
      },
    };
    const plain = { scored: 0 };
    const filtered = { scored: 0 };
    const questions = Array.from({ length: 20 }, () => weighed(Array.from({ length: 4 }, anyWord)));
    for (const words of questions) {
      index.search(words, 10, options, {}, plain);
      index.search(words, 10, options, { allowed }, filtered);
    }
    expect(filtered.scored).toBeLessThanOrEqual((4 * questions.length * texts) / 100);
    scored.push(plain.scored);
  }
  expect(scored[2]).toBeLessThan(4 * scored[0]!);
});

test("blocks of a rare word that cannot reach the best score found so far are not read", async () => {
  const index = new Bm25Index();
  // The rare word is in every 20th of 40,000 texts: 2,000 postings, of which only the first block of 128 has texts with it twice.
  const best = [101, 121, 141, 161];
  for (let label = 1; label <= 40_000; label++) {
    const isBest = best.includes(label);
    add(index, label, [label % 20 === 1 ? "rare" : "other", isBest ? "rare" : "common", "common"]);
  }
  await index.makeSegment(options);
  const costs = { scored: 0 };
  expect([...index.search(weighed(["rare"]), 4, options, {}, costs).labels]).toEqual(best);
  expect(costs.scored).toBeLessThan(500);
});

test("a search does not affect the next one", () => {
  const index = new Bm25Index();
  add(index, 1, ["a", "b"]);
  add(index, 2, ["b"]);
  const first = index.search(weighed(["b", "a"]), 5, options);
  expect(index.search(weighed(["zzz"]), 5, options).labels).toHaveLength(0);
  expect(index.search(weighed(["b", "a"]), 5, options)).toEqual(first);
});

test("labels that do not ascend are refused, also after those of a segment", async () => {
  const index = new Bm25Index();
  add(index, 5, ["a"]);
  expect(() => add(index, 5, ["b"])).toThrow(RangeError);
  await index.makeSegment(options);
  expect(() => add(index, 5, ["b"])).toThrow(RangeError);
});

test("segments that were made with other parameters are searched as if made with those of the search", async () => {
  const grown = () => {
    const index = new Bm25Index();
    // More texts than a window, so that some windows have none with a given word.
    for (let label = 1; label <= 3000; label++) {
      add(index, label, [
        ...(label % 2 === 1 ? ["odd"] : []),
        ...(label < 200 ? ["early", "early"] : []),
        `own${label}`,
      ]);
    }
    return index;
  };
  const index = grown();
  await index.makeSegment(options);
  for (const other of [
    { k1: 0, b: 0.75 },
    { k1: 1.2, b: 0 },
    { k1: 1.2, b: 1 },
  ]) {
    const expected = grown();
    await expected.makeSegment(other);
    const query = weighed(["odd", "early", "own2999"]);
    expect(index.search(query, 3000, other)).toEqual(expected.search(query, 3000, other));
    expect(index.search(query, 3000, other).labels).toHaveLength(1500 + 99);
  }
});

test("the lists of rare words that a segment keeps in memory are few enough for what it may take", async () => {
  const index = new Bm25Index();
  const words = Array.from({ length: 70_000 }, (_, at) => `w${at}`);
  for (let label = 1; label <= 700; label++) add(index, label, words.slice(100 * (label - 1), 100 * label));
  await index.makeSegment(options);
  const [{ bytes, facts }] = index.segments as readonly [Segment];
  let reads = 0;
  const counted = {
    read: (start: number, length: number) => {
      reads++;
      return bytes.read(start, length);
    },
    close: () => bytes.close(),
  };
  const segment = new Segment(counted, facts);
  const readsFor = (rare: string) => {
    const before = reads;
    expect(segment.find(rare, unitBytes(rare))?.living).toBe(1);
    return reads - before;
  };
  expect(readsFor("w0")).toBe(1);
  expect(readsFor("w0")).toBe(0);
  // A list takes some 500 bytes, so that 70,000 are more than 32 MB.
  for (const rare of words.slice(1)) segment.find(rare, unitBytes(rare));
  expect(readsFor("w69999")).toBe(0);
  expect(readsFor("w0")).toBe(1);
});

test("words are found when more than two million different ones stand in texts that become a segment", async () => {
  const index = new Bm25Index();
  const wordCount = 2 ** 21 + 1000;
  index.add(1, (count) => {
    for (let at = 0; at < wordCount; at++) count(index.numberOf(`w${at.toString(36)}`), 1);
  });
  await index.makeSegment(options);
  const places = [0, 1, 999, 2 ** 20, 2 ** 21 - 1, 2 ** 21, wordCount - 1];
  const found = places.map((at) => [...index.search(weighed([`w${at.toString(36)}`]), 1, options).labels]);
  expect(found).toEqual(places.map(() => [1]));
});
