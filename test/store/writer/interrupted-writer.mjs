// Run by crash.test.ts, to be killed: carries out steps on the store at `path`, each depending on nothing but its number.
// With `until`, it stops after that many steps, and prints all that the store then holds.
import { createHash } from "node:crypto";
import { openStore } from "../../../dist/store/open-store.js";
import { vectorKey } from "../../../dist/text/chunking/chunk-identity.js";

const { path, acknowledged = 0, until = Infinity } = JSON.parse(process.argv[2]);
const documentsPerStep = 3;
const stepsPerOpening = 2;
const everything = { count: 1_000_000 };
const question = { text: "common", vector: vectorOf("a question") };
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const open = () =>
  openStore(path, { space: "made" }, { index: "hnsw", onWarning: (warning) => say({ broken: warning }) });

function vectorOf(text) {
  return Float32Array.from(createHash("sha512").update(text).digest().subarray(0, 24), (byte) => byte - 127.5);
}

function documentOf(uri, parts) {
  let start = 0;
  const chunks = parts.map((text, index) => {
    const chunk = { id: `${uri}-${parts[0]}-${index}`, documentId: uri, start, end: start + text.length, text };
    start = chunk.end;
    return { ...chunk, context: "", tokens: 1 };
  });
  return { document: { uri, text: parts.join("") }, chunks };
}

/** How many steps a store has behind it: each writes its number, together with the rest. */
async function stepsOf(store) {
  const progress = await store.document("progress");
  return progress ? Number(progress.text.split(" ")[1]) : 0;
}

/** Every fifth step deletes a document of long ago, in a transaction of its own. */
const deletions = (steps) => Math.floor(steps / 5);

async function take(store, step) {
  if (step % 5 === 4) await store.deleteDocuments([`d${Math.floor(step / 5) * documentsPerStep}`]);
  const documents = Array.from({ length: documentsPerStep }, (_, index) => {
    const number = step * documentsPerStep + index;
    return documentOf(`d${number}`, [`common left${number} `, `common right${number}`]);
  });
  documents.push(documentOf("progress", [`common ${step + 1} steps`]));
  const chunks = documents.flatMap((document) => document.chunks);
  const vectors = new Map(chunks.map((chunk) => [vectorKey(chunk), vectorOf(chunk.text)]));
  await store.write({ vectors, documents });
}

/** Whether the store is as after `steps` steps; the deletion that begins the next one may be done already. */
async function check(store, steps) {
  const { documents, chunks, vectors } = await store.counts();
  const expected = steps === 0 ? 0 : steps * documentsPerStep + 1 - deletions(steps);
  const early = expected - documents;
  const found = await Promise.all([store.dense, store.lexical].map((one) => one.retrieve(question, everything)));
  const numbers = {
    documents: early === 0 || (early === 1 && steps % 5 === 4),
    chunks: chunks === (documents === 0 ? 0 : documents * 2 - 1),
    vectors: vectors === steps * (documentsPerStep * 2 + 1),
    found: found.every((ids) => new Set(ids.map(({ chunkId }) => chunkId)).size === chunks),
    acknowledged: steps >= acknowledged,
  };
  if (Object.values(numbers).includes(false)) say({ broken: { steps, documents, chunks, vectors, numbers } });
}

async function contents(store) {
  const found = await Promise.all([store.dense, store.lexical].map((one) => one.retrieve(question, everything)));
  const hits = await store.hits(found[1]);
  const known = await store.knownVectors(hits.map(({ chunk }) => vectorKey(chunk)));
  return {
    counts: await store.counts(),
    documents: await store.documents(),
    hits,
    rankings: found.map((ranking) => ranking.map(({ chunkId, score }) => [chunkId, score])),
    vectors: [...known].map(([key, vector]) => [key, ...vector]),
  };
}

for (let steps = 0; steps < until;) {
  const store = await open();
  steps = await stepsOf(store);
  await check(store, steps);
  say({ opened: steps });
  for (let taken = 0; taken < stepsPerOpening && steps < until; taken++) {
    await take(store, steps++);
    say({ acknowledged: steps });
  }
  if (steps >= until) say({ contents: await contents(store) });
  await store.close();
}
