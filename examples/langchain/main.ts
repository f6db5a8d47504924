// LangChain.js and a knowledge base: its loaders fill it, its chains ask it, and its models do the work in it.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BaseDocumentLoader } from "@langchain/core/document_loaders/base";
import { Document } from "@langchain/core/documents";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { chatModel, collectAnswer, createTransport, embedder, openKnowledgeBase } from "citewell";
import { fromLangChain, readLangChain, toLangChain } from "citewell/langchain";
import { startLocalService } from "citewell/local";

class Notes extends BaseDocumentLoader {
  async load() {
    const keys = {
      pageContent: "API keys expire after 90 days. Ada renews them.",
      metadata: { source: "notes/keys.txt" },
    };
    const doors = { pageContent: "The doors open at nine.", metadata: { source: "notes/doors.txt" } };
    return [keys, doors].map((note) => new Document(note));
  }
}

const service = await startLocalService(); // stands in for yours
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const embed = embedder(transport, { model: "citewell/local-lexical" });
const chat = chatModel(transport, { model: "citewell/local-extractive" });
const path = () => mkdtemp(join(tmpdir(), "citewell-"));

// 1. A loader fills the knowledge base, and a chain asks it.
const kb = await openKnowledgeBase({ path: await path(), embedder: embed, chatModel: chat });
const { documents } = await kb.ingest(readLangChain(new Notes()));
console.log(`${documents.added} documents added`);
const {
  retriever,
  chatModel: model,
  embeddings,
  vectorStore,
} = await toLangChain({
  knowledgeBase: kb,
  search: { count: 1 },
  embedder: embed,
  chatModel: chat,
});
const question = "When do API keys expire?";
const chain = retriever!
  .pipe((found) => ({ question, context: found.map(({ pageContent }) => pageContent).join("\n") }))
  .pipe(ChatPromptTemplate.fromTemplate("Context: {context}\n\nQuestion: {question}"))
  .pipe(model!)
  .pipe(new StringOutputParser());
console.log(`chain: ${await chain.invoke(question)}`);

// 2. The store behind it is a vector store.
await vectorStore!.addDocuments([
  new Document({ pageContent: "The roof was mended in May.", metadata: { year: 2026 }, id: "roof" }),
]);
const [[found, score] = []] = await vectorStore!.similaritySearchWithScore("roof mended", 1);
console.log(`store: ${found?.pageContent} (${score! > 0.5 ? "near" : "far"})`);

// 3. Models of LangChain, any integration's, do the work of a knowledge base; here they are the two from above.
const theirs = await openKnowledgeBase({
  path: await path(),
  ...fromLangChain({ embeddings: embeddings!, chatModel: model!, space: "citewell/local-lexical" }),
});
await theirs.ingest(readLangChain(new Notes()));
const answer = await collectAnswer(theirs.ask(question));
console.log(`asked: ${answer.text} ${answer.citations[0]!.supported ? "(its quotation stands in the document)" : ""}`);
for (const each of [theirs, kb, transport, service]) await each.close();
