// Uses each part of the library that meets what differs between runtimes, and prints what came of it.
import { join } from "node:path";
import { collectAnswer, createTransport, embedder, openKnowledgeBase, openStore, readFolder } from "citewell";
import { startLocalService } from "citewell/local";
import { createServer } from "citewell/server";

const [documents, folder] = process.argv.slice(2);
const service = await startLocalService();
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const models = { embedding: "citewell/local-lexical", chat: "citewell/local-extractive" };
// So few chunks have a graph only when asked for.
const store = await openStore(join(folder, "store"), embedder(transport, { model: models.embedding }), {
  flatBelow: 10,
});
const kb = await openKnowledgeBase({ store, transport, models });

console.log("read:", (await kb.ingest(readFolder(documents))).documents.added);
const notes = Array.from({ length: 100 }, (_, at) => ({ uri: `note:${at}`, text: `Note ${at} is about ${at * 7}.` }));
console.log("written:", (await kb.ingest(notes)).documents.added);
const { ok, recall } = await kb.verify();
console.log("whole:", ok, "recall of the graph:", recall);
console.log("answer:", (await collectAnswer(kb.ask("How many days of leave do employees get?"))).text);
const server = await createServer(kb, { port: 0 });
console.log("server:", (await fetch(new URL("/api/status", server.url))).status);
for (const each of [server, kb, store, transport, service]) await each.close();
console.log("closed");
