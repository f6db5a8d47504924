// A conversation that the store keeps: follow-up questions are understood, and another process can continue it.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase } from "citewell";

const path = await mkdtemp(join(tmpdir(), "citewell-"));
const kb = await openKnowledgeBase({ path });
await kb.ingest([
  {
    uri: "handbook:leave",
    title: "Leave",
    mediaType: "text/markdown",
    text: `# Leave

Employees get 27 days of paid leave a year. Unused days lapse at the end of March.

## Asking for leave

Ask your team lead at least two weeks ahead, through the leave calendar.`,
  },
]);

const talk = kb.conversation({ id: "first-day" });
for (const question of ["How many days of paid leave do employees get?", "And how far ahead is it requested?"]) {
  console.log(`> ${question}`);
  for await (const event of talk.ask(question)) {
    if (event.type === "text-delta") process.stdout.write(event.text);
    if (event.type === "error") throw event.error;
  }
  console.log();
}

// A reader who presses "stop": here as soon as the first words are there.
const stop = new AbortController();
for await (const event of talk.ask("How many days lapse?", { signal: stop.signal })) {
  if (event.type === "text-delta") stop.abort(new Error("The reader pressed stop"));
  if (event.type === "error") console.log(`stopped: ${event.error.message}`);
}
await kb.close();

const reopened = await openKnowledgeBase({ path });
console.log(`kept: ${(await reopened.conversation({ id: "first-day" }).exchanges()).length} exchanges`);
await reopened.close();
