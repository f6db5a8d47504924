// An answer as a value checked by a schema, and a model that may search again, both with their cost.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectAnswer, openKnowledgeBase, searchTool } from "citewell";
import { z } from "zod";

const kb = await openKnowledgeBase({ path: await mkdtemp(join(tmpdir(), "citewell-")) });
await kb.ingest([
  { uri: "keys.md", title: "Keys", text: "Keys expire after 90 days. An administrator can renew them once." },
  { uri: "badges.md", title: "Badges", text: "Badges are handed out at the front desk." },
]);

const schema = z.string().min(1).describe("The answer in the document's own words");
const { value, citations } = await collectAnswer(kb.ask("After how many days do keys expire?", { answer: { schema } }));
console.log(`value: ${value}`);
for (const { uri, quote, supported } of citations) console.log(`${uri}: “${quote}” ${supported ? "found there" : "?"}`);

// Passages that the model's own search finds are numbered, cited and checked like the first ones, within the same scope.
const answer = await collectAnswer(kb.ask("Where are badges handed out?", { answer: { tools: [searchTool(kb)] } }));
console.log(answer.text);
const { paid, requests } = answer.account;
console.log(`${requests.length} requests, ${paid.inputTokens + paid.outputTokens} tokens`);
await kb.close();
