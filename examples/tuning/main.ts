// Settings of search tried on questions about your own documents, and the step named that lost a passage.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectAnswer, openKnowledgeBase } from "citewell";
import { explainLosses, makeQuestions, tune } from "citewell/evaluate";

const folder = await mkdtemp(join(tmpdir(), "citewell-"));
const things = ["lamp", "bridge", "kettle", "anchor", "ladder", "violin", "hammer", "basket", "mirror", "pillow"];
const keepers = ["Ada", "Bela", "Cleo", "Dora", "Emil", "Finn", "Gita", "Hugo", "Ines", "Jona"];
const documents = things.flatMap((thing, number) =>
  ["museum", "harbour", "school", "library", "station", "hospital"].map((place) => ({
    uri: `${thing}-${place}.md`,
    title: `The ${thing} of the ${place}`,
    text:
      `${keepers[number]} keeps the ${thing} of the ${place} on shelf ${number} behind the green door. ` +
      `Visitors of the ${place} who want to borrow this ${thing} write their names into the blue book.`,
  })),
);

// Settings that were spoiled: chunks too small, vectors alone, a single passage, nothing reranked.
const present = { mode: "dense", topN: 1, rerank: false } as const;
const kb = await openKnowledgeBase({ path: join(folder, "store"), retrieval: present, chunk: { maxTokens: 24 } });
await kb.ingest(documents);

// Without a chat model, questions are made from headings and sentences: `weaker` says so.
const { questions, weaker } = await makeQuestions(kb, { count: 100, seed: 7 });
console.log(`${questions.length} questions${weaker ? ", made without a model" : ""}`);

const { best, clearlyBetter, heldBack, tried } = await tune(kb, {
  questions,
  present,
  chunkSizes: [384],
  maxMinutes: 5,
});
console.log(`${tried.length} settings tried`, heldBack);
console.log(clearlyBetter ? `better: ${JSON.stringify(best.retrieval)}` : "nothing is clearly better");

// Where passages were lost, by the traces of the answers.
const answers = [];
for (const question of questions.slice(0, 20))
  answers.push({ question, answer: await collectAnswer(kb.ask(question.text)) });
const { losses, counts } = await explainLosses({ store: kb.store, answers });
console.log(
  `${losses.length} of ${answers.length} lost:`,
  Object.entries(counts).filter(([, count]) => count > 0),
);
await kb.close();
