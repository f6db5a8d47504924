// A reranker is any object with these fields. This one counts the words that a question and a passage share, where yours
// would call a model.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase } from "citewell";
import type { Reranker } from "citewell";

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/\p{L}+/gu));

const sharedWords: Reranker = {
  model: "shared-words",
  rerank: async (query, documents, { topN = documents.length } = {}) => {
    const wanted = wordsOf(query);
    const scored = documents.map((text, index) => ({
      index,
      score: [...wordsOf(text)].filter((word) => wanted.has(word)).length,
    }));
    return { results: scored.toSorted((a, b) => b.score - a.score || a.index - b.index).slice(0, topN) };
  },
};

const kb = await openKnowledgeBase({ path: await mkdtemp(join(tmpdir(), "citewell-")), reranker: sharedWords });
await kb.ingest([
  { uri: "fruit:apple", text: "Apples keep for months in a cool cellar." },
  { uri: "fruit:plum", text: "Plums are best eaten within a week." },
]);
const { hits } = await kb.search("How long do apples keep in a cellar?", { topN: 1 });
console.log(`${hits[0]?.uri} by ${hits[0]?.score} shared words`);
await kb.close();
