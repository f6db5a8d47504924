// A conversation that the store keeps: follow-up questions are understood, and another process can continue it.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase, readFolder } from "citewell";

const path = await mkdtemp(join(tmpdir(), "citewell-"));
const kb = await openKnowledgeBase({ path });
await kb.ingest(readFolder("test/fixtures/handbook"));

const talk = kb.conversation({ id: "first-day" });
for (const question of ["How many days of paid leave do employees get?", "And how far ahead is it requested?"]) {
  console.log(`> ${question}`);
  for await (const event of talk.ask(question)) {
    if (event.type === "text-delta") process.stdout.write(event.text);
    if (event.type === "error") throw event.error;
  }
  console.log();
}
await kb.close();

const reopened = await openKnowledgeBase({ path });
console.log(`kept: ${(await reopened.conversation({ id: "first-day" }).exchanges()).length} exchanges`);
await reopened.close();
