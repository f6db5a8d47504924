import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { seededRandom } from "../../src/core/random.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { openStore } from "../../src/store/open-store.js";
import { storedSpace } from "../../src/store/stored-space.js";
import { citewell, citewellJson } from "../support/citewell-here.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface StatsJson {
  readonly documents: number;
  readonly chunks: number;
  readonly vectors: number;
  readonly dimension: number;
  readonly space: string;
  readonly chunk: object;
  readonly quantization?: "none" | "int8" | "int4";
  readonly latent?: { readonly shareOfWords?: number; readonly weight?: number };
  readonly diskBytes: Record<"database" | "indexes" | "conversations" | "otherGenerations" | "total", number>;
}

async function indexed(...flags: string[]): Promise<string> {
  const cwd = await temporaryFolder({
    "docs/keys.md": "# Keys of the house\n\nKeys expire.\n\n# Locks\n\nLocks rust.\n",
    "docs/a long name/of a file that nobody would cut, because people copy it, even where it is wide.md":
      "Doors open.\n",
    "notes.md": "# A \u001B[2Jnote\n\nMoles dig.\n",
  });
  await citewellJson(["index", "docs", "notes.md", ...flags], { cwd });
  return cwd;
}

test("list shows each document with its chunks, title and source, and long paths whole", async () => {
  const cwd = await indexed();
  const long = "docs/a long name/of a file that nobody would cut, because people copy it, even where it is wide.md";
  const { exitCode, stdout } = await citewell(["list"], { cwd });
  expect(exitCode).toBe(0);
  const rows = stdout.trimEnd().split("\n");
  expect(rows.map((row) => row.trim().split(/ {2,}/))).toEqual([
    ["Chunks", "Document", "Source", "Title"],
    ["1", long, "docs", expect.any(String)],
    [expect.stringMatching(/^\d$/), "docs/keys.md", "docs", "Keys of the house"],
    ["1", "notes.md", "notes.md", "A \uFFFD[2Jnote"],
  ]);
  const columns = ["Document", "docs/a", "docs/keys", "notes.md"].map((cell, row) => rows[row]!.indexOf(cell));
  expect(new Set(columns)).toEqual(new Set(["Chunks  ".length]));
});

test("list --json is an array, --source keeps what was read from there, and nothing found is said", async () => {
  const cwd = await indexed();
  const uri = (path: string) => pathToFileURL(join(cwd, path)).href;
  const all = await citewellJson<{ uri: string }[]>(["list"], { cwd });
  expect(all).toHaveLength(3);
  expect(all.at(-1)).toEqual({
    uri: uri("notes.md"),
    title: expect.stringContaining("note"),
    chunks: 1,
    source: uri("notes.md"),
  });
  await rm(join(cwd, "docs"), { recursive: true });
  expect(await citewellJson(["list", "--source", "./docs/"], { cwd })).toEqual(all.slice(0, 2));
  expect(await citewellJson(["list", "--source", "elsewhere"], { cwd })).toEqual([]);
  const none = await citewell(["list", "--source", "elsewhere"], { cwd });
  expect(none).toMatchObject({ exitCode: 0, stdout: "No document in the store came from elsewhere.\n" });
});

test("stats counts what the store holds, and its bytes on disk are those of the files", async () => {
  const cwd = await indexed("--chunk-tokens", "64");
  await citewell(["chat", "--conversation", "doors"], { cwd, input: "When do keys expire?\n" });
  await writeFile(join(cwd, ".citewell/a-file-of-mine.txt"), "x".repeat(9999));
  const stats = await citewellJson<StatsJson>(["stats"], { cwd });
  const listed = await citewellJson<{ chunks: number }[]>(["list"], { cwd });
  const chunks = listed.reduce((sum, document) => sum + document.chunks, 0);
  const sizes = { store: 0, lexical: 0, graph: 0, conversations: 0 };
  for (const name of await readdir(join(cwd, ".citewell"))) {
    const part = /^(store|lexical|graph|conversations)/.exec(name)?.[1] as keyof typeof sizes | undefined;
    if (part) sizes[part] += (await stat(join(cwd, ".citewell", name))).size;
  }
  const { store: database, lexical, graph, conversations } = sizes;
  expect(Math.min(database, lexical + graph, conversations)).toBeGreaterThan(0);
  expect(stats).toEqual({
    documents: 3,
    chunks,
    vectors: chunks,
    dimension: expect.any(Number),
    space: expect.stringContaining("citewell/local-lexical-m3"),
    chunk: { maxTokens: 64 },
    diskBytes: {
      database,
      indexes: lexical + graph,
      conversations,
      otherGenerations: 0,
      total: database + lexical + graph + conversations,
    },
  });
  const { stdout } = await citewell(["stats"], { cwd });
  expect(stdout).toMatch(
    /^Documents {3}3\nChunks {6}\d\nVectors {5}\d of [\d,]+ dimensions\nEmbeddings {2}\S+\nCut by {6}maximum tokens 64\n/,
  );
  expect(stdout).toMatch(/\nOn disk {5}[\d.]+ kB: database [\d.]+ kB, search indexes [\d.]+ k?B, conversations .*B\n$/);
});

test("stats and verify say how a graph keeps vectors, once there is one", async () => {
  const cwd = await indexed();
  expect(await citewellJson<StatsJson>(["stats"], { cwd })).not.toHaveProperty("quantization");
  const path = join(cwd, ".citewell");
  for (const quantization of ["int8", "int4", "none"] as const) {
    const store = await openStore(path, { space: storedSpace(path)! }, { index: "hnsw", quantization });
    await store.close();
    expect(await citewellJson<StatsJson>(["stats"], { cwd })).toMatchObject({ quantization });
    expect(await citewellJson(["verify"], { cwd })).toEqual({ ok: true, problems: [], recall: 1, quantization });
  }
  expect((await citewell(["stats"], { cwd })).stdout).toContain("\nGraph       vectors as they are (none)\n");
  expect((await citewell(["verify"], { cwd })).stdout).toContain("\nIts graph has vectors as they are (none).\n");
});

test("stats tells of a latent model, once there is one", async () => {
  const notes = Array.from({ length: 24 }, (_, at) => [
    `docs/${at}.md`,
    `${at % 2 ? "Keys expire" : "Locks rust"} in ${at} days.`,
  ]);
  const cwd = await temporaryFolder(Object.fromEntries(notes) as Record<string, string>);
  await citewellJson(["index", "docs"], { cwd });
  expect(await citewellJson(["stats"], { cwd })).not.toHaveProperty("latent");
  const path = join(cwd, ".citewell");
  const store = await openStore(path, { space: storedSpace(path)! }, { latent: true });
  await store.close();
  expect(await citewellJson(["stats"], { cwd })).toMatchObject({ latent: { trainedOn: 24, used: true } });
  expect((await citewell(["stats"], { cwd })).stdout).toMatch(/^Latent +model trained at 24 chunks, explains \d+ % /m);
});

test("stats says what a first load measured by questions made of its own texts, and the API gives the weight that it led to", async () => {
  const random = seededRandom(3);
  const any = (count: number) => Math.floor(random() * count);
  const text = (at: number) =>
    Array.from({ length: 24 }, (_, place) => (place % 2 ? `word${any(3000)}` : `subject${at % 37}word${any(30)}`)).join(
      " ",
    );
  const notes = Array.from({ length: 520 }, (_, at) => [`docs/${at}.md`, text(at)]);
  const cwd = await temporaryFolder(Object.fromEntries(notes) as Record<string, string>);
  await citewellJson(["index", "docs"], { cwd });
  const { latent } = await citewellJson<StatsJson>(["stats"], { cwd });
  expect(latent).toMatchObject({ trainedOn: 520, used: true });
  const { shareOfWords, weight } = latent!;
  expect(shareOfWords).toBeGreaterThan(0.5);
  expect((await citewell(["stats"], { cwd })).stdout).toContain(
    ` answers questions made of its texts ${Math.round(100 * shareOfWords!)} % as well as their words do: weight ${weight!.toFixed(2)}\n`,
  );
  const kb = await openKnowledgeBase({ path: join(cwd, ".citewell") });
  expect(await kb.store.latent?.weight?.()).toBe(weight);
  await kb.close();
});

test("stats counts the store from before a migration apart", async () => {
  const cwd = await indexed();
  const before = await citewellJson<StatsJson>(["stats"], { cwd });
  await citewell(["migrate", "--embedding-model", "citewell/local-lexical"], { cwd });
  const after = await citewellJson<StatsJson>(["stats", "--embedding-model", "citewell/local-lexical"], { cwd });
  expect(after.space).not.toBe(before.space);
  expect(after.diskBytes.otherGenerations).toBe(before.diskBytes.database + before.diskBytes.indexes);
});

test.each(["list", "stats"])("%s makes no store where there is none", async (command) => {
  const cwd = await temporaryFolder();
  const { exitCode, stdout, stderr } = await citewell([command], { cwd });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(/^citewell: There is no store at .*\n$/);
  expect(await readdir(cwd)).toEqual([]);
});
