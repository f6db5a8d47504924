// Pictures in documents, described once by a model that sees. Here it is the local stand-in, which tells format and size.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chatModel, createTransport, openKnowledgeBase, pictureReader, readFolder } from "citewell";
import { startLocalService } from "citewell/local";

/** A picture of stripes, as BMP: a header of 54 bytes, then blue, green and red of each pixel. */
function stripes(side: number): Uint8Array {
  const file = Buffer.alloc(54 + side * side * 3);
  file.write("BM");
  for (const [offset, value] of [
    [2, file.length],
    [10, 54],
    [14, 40],
    [18, side],
    [22, side],
    [34, side * side * 3],
  ] as const)
    file.writeUInt32LE(value, offset);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  for (let offset = 54; offset < file.length; offset++) file[offset] = Math.floor(offset / 24) % 2 ? 230 : 40;
  return file;
}

const folder = await mkdtemp(join(tmpdir(), "citewell-"));
const docs = await mkdtemp(join(tmpdir(), "citewell-docs-"));
await writeFile(join(docs, "flag.bmp"), stripes(96));
await writeFile(join(docs, "flags.md"), "# Flags\n\n![The flag of the harbour](flag.bmp)\n");

const service = await startLocalService();
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const reader = pictureReader(chatModel(transport, { model: "citewell/local-look" }));
const source = readFolder(docs, { include: ["*.md"], pictures: { reader, folder: join(folder, "pictures") } });

const kb = await openKnowledgeBase({ path: join(folder, "store") });
const { pictures: planned } = await kb.plan(source);
console.log(`planned: ${planned?.described} picture, about ${planned?.requestTokens} tokens`);
const first = await kb.ingest(source, { maxTokens: 10_000 });
console.log(`described: ${first.pictures?.described}`);
const again = await kb.ingest(source, { reread: true });
console.log(`again: ${again.pictures?.described} described, ${again.pictures?.reused} kept`);
const { hits } = await kb.search("a BMP file of 96 by 96 pixels", { count: 3 });
const found = hits.find(({ chunk }) => chunk.text.includes("96 by 96"));
const origin = found?.picture ?? found?.anchors?.find(({ picture }) => picture)?.picture;
console.log(`found: ${origin ? `a picture, described by ${origin.describedBy}` : "nothing"}`);

await kb.close();
await transport.close();
await service.close();
