// Your own loader: subtitles, whose times become pages that a citation names.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LoadError, openKnowledgeBase, readFolder } from "citewell";
import type { Loader } from "citewell/load";

const subtitles: Loader = ({ bytes, uri }) => {
  const cues = new TextDecoder()
    .decode(bytes)
    .trim()
    .split(/\r?\n\r?\n/);
  const spoken = cues.map((cue) => cue.split(/\r?\n/).slice(2).join(" "));
  if (spoken.join("") === "") throw new LoadError("empty", uri, `${uri} has no subtitles`);
  return { text: spoken.join("\n"), mediaType: "text/plain", metadata: { cues: cues.length } };
};

const folder = await mkdtemp(join(tmpdir(), "citewell-"));
await writeFile(
  join(folder, "talk.srt"),
  "1\n00:00:01,000 --> 00:00:03,000\nThe bridge opens in May.\n\n2\n00:00:04,000 --> 00:00:06,000\nIt took six years.\n",
);
await writeFile(join(folder, "silent.srt"), "1\n00:00:01,000 --> 00:00:03,000\n");

const kb = await openKnowledgeBase({ path: join(folder, "store") });
const { documents, failures } = await kb.ingest(
  readFolder(folder, { include: ["*.srt"], loaders: { ".srt": subtitles } }),
);
console.log(`added: ${documents.added}`);
for (const { error } of failures) console.log(`failed: ${(error as LoadError).code}`);
const { hits } = await kb.search("When does the bridge open?", { limit: 1 });
console.log(hits[0]?.chunk.text);
await kb.close();
