// Indexes the documentation that comes with the undici package, asks three questions, and shows the sources of each
// answer. It works offline: with no transport configured, everything runs on the local service.
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { openKnowledgeBase, readFolder } from "citewell";

const docs = join(dirname(createRequire(import.meta.url).resolve("undici/package.json")), "docs");
const questions = [
  "What is the default keepAliveTimeout of a Client?",
  "How do I use a proxy that requires basic authentication?",
  "Which status codes does the RetryHandler retry by default?",
];

const kb = await openKnowledgeBase({ path: "build/quickstart-store", onWarning: console.warn });

console.log(`Indexing ${relative(process.cwd(), docs)}`);
const report = await kb.ingest(readFolder(docs), {
  onProgress: ({ documentsDone, documentsFound, chunksEmbedded }) => {
    if (process.stderr.isTTY) {
      process.stderr.write(
        `\r${documentsDone} of ${documentsFound ?? "?"} documents, ${chunksEmbedded} chunks embedded`,
      );
    }
  },
});
if (process.stderr.isTTY) process.stderr.write("\r\u001B[2K");
const { added, updated, unchanged } = report.documents;
console.log(
  `${added + updated + unchanged} documents, ${report.chunks.total} chunks ` +
    `(${report.chunks.embedded} embedded, ${report.chunks.reused} known from before) in ${report.seconds.toFixed(1)} s\n`,
);

for (const question of questions) {
  console.log(`? ${question}\n`);
  for await (const event of kb.ask(question)) {
    if (event.type === "text-delta") process.stdout.write(event.text);
    if (event.type === "error") throw event.error;
    if (event.type === "finish") {
      console.log("\n");
      for (const { number, uri, line, quote, supported } of event.answer.citations) {
        const place = `${relative(process.cwd(), fileURLToPath(uri))}:${line}`;
        console.log(
          `  [${number}] ${place}${supported ? "" : " (not found there)"}\n      “${withoutMarkdown(quote)}”`,
        );
      }
      console.log();
    }
  }
}
await kb.close();

console.log(`Now your own folder:

  npx citewell index ./my-docs
  npx citewell ask "your question"
  npx citewell --help`);

/** A quotation as it is read: without the signs of emphasis, code, headings, lists and links. */
function withoutMarkdown(text: string): string {
  const read = text
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, "$1")
    .replace(/^[ \t]*(?:[-*+]|#+|```\w*)(?=\s|$)|[*`]/gm, "");
  return read.replace(/\s+/g, " ").trim();
}
