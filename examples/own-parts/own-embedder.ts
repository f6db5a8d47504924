// Your own embedder: any object with these fields. This one hashes letter triples; yours would call a model.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectAnswer, defaultTokens, openKnowledgeBase } from "citewell";
import type { Document, Embedder } from "citewell";

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

// Whatever is not given comes from the local service: here the reranker and the chat model.
const kb = await openKnowledgeBase({ path: await mkdtemp(join(tmpdir(), "citewell-")), embedder: embed });
const { documents: counts } = await kb.ingest(documents);
console.log(`${counts.added} documents in the space ${kb.store.space}`);

const question = "How long do apples keep?";
const { hits } = await kb.search(question, { mode: "dense", count: 1 });
console.log(`${question} ${hits[0]?.uri}`);
const answer = await collectAnswer(kb.ask(question));
console.log(answer.text);
await kb.close();
