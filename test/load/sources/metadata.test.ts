import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import type { Metadata } from "../../../src/core/types.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import type { DocumentSource } from "../../../src/load/sources/source.js";
import { watchSource } from "../../../src/load/sources/watch-source.js";
import { readSitemap } from "../../../src/load/web/read-sitemap.js";
import { readUrl } from "../../../src/load/web/read-url.js";
import { scriptedUpstream, type ScriptedReply } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const here = { allowPrivate: true, requestsPerSecond: 100, robots: false } as const;

const metadataIn = async (source: DocumentSource) =>
  (await collect(source.read(createRunContext()))).map(({ metadata }) => metadata);

async function emptyKnowledgeBase() {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  const tenantOf = async (uri: string) => (await kb.store.document(uri))?.metadata?.tenant;
  return { kb, tenantOf };
}

test("metadata of the caller is on every document and wins over front matter and rows, which keep their other fields", async () => {
  const folder = await temporaryFolder({
    "forged.md": "---\ntenant: b\nauthor: Ann\n---\nA mole digs.",
    "plain.txt": "A vole digs.",
    "rows.jsonl": '{"text": "A hare runs.", "tenant": "b", "year": 1}\n',
  });
  const metadata = { tenant: "a", tags: ["x"] };
  const ofRow = { tenant: "a", year: 1, tags: ["x"] };
  expect(await metadataIn(readFolder(folder, { metadata }))).toEqual([
    { tenant: "a", author: "Ann", tags: ["x"] },
    metadata,
    ofRow,
  ]);
  expect(await metadataIn(readFile(join(folder, "rows.jsonl"), { metadata }))).toEqual([ofRow]);
  expect(await metadataIn(readFile(join(folder, "plain.txt"), { metadata: {} }))).toEqual([undefined]);
});

test("values that JSON cannot hold are refused, and so is metadata that is no object", () => {
  const since = { since: new Date(0) } as unknown as Metadata;
  expect(() => readFolder(".", { metadata: since })).toThrow("metadata.since: must be a JSON value");
  expect(() => readFile("a.md", { metadata: { year: NaN } })).toThrow("metadata.year: must be a JSON value");
  expect(() => readUrl("https://a.example/", { metadata: ["a"] as unknown as Metadata })).toThrow(
    'metadata: must be an object such as { tenant: "a" }, or a function of the file',
  );
});

test("a run with other metadata updates files that have not changed, also back to none, and embeds nothing", async () => {
  const folder = await temporaryFolder({ "a.md": "A mole digs.", "b.md": "---\ntenant: own\n---\nA vole digs." });
  const { kb, tenantOf } = await emptyKnowledgeBase();
  const index = (metadata?: Metadata) => kb.ingest(readFolder(folder, metadata && { metadata }));
  const tenants = () => Promise.all(["a.md", "b.md"].map((name) => tenantOf(pathToFileURL(join(folder, name)).href)));
  const allOf = (outcome: string) => ({ added: 0, updated: 0, unchanged: 0, deleted: 0, failed: 0, [outcome]: 2 });

  expect((await index({ tenant: "a" })).documents).toEqual(allOf("added"));
  expect((await index({ tenant: "a" })).documents).toEqual(allOf("unchanged"));
  expect((await kb.plan(readFolder(folder, { metadata: { tenant: "b" } }))).outcomes).toEqual(allOf("updated"));
  const moved = await index({ tenant: "b" });
  expect(moved.documents).toEqual(allOf("updated"));
  expect(moved.chunks).toMatchObject({ embedded: 0, reused: 2 });
  expect(await tenants()).toEqual(["b", "b"]);
  expect((await index({ tenant: "b" })).documents).toEqual(allOf("unchanged"));
  expect((await index()).documents).toEqual(allOf("updated"));
  expect(await tenants()).toEqual([undefined, "own"]);
  expect((await index()).documents).toEqual(allOf("unchanged"));
});

test("a page that its server reports as unchanged follows other metadata too, also back to none", async () => {
  const statuses: number[] = [];
  const { baseUrl } = await scriptedUpstream(({ path, headers }): ScriptedReply => {
    if (path === "/sitemap.xml") return { text: `<urlset><url><loc>${baseUrl}/page</loc></url></urlset>` };
    const isKnown = headers["if-none-match"] === '"1"';
    statuses.push(isKnown ? 304 : 200);
    if (isKnown) return { status: 304, headers: { etag: '"1"' } };
    return { text: "<title>Moles</title><p>A mole digs.", headers: { "content-type": "text/html", etag: '"1"' } };
  });
  const page = `${baseUrl}/page`;
  const { kb, tenantOf } = await emptyKnowledgeBase();
  const index = async (source: DocumentSource) => {
    const { documents } = await kb.ingest(source);
    return [Object.entries(documents).find(([, count]) => count > 0)?.[0], await tenantOf(page), statuses.splice(0)];
  };
  const [a, b] = [{ tenant: "a" }, { tenant: "b" }];
  expect(await index(readUrl(page, { ...here, metadata: a }))).toEqual(["added", "a", [200]]);
  expect(await index(readUrl(page, { ...here, metadata: a }))).toEqual(["unchanged", "a", [304]]);
  expect(await index(readUrl(page, { ...here, metadata: b }))).toEqual(["updated", "b", [200]]);
  expect(await index(readUrl(page, here))).toEqual(["updated", undefined, [200]]);
  expect(await index(readUrl(page, here))).toEqual(["unchanged", undefined, [304]]);
  const sitemap = readSitemap(`${baseUrl}/sitemap.xml`, { ...here, metadata: a });
  expect(await index(sitemap)).toEqual(["updated", "a", [200]]);
});

test("files that change while they are watched keep the metadata", async () => {
  const folder = await temporaryFolder({ "a.md": "A mole digs." });
  const stop = new AbortController();
  const seen: unknown[] = [];
  const source = readFolder(folder, { metadata: { tenant: "a" } });
  for await (const part of watchSource(source, { signal: stop.signal, quietMs: 10 })) {
    seen.push(await metadataIn(part));
    if (part === source) await writeFile(join(folder, "b.md"), "---\ntenant: b\n---\nA vole digs.");
    else stop.abort();
  }
  expect(seen).toEqual([[{ tenant: "a" }], [{ tenant: "a" }]]);
});
