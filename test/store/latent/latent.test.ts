import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import type { Filter } from "../../../src/core/filter.js";
import type { Store } from "../../../src/core/ports.js";
import { search } from "../../../src/stages/retrieval/search.js";
import { seededRandom } from "../../../src/core/random.js";
import { Pipeline } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import type { Embedded, Question } from "../../../src/core/types.js";
import { openDatabase } from "../../../src/sqlite/database.js";
import { AllowedChunks } from "../../../src/store/derived/allowed-chunks.js";
import { Changes, type Position } from "../../../src/store/derived/changes.js";
import { LatentIndex, latentFigures } from "../../../src/store/latent/latent-index.js";
import { inSlices } from "../../../src/store/derived/scheduling.js";
import { explainedShare, principalDirections } from "../../../src/store/latent/principal-directions.js";
import { openStoreAt } from "../../../src/store/open-store-at.js";
import { openStore } from "../../../src/store/open-store.js";
import type { StoreOptions } from "../../../src/store/store-options.js";
import { temporaryFolder } from "../temporary-folder.js";

const dimension = 8;
const subjects = [
  ["automobile", "car", "engine", "wheel", "brake", "gearbox"],
  ["galaxy", "star", "planet", "comet", "orbit", "telescope"],
  ["flour", "oven", "dough", "yeast", "bread", "butter"],
  ["goalkeeper", "striker", "penalty", "referee", "stadium", "league"],
] as const;

/** Documents of one chunk with three of the six words of one subject each, in turn. */
const documents = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => {
    const at = from + index;
    const words = subjects[at % subjects.length]!;
    const shift = Math.floor(at / subjects.length);
    const text = [0, 1, 3].map((step) => words[(shift + step) % words.length]).join(" ");
    return madeDocument(`d${at}`, [`${text} number${at}`], { metadata: { even: at % 2 === 0 } });
  });

async function opened(path: string, options: StoreOptions = {}): Promise<Store> {
  const store = await openStore(path, { space: "made" }, { latent: true, ...options });
  onTestFinished(() => store.close());
  return store;
}

async function filled(count: number, path = join(temporaryFolder(), "store"), options: StoreOptions = {}) {
  const store = await opened(path, options);
  await store.write(withVectors(documents(0, count), dimension));
  return { store, path };
}

/** Uris and scores of what the latent side finds. */
async function found(store: Store, text: string, count = 12, filter?: Filter) {
  const hits = await store.hits(await store.latent!.retrieve({ text }, { count, ...(filter && { filter }) }));
  return hits.map(({ uri, score, chunk }) => ({ uri, score, text: chunk.text }));
}

test("directions are those that explain the most, as far as can be told by hand", async () => {
  // Rows (3,3,0,0), (3,3,0,0) and (0,0,1,1): squared singular values 36 and 2, along (1,1,0,0) and (0,0,1,1).
  const rows = {
    starts: Uint32Array.of(0, 2, 4, 6),
    columns: Uint32Array.of(0, 1, 0, 1, 2, 3),
    values: Float64Array.of(3, 3, 3, 3, 1, 1),
    width: 4,
  };
  const [first] = await inSlices(principalDirections(rows, 1));
  const half = Math.sqrt(0.5);
  for (const [at, part] of [half, half, 0, 0].entries()) expect(Math.abs(first![at]!)).toBeCloseTo(part, 2);
  const both = await inSlices(principalDirections(rows, 2));
  expect(await inSlices(explainedShare(rows, both))).toBeCloseTo(1, 10);
  expect(await inSlices(explainedShare(rows, [Float64Array.of(half, half, 0, 0)]))).toBeCloseTo(36 / 38, 10);
});

test("a chunk without a word of the question is found by the words that go with them, and by itself after reopening", async () => {
  const { store, path } = await filled(32);
  const hits = await found(store, "car", 8);
  expect(hits).toHaveLength(8);
  for (const { text } of hits) expect(subjects[0].some((word) => text.includes(word))).toBe(true);
  expect(hits.some(({ text }) => !/\bcar\b/.test(text))).toBe(true);
  await store.close();
  const saved = readFileSync(join(path, "latent.json"), "utf8");
  const again = await opened(path);
  expect(await found(again, "car", 8)).toEqual(hits);
  await again.close();
  expect(readFileSync(join(path, "latent.json"), "utf8")).toBe(saved);
});

test("the same texts give the same model in another store", async () => {
  const stores = [await filled(60), await filled(60)];
  const [one, other] = await Promise.all(stores.map(({ store }) => found(store, "planet orbit")));
  expect(one).toEqual(other);
});

test("new chunks join at once, deleted ones leave, and the model is trained again when the store has grown by half", async () => {
  const { store, path } = await filled(80);
  await store.write(withVectors(documents(80, 100), dimension));
  await store.deleteDocuments(["d0", "d4"]);
  const uris = (await found(store, "automobile car engine wheel brake gearbox", 100)).map(({ uri }) => uri);
  expect(uris).toContain("d96");
  expect(uris).not.toContain("d0");
  await store.close();
  expect(latentFigures(path)).toMatchObject({ trainedOn: 80, used: true });
  const grown = await opened(path);
  await grown.write(withVectors(documents(100, 140), dimension));
  await grown.close();
  expect(latentFigures(path)).toMatchObject({ trainedOn: 138, used: true });
});

test("a filter holds for it, and so does a scope", async () => {
  const { store } = await filled(80);
  const even = await found(store, "comet", 100, { metadata: { even: true } });
  expect(even.length).toBeGreaterThan(0);
  expect(even.every(({ uri }) => Number(uri.slice(1)) % 2 === 0)).toBe(true);
  const scoped = store.scoped({ metadata: { even: false } });
  const ids = await scoped.latent!.retrieve({ text: "bread" }, { count: 100 });
  const hits = await store.hits(ids);
  expect(hits.length).toBeGreaterThan(0);
  expect(hits.every(({ uri }) => Number(uri.slice(1)) % 2 === 1)).toBe(true);
});

test("a damaged file is told by verify and by a warning, and trained again to the same", async () => {
  const { store, path } = await filled(80);
  const before = await found(store, "dough");
  await store.close();
  const file = readdirSync(path).find((name) => /^latent-.*\.bin$/.test(name))!;
  const bytes = readFileSync(join(path, file));
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(join(path, file), bytes);
  const warnings: string[] = [];
  const again = await opened(path, { onWarning: (message) => warnings.push(message) });
  expect((await again.verify()).problems).toEqual([
    { what: "latent", message: expect.stringContaining("checksum") as string, repairable: true },
  ]);
  await again.write({ documents: [] });
  expect(await found(again, "dough")).toEqual(before);
  expect(warnings).toEqual([expect.stringContaining("trained again")]);
  await again.close();
  const closed = await opened(path);
  expect((await closed.verify()).ok).toBe(true);
});

test("a deleted file costs nothing but the training", async () => {
  const { store, path } = await filled(80);
  const before = await found(store, "referee");
  await store.close();
  for (const name of readdirSync(path).filter((each) => each.startsWith("latent"))) rmSync(join(path, name));
  const again = await opened(path);
  await again.write({ documents: [] });
  expect(await found(again, "referee")).toEqual(before);
});

test("hybrid search asks it beside words and vectors, and a store without a model is searched as before", async () => {
  const question = { question: "car", vector: new Float32Array(dimension).fill(1), space: "made" } as const;
  const sides = async (store: Store, weights?: { dense: number; lexical: number; latent?: number }) => {
    const asking = Pipeline.from<Embedded<Question>>().pipe(search(store, { ...(weights && { fusion: { weights } }) }));
    const [{ trace } = { trace: [] }] = await collect(asking.stream([question]));
    return trace[0]?.lists?.map(({ by }) => by);
  };
  const { store } = await filled(80);
  expect(await sides(store)).toEqual(["dense", "lexical", "latent"]);
  expect(await sides(store, { dense: 1, lexical: 1 })).toEqual(["dense", "lexical", "latent"]);
  expect(await sides(store, { dense: 1, lexical: 1, latent: 0 })).toEqual(["dense", "lexical"]);
  const { store: few } = await filled(19);
  expect(await sides(few)).toEqual(["dense", "lexical"]);
  const { store: without } = await filled(80, undefined, { latent: false });
  expect(without.latent).toBeUndefined();
  expect(await sides(without)).toEqual(["dense", "lexical"]);
});

/** Texts of 24 words, half of them of one subject of 37; or all of no subject. */
const longTexts = (count: number, aboutSubjects: boolean) => {
  const random = seededRandom(1);
  const any = (words: number) => Math.floor(words * random());
  return Array.from({ length: count }, (_, at) => {
    const words = Array.from({ length: 24 }, (__, place) =>
      aboutSubjects && place % 2 === 0 ? `subject${at % 37}word${any(30)}` : `word${any(3000)}`,
    );
    return madeDocument(`a${at}`, [words.join(" ")]);
  });
};

test("auto weighs a model by questions made of the texts, and leaves one unused that cannot answer them", async () => {
  const path = join(temporaryFolder(), "store");
  const few = await opened(path, { latent: "auto", index: "flat" });
  await few.write(withVectors(longTexts(600, true), dimension));
  const { shareOfWords, weight, ...figures } = await closedFigures(few, path);
  expect(figures).toMatchObject({ trainedOn: 600, used: true });
  expect(shareOfWords).toBeGreaterThan(0.6);
  expect(weight).toBe(Math.min(0.4, shareOfWords! / 2));
  const again = await opened(path, { latent: "auto", index: "flat" });
  expect(await again.latent!.weight!()).toBe(weight);

  const other = join(temporaryFolder(), "store");
  const store = await opened(other, { latent: "auto", index: "flat" });
  const anything = longTexts(600, false);
  await store.write(withVectors(anything, dimension));
  expect(await found(store, "word1 word2")).toEqual([]);
  const unused = await closedFigures(store, other);
  expect(unused).toMatchObject({ trainedOn: 600, used: false });
  expect(unused.shareOfWords ?? 0).toBeLessThan(0.2);
  // Asked for in so many words it is trained all the same.
  const wanted = await opened(other, { latent: true, index: "flat" });
  await wanted.write({ documents: [] });
  expect(await found(wanted, anything[0]!.chunks[0]!.text)).toHaveLength(12);
});

async function closedFigures(store: Store, path: string) {
  await store.close();
  return latentFigures(path)!;
}

test("a hybrid search takes the weight that the store measured, unless its caller gives one", async () => {
  const path = join(temporaryFolder(), "store");
  const store = await opened(path, { latent: "auto", index: "flat" });
  const texts = longTexts(600, true);
  await store.write(withVectors(texts, dimension));
  const question = texts[7]!.chunks[0]!.text.split(" ").slice(0, 6).join(" ");
  const scores = async (weights?: { dense: number; lexical: number; latent?: number }) => {
    const pipeline = Pipeline.from<Embedded<Question, "made">>().pipe(
      search(store, weights ? { fusion: { weights } } : {}),
    );
    const [asked] = await collect(
      pipeline.stream([{ question, vector: new Float32Array(dimension).fill(1), space: "made" }]),
    );
    return asked!.hits.map(({ score }) => score);
  };
  const weight = await store.latent!.weight!();
  expect(weight).toBeGreaterThan(0.3);
  expect(await scores()).toEqual(await scores({ dense: 0.7, lexical: 1, latent: weight! }));
  expect(await scores()).not.toEqual(await scores({ dense: 0.7, lexical: 1, latent: 0.2 }));
});

test("a store in PostgreSQL refuses it in a sentence", async () => {
  await expect(openStoreAt("postgres://nobody@127.0.0.1:1/none", { space: "made" }, { latent: true })).rejects.toThrow(
    "A store in PostgreSQL has no latent model: leave out latent",
  );
});

test("chunks that were deleted leave no gaps in what a model is trained on", async () => {
  const trained = async (path: string) => {
    const store = await opened(path);
    await store.close();
    return latentFigures(path);
  };
  const live = withVectors(documents(0, 100), dimension);
  const path = join(temporaryFolder(), "store");
  const store = await openStore(path, { space: "made" });
  const gone = Array.from({ length: 6000 }, (_, at) => `gone${at}`);
  await store.write(withVectors([madeDocument("gone", gone)], dimension));
  await store.deleteDocuments(["gone"]);
  await store.write(live);
  await store.close();
  const fresh = join(temporaryFolder(), "store");
  const other = await openStore(fresh, { space: "made" });
  await other.write(live);
  await other.close();
  expect(await trained(path)).toEqual(await trained(fresh));
});

test("a file that another process replaces while it is opened costs nothing but the training", async () => {
  const { store, path } = await filled(40);
  await store.close();
  const database = openDatabase(join(path, "store.sqlite"));
  onTestFinished(() => {
    database.close();
  });
  // The position of the store is read after the file was checked.
  class Replaced extends Changes {
    override head(): Position {
      for (const name of readdirSync(path)) if (/^latent-.*\.bin$/.test(name)) rmSync(join(path, name));
      return super.head();
    }
  }
  const warnings: string[] = [];
  const saved = JSON.parse(readFileSync(join(path, "latent.json"), "utf8")) as {
    readonly store: string;
    readonly contextWeight: number;
  };
  const index = await LatentIndex.open(new Replaced(database), {
    ...saved,
    latent: true,
    allowed: new AllowedChunks(database),
    folder: path,
    onWarning: (text) => warnings.push(text),
  });
  onTestFinished(() => index.close());
  expect(warnings).toEqual([expect.stringMatching(/latent model.*ENOENT.*trained again/)]);
  await index.catchUp();
  expect((await index.search("car", 8)).labels).toHaveLength(8);
});

test("a store that was opened anew finds the same with the same scores, whether it was written in a run or not", async () => {
  const questions = ["car", "planet orbit", "flour", "referee", "number7"];
  const answers = async (store: Store) => {
    const each: unknown[] = [];
    for (const question of questions) each.push(await found(store, question));
    return each;
  };
  const path = join(temporaryFolder(), "store");
  const write = async (store: Store, from: number, to: number) => {
    for (let at = from; at < to; at += 25) await store.write(withVectors(documents(at, at + 25), dimension));
  };
  const first = await opened(path);
  const release = await first.claim!();
  await write(first, 0, 200);
  // A run trains once, at its end.
  expect(await found(first, "car")).toEqual([]);
  await release();
  const afterRun = await answers(first);
  expect(afterRun[0]).toHaveLength(12);
  await first.close();
  expect(latentFigures(path)).toMatchObject({ trainedOn: 200 });

  const second = await opened(path);
  expect(await answers(second)).toEqual(afterRun);
  await write(second, 200, 350);
  await second.deleteDocuments(["d3", "d301"]);
  const afterWrites = await answers(second);
  await second.close();
  expect(latentFigures(path)).toMatchObject({ trainedOn: 300 });
  const third = await opened(path);
  expect(await answers(third)).toEqual(afterWrites);
});
