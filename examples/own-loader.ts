// A format of your own: calendars, an event a paragraph, with the line of each for citations.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LoadError, openKnowledgeBase, readFolder, type Anchor } from "citewell";
import type { Loader } from "citewell/load";

const calendar: Loader = ({ bytes, uri }) => {
  let [text, anchors]: [string, Anchor[]] = ["", []];
  for (const [index, row] of new TextDecoder().decode(bytes).split(/\r?\n/).entries()) {
    const [, name = "", value = ""] = /^(SUMMARY|DTSTART|LOCATION)[^:]*:(.*)$/.exec(row) ?? [];
    if (name === "SUMMARY") anchors.push({ start: text.length, line: index + 1 });
    text += name === "" ? "" : `${value}${name === "LOCATION" ? "\n\n" : "\n"}`;
  }
  if (anchors.length === 0) throw new LoadError("empty", uri, `${uri} has no events`);
  return { text, mediaType: "text/plain", anchors, metadata: { events: anchors.length } };
};

const folder = await mkdtemp(join(tmpdir(), "citewell-"));
await writeFile(
  join(folder, "town.ics"),
  "BEGIN:VEVENT\nSUMMARY:The bridge opens\nDTSTART:20270501\nLOCATION:Harbour\n",
);
await writeFile(join(folder, "empty.ics"), "BEGIN:VCALENDAR\nEND:VCALENDAR\n");
const kb = await openKnowledgeBase({ path: join(folder, "store") });
const { documents, failures } = await kb.ingest(readFolder(folder, { loaders: { ".ics": calendar } }));
console.log(`added: ${documents.added}, failed: ${failures.map(({ error }) => (error as LoadError).code).join()}`);
const { hits } = await kb.search("When does the bridge open?", { count: 1 });
console.log(`line ${hits[0]?.line}: ${hits[0]?.chunk.text}`);
await kb.close();
