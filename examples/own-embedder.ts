// Your own embedder: any object with these fields. This one hashes letter triples; yours would call a model.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Pipeline,
  chunk,
  collect,
  defaultTokens,
  embedChunks,
  embedQuestion,
  openStore,
  search,
  store,
} from "citewell";
import type { Document, Embedder, Question } from "citewell";

const dimension = 256;

function letterTriples(text: string): Float32Array {
  const vector = new Float32Array(dimension);
  const letters = ` ${text.toLowerCase().replace(/\s+/g, " ")} `;
  for (let at = 0; at + 3 <= letters.length; at++) {
    let hash = 0;
    for (const letter of letters.slice(at, at + 3)) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0;
    vector[hash % dimension]! += 1;
  }
  return vector;
}

const embed: Embedder<"letter-triples"> = {
  space: "letter-triples",
  dimension,
  maxInputTokens: 512,
  maxBatchTexts: 64,
  tokens: defaultTokens,
  embed: async (texts) => ({ vectors: texts.map(letterTriples), tokens: 0 }),
};

const documents: Document[] = [
  { uri: "fruit:apple", text: "Apples keep for months in a cool cellar." },
  { uri: "fruit:plum", text: "Plums are best eaten within a week." },
];

const kb = await openStore(await mkdtemp(join(tmpdir(), "citewell-")), embed);
await collect(
  Pipeline.from<Document>()
    .pipe(chunk({ for: embed }))
    .pipe(embedChunks(embed))
    .pipe(store(kb))
    .stream(documents),
);

const find = Pipeline.from<Question>()
  .pipe(embedQuestion(embed))
  .pipe(search(kb, { mode: "dense", count: 1 }));
for await (const { question, hits } of find.stream([{ question: "How long do apples keep?" }])) {
  console.log(`${question} ${hits[0]?.uri}`);
}
await kb.close();
