// Run by learned-margin.test.ts: ingests documents for a service that counts more tokens than we do, and is killed as soon
// as the last of them is stored.
import { openStore } from "../../../dist/store/open-store.js";
import { ingest } from "../../../dist/knowledge-base/ingest.js";

const embedder = {
  space: "words",
  maxInputTokens: 512,
  maxBatchTexts: 1,
  tokens: { name: "words", count: (text) => text.split(/\s+/u).length },
  tokenMargin: 1,
  async embed(texts) {
    embedder.tokenMargin = 1.25;
    return { vectors: texts.map(() => new Float32Array([1, 0])), tokens: 100 };
  },
};
const store = await openStore(process.argv[2], embedder);
let left = 3;
const report = ({ type }) => {
  if (type === "document" && --left === 0) process.kill(process.pid, "SIGKILL");
};
const documents = ["a", "b", "c"].map((uri) => ({ uri, text: `Mole ${uri} digs.` }));
await ingest(documents, { store, embedder, concurrency: 1, report });
