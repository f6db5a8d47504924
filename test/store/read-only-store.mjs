// Opens the store in a folder as a user who may not write there: searches, reads and verifies it, and tries to write.
import process from "node:process";
import { openStore } from "../../dist/store/open-store.js";

const [path, question] = process.argv.slice(2);
process.setgid(65534);
process.setuid(65534);
const warnings = [];
const store = await openStore(path, { space: "made" }, { index: "hnsw", onWarning: (line) => warnings.push(line) });
const found = await Promise.all([
  store.lexical.retrieve({ text: question }, { count: 3, filter: { metadata: { at: { lt: 30 } } } }),
  store.dense.retrieve({ text: question, vector: Float32Array.from({ length: 16 }, (_, at) => at + 1) }, { count: 3 }),
]);
const hits = await store.hits(found[0]);
const { ok, problems } = await store.verify({ sample: 5 });
const refused = await store.deleteDocuments(["d1"]).then(
  () => undefined,
  ({ code, message }) => ({ code, message }),
);
await store.close();
process.stdout.write(
  JSON.stringify({
    found: found.map((some) => some.map(({ chunkId }) => chunkId)),
    texts: hits.map(({ chunk }) => chunk.text),
    ok,
    problems,
    refused,
    warnings,
  }),
);
