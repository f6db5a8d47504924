import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import type { Metadata } from "../../../src/core/types.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { readPath } from "../../../src/load/read-path.js";
import type { FileForMetadata, MetadataOfFile } from "../../../src/load/sources/operator-metadata.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { readUrl } from "../../../src/load/web/read-url.js";
import { scriptedUpstream, type ScriptedReply } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const uriOf = (...parts: string[]) => pathToFileURL(join(...parts)).href;
const teamOf = ({ path }: FileForMetadata) => ({ team: path.split("/")[0]! });

async function emptyKnowledgeBase() {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  return kb;
}

test("metadata may be a function of the file, whose address, path below the folder, size and time it is told", async () => {
  const folder = await temporaryFolder({
    "north/deep/a.md": "---\nteam: forged\nauthor: Ann\n---\nA mole digs.",
    "south/rows.jsonl": '{"text": "A hare runs.", "team": "forged", "year": 1}\n',
  });
  const asked: FileForMetadata[] = [];
  const metadata = async (file: FileForMetadata) => {
    asked.push(file);
    await sleep(1);
    return teamOf(file);
  };
  const documents = await collect(readFolder(folder, { metadata }).read(createRunContext()));
  expect(documents.map((document) => document.metadata)).toEqual([
    { team: "north", author: "Ann" },
    { team: "south", year: 1 },
  ]);
  const { size, mtime } = await stat(join(folder, "north/deep/a.md"));
  const uri = uriOf(folder, "north/deep/a.md");
  expect(asked).toContainEqual({ uri, path: "north/deep/a.md", sizeBytes: size, modified: mtime });
  expect(asked).toHaveLength(2);
  for (const read of [readFile, readPath]) {
    const [alone] = await collect(read(join(folder, "north/deep/a.md"), { metadata: teamOf }).read(createRunContext()));
    expect(alone?.metadata).toMatchObject({ team: "a.md" });
  }
});

test("a changed result stores unchanged files anew, those alone that it concerns, and embeds nothing", async () => {
  const folder = await temporaryFolder({ "a.md": "A mole digs.", "b.md": "A vole hides." });
  const kb = await emptyKnowledgeBase();
  const index = async (teams: Readonly<Record<string, string>>) => {
    const metadata: MetadataOfFile = ({ path }) => ({ team: teams[path] });
    const { documents, chunks } = await kb.ingest(readFolder(folder, { metadata }));
    const { added, updated, unchanged } = documents;
    const stored = await Promise.all(["a.md", "b.md"].map((name) => kb.store.document(uriOf(folder, name))));
    return { added, updated, unchanged, embedded: chunks.embedded, teams: stored.map((each) => each?.metadata?.team) };
  };
  const none = { added: 0, updated: 0, unchanged: 0, embedded: 0 };
  expect(await index({ "a.md": "n" })).toEqual({ ...none, added: 2, embedded: 2, teams: ["n", undefined] });
  expect(await index({ "a.md": "n" })).toEqual({ ...none, unchanged: 2, teams: ["n", undefined] });
  const second = { ...none, updated: 1, unchanged: 1 };
  expect(await index({ "a.md": "n", "b.md": "s" })).toEqual({ ...second, teams: ["n", "s"] });
  expect(await index({ "b.md": "s" })).toEqual({ ...second, teams: [undefined, "s"] });
  expect(await index({ "b.md": "s" })).toEqual({ ...none, unchanged: 2, teams: [undefined, "s"] });
});

test.each<[string, () => unknown, string]>([
  [
    "throws",
    () => {
      throw new Error("no such team");
    },
    "no such team",
  ],
  ["rejects", () => Promise.reject(new Error("no such team")), "no such team"],
  ["returns nothing", () => undefined, "metadata must be an object with names and JSON values"],
  ["returns text", () => "north", "metadata must be an object with names and JSON values"],
  ["returns what JSON cannot hold", () => ({ team: { size: 1n } }), "metadata.team.size must be a JSON value"],
])("a function that %s fails that file alone, by name, until it returns metadata", async (_, fail, reason) => {
  const folder = await temporaryFolder({ "a.md": "A mole digs.", "b.csv": "text\nA vole hides.\n", "c.md": "A hare." });
  const kb = await emptyKnowledgeBase();
  let isBroken = true;
  const metadata = ({ path }: FileForMetadata) => (isBroken && path !== "c.md" ? fail() : { team: "n" }) as Metadata;
  const { documents, failures } = await kb.ingest(readFolder(folder, { metadata }));
  expect(documents).toMatchObject({ added: 1, failed: 2 });
  expect(failures.map(({ uri }) => uri).toSorted()).toEqual([uriOf(folder, "a.md"), uriOf(folder, "b.csv")]);
  for (const { error, uri } of failures) {
    expect(error).toMatchObject({ code: "malformed", option: "metadata" });
    expect(error.message).toContain(`${uri} has no metadata, since the function given as metadata failed: ${reason}`);
  }
  isBroken = false;
  const repaired = await kb.ingest(readFolder(folder, { metadata }));
  expect(repaired.documents).toMatchObject({ added: 2, unchanged: 1, failed: 0 });
  isBroken = true;
  const again = await kb.ingest(readFolder(folder, { metadata }));
  expect(again.documents).toMatchObject({ unchanged: 1, failed: 2, deleted: 0 });
  expect((await kb.store.counts()).documents).toBe(3);
});

test("pages of the web take a function too: it is told their path, and a changed result fetches them again", async () => {
  const { baseUrl } = await scriptedUpstream(({ headers }): ScriptedReply => {
    if (headers["if-none-match"] === '"1"') return { status: 304, headers: { etag: '"1"' } };
    return { text: "<title>Moles</title><p>A mole digs.", headers: { "content-type": "text/html", etag: '"1"' } };
  });
  const kb = await emptyKnowledgeBase();
  const pages = [`${baseUrl}/north/a`, `${baseUrl}/south/b`];
  const index = async (metadata: MetadataOfFile) => {
    const source = readUrl(pages, { allowPrivate: true, requestsPerSecond: 100, robots: false, metadata });
    const { documents } = await kb.ingest(source);
    return [documents, await Promise.all(pages.map(async (uri) => (await kb.store.document(uri))?.metadata?.team))];
  };
  const outcomes = (some: object) => ({ added: 0, updated: 0, unchanged: 0, deleted: 0, failed: 0, ...some });
  expect(await index(teamOf)).toEqual([outcomes({ added: 2 }), ["north", "south"]]);
  expect(await index(teamOf)).toEqual([outcomes({ unchanged: 2 }), ["north", "south"]]);
  const moved: MetadataOfFile = ({ path }) => (path === "south/b" ? { team: "east" } : teamOf({ uri: "", path }));
  expect(await index(moved)).toEqual([outcomes({ updated: 1, unchanged: 1 }), ["north", "east"]]);
  const failing: MetadataOfFile = (file) => {
    if (file.path === "south/b") throw new Error("no such team");
    return teamOf(file);
  };
  expect(await index(failing)).toEqual([outcomes({ unchanged: 1, failed: 1 }), ["north", "east"]]);
});
