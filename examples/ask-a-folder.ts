// Indexes a folder and answers one question from it: node build/examples/ask-a-folder.js ./docs "How do I …?"
import { openKnowledgeBase, readFolder, collectAnswer } from "citewell";

const [folder = "test/fixtures/handbook", question = "How many days of leave do employees get?"] =
  process.argv.slice(2);

const kb = await openKnowledgeBase({ path: "build/ask-a-folder-store" });
try {
  await kb.ingest(readFolder(folder));
  const answer = await collectAnswer(kb.ask(question));
  console.log(answer.text);
  for (const { number, uri, line, quote } of answer.citations) console.log(`[${number}] ${uri}:${line} “${quote}”`);
} finally {
  await kb.close();
}
