// Your own stage between two of ours: passages marked as drafts are never embedded, stored or found.
import { Pipeline, createTransport, embedQuestion, embedder, ingest, openStore, search, stage } from "citewell";
import type { Document, DocumentChunk, Question } from "citewell";
import { startLocalService } from "citewell/local";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const withoutDrafts = stage<DocumentChunk, DocumentChunk>("without-drafts", async function* (source, { report }) {
  for await (const item of source) {
    if (!item.text.includes("DRAFT")) yield item;
    // A document that comes to nothing has to be accounted for; in silence it would be an error.
    else report({ type: "skipped", uri: item.documentId, reason: "a draft" });
  }
});

const documents: Document[] = [
  { uri: "note:1", text: "The release is on Friday.", title: "Release" },
  { uri: "note:2", text: "DRAFT: the release may slip to Monday.", title: "Release, draft" },
];

const service = await startLocalService();
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const embed = embedder(transport, { model: "citewell/local-lexical-m3" });
const kb = await openStore(await mkdtemp(join(tmpdir(), "citewell-")), embed);

const report = await ingest(documents, { store: kb, embedder: embed, chunks: withoutDrafts });
console.log(report.documents, report.skipped);

const find = Pipeline.from<Question>()
  .pipe(embedQuestion(embed))
  .pipe(search(kb, { count: 5 }));
for await (const { hits } of find.stream([{ question: "When is the release?" }])) {
  for (const { uri, chunk: found } of hits) console.log(`${uri}: ${found.text}`);
}

await kb.close();
await transport.close();
await service.close();
