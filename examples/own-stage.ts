// A stage of your own between two of ours: passages marked as drafts are never embedded, stored or found.
import {
  Pipeline,
  chunk,
  collect,
  embedChunks,
  embedQuestion,
  embedder,
  createTransport,
  openStore,
  search,
} from "citewell";
import { skipKnown, stage, startLocalService, store, type Document, type DocumentChunk, type Question } from "citewell";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const withoutDrafts = stage<DocumentChunk, DocumentChunk>("without-drafts", async function* (source) {
  for await (const item of source) if (!item.text.includes("DRAFT")) yield item;
});

const documents: Document[] = [
  { uri: "note:1", text: "The release is on Friday.", title: "Release" },
  { uri: "note:2", text: "DRAFT: the release may slip to Monday.", title: "Release, draft" },
];

const service = await startLocalService();
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const embed = embedder(transport, { model: "citewell/local-lexical-m3" });
const kb = await openStore(await mkdtemp(join(tmpdir(), "citewell-")), embed);

const ingest = Pipeline.from<Document>()
  .pipe(chunk({ for: embed }))
  .pipe(withoutDrafts)
  .pipe(skipKnown(kb))
  .pipe(embedChunks(embed))
  .pipe(store(kb));
for (const { storedUri, outcome } of await collect(ingest.stream(documents))) console.log(`${storedUri} ${outcome}`);

const find = Pipeline.from<Question>()
  .pipe(embedQuestion(embed))
  .pipe(search(kb, { count: 5 }));
for await (const { hits } of find.stream([{ question: "When is the release?" }])) {
  for (const { uri, chunk: found } of hits) console.log(`${uri}: ${found.text}`);
}

await kb.close();
await transport.close();
await service.close();
