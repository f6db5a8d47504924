import { ok } from "node:assert/strict";
import { seededRandom } from "../core/random.js";
import { embeddingText } from "../text/chunking/chunk-identity.js";
import { bm25 } from "./bm25.js";
import { type Check, dimension, NotApplicable, same } from "./check.js";
import { chinese, cosine, english, madeDocument, madeVector, withVectors } from "./made-documents.js";

/** Two scores of one text may differ by this share, for rounding and for lengths that are stored in a byte. */
const scoreTolerance = 0.02;

export const searchChecks: Readonly<Record<string, Check>> = {
  "finds by vector what a full scan finds, best first, with cosine and rank": async (store) => {
    const documents = Array.from({ length: 40 }, (_, index) =>
      madeDocument(`d${index}`, [`first of ${index}`, `second of ${index}`]),
    );
    await store.write(withVectors(documents, dimension));
    const vector = madeVector("a question", dimension).map((component) => component * 7);
    const found = await store.dense.retrieve({ text: "", vector }, { count: 10 });
    const scan = documents
      .flatMap(({ chunks }) => chunks)
      .map((chunk) => ({ id: chunk.id, score: cosine(vector, madeVector(embeddingText(chunk), dimension)) }))
      .toSorted((one, other) => other.score - one.score)
      .slice(0, 10);
    same(
      found.map(({ chunkId }) => chunkId),
      scan.map(({ id }) => id),
    );
    for (const [index, { score, placements }] of found.entries()) {
      ok(Math.abs(score - scan[index]!.score) < 1e-3, `the score ${score} is not the cosine, ${scan[index]!.score}`);
      same(placements, [{ by: "dense", rank: index + 1, score }]);
    }
  },

  "finds by vector at least 95 of 100 of the exact ten nearest of 2,000": async (store) => {
    const documents = Array.from({ length: 200 }, (_, index) =>
      madeDocument(
        `d${index}`,
        Array.from({ length: 10 }, (__, part) => `passage ${part} of ${index}`),
      ),
    );
    const { vectors } = await writeAll(store, documents);
    const byId = documents.flatMap(({ chunks }) => chunks.map((chunk) => [chunk.id, vectors.get(chunk.id)!] as const));
    let shared = 0;
    for (let question = 0; question < 20; question++) {
      const vector = madeVector(`question ${question}`, dimension);
      const exact = byId
        .map(([id, other]) => ({ id, score: cosine(vector, other) }))
        .toSorted((one, other) => other.score - one.score)
        .slice(0, 10);
      const found = new Set(
        (await store.dense.retrieve({ text: "", vector }, { count: 10 })).map(({ chunkId }) => chunkId),
      );
      same(found.size, 10);
      shared += exact.filter(({ id }) => found.has(id)).length;
    }
    ok(shared >= 190, `dense search found ${shared} of the 200 exact nearest`);
  },

  "finds by words in the order of BM25, with falling scores and ranks": async (store) => {
    // Made-up words that no stemmer shortens and no list of stop words holds, rarer ones later.
    const words = Array.from(
      { length: 40 },
      (_, position) =>
        `${"bdfgkmptvz"[position % 10]}${"aiou"[(position >> 3) & 3]}${"kmbg"[position % 4]}u${position}x`,
    );
    const next = seededRandom(5);
    const word = () => words[Math.floor(words.length * next() ** 2)]!;
    const texts = Array.from({ length: 150 }, (_, offset) => Array.from({ length: 4 + (offset % 23) }, word).join(" "));
    const made = [...new Set(texts)].map((text, index) => madeDocument(`d${index}`, [text]));
    await store.write(withVectors(made, dimension));
    const textOf = new Map(made.map(({ document, chunks }) => [chunks[0]!.id, document.text]));
    for (const query of [words[0]!, words[30]!, `${words[1]} ${words[25]}`, `${words[3]} ${words[12]} ${words[35]}`]) {
      const all = [...textOf.values()];
      const scores = bm25(
        query.split(" "),
        all.map((text) => text.split(" ")),
      );
      const scoreOf = new Map(all.flatMap((text, index) => (scores[index]! > 0 ? [[text, scores[index]!]] : [])));
      const found = await store.lexical.retrieve({ text: query }, { count: 1000 });
      const order = found.map(({ chunkId }) => textOf.get(chunkId)!);
      same(order.toSorted(), [...scoreOf.keys()].toSorted(), `texts with a word of "${query}"`);
      for (const [index, { score, placements }] of found.entries()) {
        same(placements, [{ by: "lexical", rank: index + 1, score }]);
        if (index === 0) continue;
        ok(score <= found[index - 1]!.score, `"${query}": the scores do not fall at rank ${index + 1}`);
        const [better, worse] = [scoreOf.get(order[index - 1]!)!, scoreOf.get(order[index]!)!];
        ok(
          better >= worse * (1 - scoreTolerance),
          `"${query}": rank ${index + 1} should stand before rank ${index} by BM25`,
        );
      }
    }
  },

  "finds by words, also in the title, shorter texts first, and in Chinese": async (store) => {
    await store.write(withVectors([english, chinese], dimension));
    const ids = async (text: string) =>
      (await store.lexical.retrieve({ text }, { count: 9 })).map(({ chunkId }) => chunkId);
    same(await ids("cat"), [english.chunks[2]!.id, english.chunks[0]!.id]);
    same((await ids("animals")).length, 3);
    same(await ids("向量"), [chinese.chunks[1]!.id]);
    same(await ids("CAT, cat!"), [english.chunks[2]!.id, english.chunks[0]!.id]);
    same(await ids("zebra"), []);
    same(await ids(""), []);
    same(await ids("'; DROP TABLE chunks; -- \0 \ud83d %_ \\ \" & | ! ( ) : *"), []);
  },

  "finds documents by both retrievers as soon as they are written": async (store) => {
    for (let index = 0; index < 5; index++) {
      const made = madeDocument(`fresh${index}`, [`freshword${index}`]);
      await store.write(withVectors([made], dimension));
      const vector = madeVector(embeddingText(made.chunks[0]!), dimension);
      const [dense] = await store.dense.retrieve({ text: "", vector }, { count: 1 });
      const [lexical] = await store.lexical.retrieve({ text: `freshword${index}` }, { count: 1 });
      same([dense?.chunkId, lexical?.chunkId], [made.chunks[0]!.id, made.chunks[0]!.id]);
    }
  },

  "tells the words that a misspelt or unfinished one may be, the nearest and most frequent first, and none of other documents":
    async (store) => {
      if (!store.similarWords) throw new NotApplicable("The store tells no similar words");
      const texts = ["kalambo kalimbo", "kalambo tasku", "kalimbu kalambo", "koralu", "kolaru kolaru", "olaru kolart"];
      const made = texts.map((text, index) => madeDocument(index < 3 ? `a${index}` : `b${index}`, [text]));
      await store.write(withVectors(made, dimension));
      const similar = (word: string, call: object = {}) => store.similarWords!(word, { count: 9, ...call });
      same(await similar("kalamba"), ["kalambo"]);
      same(await similar("kalamboo"), ["kalambo", "kalimbo"]);
      same(await similar("kalamboo", { count: 1 }), ["kalambo"]);
      same(await similar("kolaur"), ["kolaru"]);
      same(await similar("kola"), []);
      same(await similar("ko", { unfinished: true }), []);
      same(await similar("kola", { unfinished: true }), ["kolart", "kolaru"]);
      same(await similar("kal", { unfinished: true }), ["kalambo", "kalimbo", "kalimbu"]);
      same(await similar("kal", { unfinished: true, filter: { uri: "a1" } }), ["kalambo"]);
      same(await similar("kal", { unfinished: true, filter: { uri: { prefix: "b" } } }), []);
      same(await store.scoped({ uri: "a2" }).similarWords?.("kal", { count: 9, unfinished: true }), [
        "kalambo",
        "kalimbu",
      ]);
      for (const word of ["", "(kal", "K.*", "'; DROP", "\0", "向量"])
        same(await similar(word, { unfinished: true }), []);
      await store.deleteDocuments(["a0", "a1", "a2"]);
      same(await similar("kal", { unfinished: true }), []);
    },

  "finds equal texts of several documents, each as a chunk of its own": async (store) => {
    const made = ["one", "two", "three"].map((uri) => madeDocument(uri, ["the same words", "the same words"]));
    await store.write(withVectors(made, dimension));
    const all = made.flatMap(({ chunks }) => chunks.map(({ id }) => id)).toSorted();
    const vector = madeVector(embeddingText(made[0]!.chunks[0]!), dimension);
    for (const retriever of [store.dense, store.lexical]) {
      const found = await retriever.retrieve({ text: "same words", vector }, { count: 20 });
      same(found.map(({ chunkId }) => chunkId).toSorted(), all);
    }
  },

  "finds at most `count` chunks, and no more than there are": async (store) => {
    await store.write(withVectors([english], dimension));
    const query = { text: "cat dogs night", vector: madeVector("x", dimension) };
    same((await store.dense.retrieve(query, { count: 1000 })).length, 3);
    same((await store.dense.retrieve(query, { count: 2 })).length, 2);
    same((await store.lexical.retrieve(query, { count: 1 })).length, 1);
    same((await store.lexical.retrieve(query, { count: 3, deadlineMs: 3_600_000 })).length, 3);
  },
};

/** Writes documents a few at a time, and returns the vector of each chunk. */
async function writeAll(
  store: Parameters<Check>[0],
  documents: readonly (typeof english)[],
): Promise<{ readonly vectors: ReadonlyMap<string, Float32Array> }> {
  for (let offset = 0; offset < documents.length; offset += 50) {
    await store.write(withVectors(documents.slice(offset, offset + 50), dimension));
  }
  const chunks = documents.flatMap((document) => document.chunks);
  return { vectors: new Map(chunks.map((chunk) => [chunk.id, madeVector(embeddingText(chunk), dimension)])) };
}
