// A video made of an answer: the checked answer becomes the prompt, any process can wait for the task, and the file is fetched.
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectAnswer, createTransport, openKnowledgeBase } from "citewell";
import { startLocalService } from "citewell/local";
import { videoContent } from "citewell/video";

const service = await startLocalService({ timeScale: 600 }); // stands in for yours; its minutes last a tenth of a second
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const folder = await mkdtemp(join(tmpdir(), "citewell-"));
const kb = await openKnowledgeBase({ path: join(folder, "store") });
await kb.ingest([{ uri: "tour", text: "The tour begins at the lighthouse and ends at the old harbour at sunset." }]);

const answer = await collectAnswer(kb.ask("Where does the tour begin?"));
// Claims that no document supports must not become a film.
if (!answer.answered || answer.citations.some(({ supported }) => !supported)) throw new Error("No checked answer");
const script = answer.citations[0]!.quote;
const created = await transport.createVideoTask({
  model: "vendor/vendor-video-2.0",
  content: [videoContent.text(`A calm travel film. ${script}`)],
  resolution: "480p",
  duration: 5,
});
console.log(`ordered: ${script}`);

const task = await transport.waitForVideo(created.id, { poll: { firstMs: 50 } });
const file = join(folder, "tour.mp4");
await transport.downloadVideo(task, file);
console.log(
  `${task.status}: ${(await stat(file)).size > 0 ? "a film" : "an empty file"} with ${answer.citations.length} source`,
);
for (const each of [kb, transport, service]) await each.close();
