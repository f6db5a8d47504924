// Indexes a folder and answers one question from it: node build/examples/ask-a-folder.js ./docs "How do I …?"
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase, readFolder, collectAnswer } from "citewell";

const [folder = await sampleFolder(), question = "How many days of leave do employees get?"] = process.argv.slice(2);

const kb = await openKnowledgeBase({ path: await mkdtemp(join(tmpdir(), "citewell-")) });
try {
  await kb.ingest(readFolder(folder));
  const answer = await collectAnswer(kb.ask(question));
  console.log(answer.text);
  for (const { number, uri, line, quote } of answer.citations) console.log(`[${number}] ${uri}:${line} “${quote}”`);
} finally {
  await kb.close();
}

/** Without a folder of yours: one with a single page. */
async function sampleFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "docs-"));
  await writeFile(join(made, "leave.md"), "# Leave\n\nEmployees get 27 days of paid leave a year.\n");
  return made;
}
