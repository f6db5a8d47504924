import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { memoryStore } from "../../../src/conformance/memory-store.js";
import type { Store } from "../../../src/core/ports.js";
import { openStore } from "../../../src/store/open-store.js";
import { vectorKey } from "../../../src/text/chunking/chunk-identity.js";
import { copyStore } from "../../../src/store/transfer/copy-store.js";
import { exportStore } from "../../../src/store/transfer/export-store.js";
import { importStore } from "../../../src/store/transfer/import-store.js";
import { citewell, citewellJson, root } from "../../support/citewell.js";
import { runNode } from "../../support/run-process.js";
import { temporaryFolder } from "../temporary-folder.js";

const dimension = 12;

/** Documents with everything that the port carries. */
const made = Array.from({ length: 450 }, (_, at) =>
  madeDocument(
    `file:///${at % 2 === 0 ? "b" : "\u{1f600}"}${at}`,
    Array.from({ length: at % 4 }, (__, part) => `part ${part} of ${at}, shared ${at % 7} \ud83d \0 \u2028`),
    at % 3 === 0
      ? { title: `Title ${at}`, metadata: { at, tags: ["\udc00"] }, source: "docs", mediaType: "text/markdown" }
      : {},
  ),
);
const notes = new Map(made.slice(0, 100).map(({ document: { uri } }) => [uri, `note of ${uri}`]));

async function filled(store: Store): Promise<Store> {
  await store.write({
    ...withVectors(made, dimension),
    notes,
    settings: { chunk: { maxTokens: 200 } },
    tokenMargin: 1.5,
  });
  return store;
}

async function opened(path = join(temporaryFolder(), "store"), space = "made"): Promise<Store> {
  const store = await openStore(path, { space });
  onTestFinished(() => store.close());
  return store;
}

/** Everything that a transfer carries, in one comparable value. */
async function contents(store: Store): Promise<unknown> {
  const infos = await store.documents();
  const documents = [];
  for (const { uri } of infos) {
    const write = (await store.documentWithChunks!(uri))!;
    const vectors = await store.knownVectors(write.chunks.map(vectorKey));
    documents.push({ ...write, vectors, note: (await store.notes!([uri])).get(uri) });
  }
  const { settings, tokenMargin } = store;
  return { infos, documents, settings, tokenMargin };
}

/** Runs a script with the library in a process that may kill itself. */
async function script(body: string): Promise<string | number | null> {
  const dist = pathToFileURL(join(root, "dist/")).href;
  const source = `
    import { openStore } from "${dist}store/open-store.js";
    import { copyStore } from "${dist}store/transfer/copy-store.js";
    import { exportStore } from "${dist}store/transfer/export-store.js";
    const die = () => process.kill(process.pid, "SIGKILL");
    ${body}`;
  const { exitCode } = await runNode("--input-type=module", ["--eval", source], { cwd: root });
  return exitCode;
}

describe("copyStore", () => {
  test("carries everything from any store to any other, and finds the copy equal", async () => {
    const source = await filled(memoryStore("made"));
    const folder = await opened();
    const report = await copyStore(source, folder);
    expect(report).toEqual({
      copied: 450,
      unchanged: 0,
      chunks: made.reduce((sum, { chunks }) => sum + chunks.length, 0),
      documents: { source: 450, target: 450 },
      differences: [],
    });
    expect(await contents(folder)).toEqual(await contents(source));
    const back = memoryStore("made");
    expect(await copyStore(folder, back)).toEqual(report);
    expect(await contents(back)).toEqual(await contents(source));
  });

  test("writes only what is new or changed, and leaves what only the target has", async () => {
    const source = await filled(memoryStore("made"));
    const target = memoryStore("made");
    await target.write({ ...withVectors([madeDocument("only here", ["own"])], dimension), settings: { own: true } });
    await copyStore(source, target);
    const changed = madeDocument(made[0]!.document.uri, ["now longer", "than before"]);
    const moved = { ...made[1]!, document: { ...made[1]!.document, source: "elsewhere" } };
    await source.write(withVectors([changed, moved], dimension));
    const report = await copyStore(source, target);
    expect(report).toMatchObject({
      copied: 2,
      unchanged: 448,
      documents: { source: 450, target: 451 },
      differences: [],
    });
    expect(await target.document(changed.document.uri)).toEqual(changed.document);
    expect(await target.documents({ source: "elsewhere" })).toHaveLength(1);
    expect(target.settings).toEqual({ own: true });
  });

  test("goes on after its process was killed, without writing again what is there", async () => {
    const [from, to] = [join(temporaryFolder(), "from"), join(temporaryFolder(), "to")];
    const source = await filled(await opened(from));
    await source.close();
    // The second report of progress comes after two transactions.
    const exitCode = await script(`
      const [from, to] = [await openStore("${from}", { space: "made" }), await openStore("${to}", { space: "made" })];
      let reports = 0;
      await copyStore(from, to, { onProgress: () => { if (++reports === 2) die(); } });`);
    expect(exitCode).not.toBe(0);
    const [again, target] = [await opened(from), await opened(to)];
    const { documents } = await target.counts();
    expect(documents).toBe(400);
    const report = await copyStore(again, target);
    expect(report).toMatchObject({ copied: 50, unchanged: 400, differences: [] });
    expect(await contents(target)).toEqual(await contents(again));
  });

  test("names what the target does not return as it was", async () => {
    const source = memoryStore("made");
    await source.write(withVectors([madeDocument("a", ["one"]), madeDocument("b", ["two"])], dimension));
    const target = memoryStore("made");
    const { knownVectors, documentWithChunks } = target;
    const rounding = Object.assign(target, {
      knownVectors: async (keys: readonly string[]) => {
        const known = await knownVectors(keys);
        return new Map([...known].map(([key, vector]) => [key, vector.map((one) => Number(one.toFixed(3)))]));
      },
      documentWithChunks: async (uri: string) => (uri === "b" ? undefined : documentWithChunks!(uri)),
    });
    const { differences } = await copyStore(source, rounding);
    expect(differences).toEqual(["a: a vector differs or is missing", "b: the document is missing"]);
  });

  test("refuses a target of another space, and a source that lists no chunks", async () => {
    const source = await filled(memoryStore("made"));
    await expect(copyStore(source, memoryStore("other"))).rejects.toMatchObject({ code: "space" });
    const { documentWithChunks: _, ...unlisted } = source;
    await expect(copyStore(unlisted, memoryStore("made"))).rejects.toMatchObject({ code: "missing" });
  });

  test("ends with the caller's own reason when it is aborted", async () => {
    const source = await filled(memoryStore("made"));
    const [controller, reason, target] = [new AbortController(), new Error("enough"), memoryStore("made")];
    const copying = copyStore(source, target, {
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    await expect(copying).rejects.toBe(reason);
    expect((await target.counts()).documents).toBe(200);
  });
});

describe("a file of exportStore", () => {
  test("brings back everything, and is the same whenever it is written", async () => {
    const source = await filled(await opened());
    const folder = temporaryFolder();
    const [one, two] = [join(folder, "one.jsonl"), join(folder, "two.jsonl")];
    const report = await exportStore(source, one);
    expect(report).toMatchObject({ copied: 450, documents: { source: 450, target: 450 }, differences: [] });
    const target = memoryStore("made");
    expect(await importStore(one, target)).toMatchObject({ copied: 450, differences: [] });
    expect(await contents(target)).toEqual(await contents(source));
    expect(await importStore(one, target)).toMatchObject({ copied: 0, unchanged: 450, differences: [] });
    await exportStore(target, two);
    expect(readFileSync(two).equals(readFileSync(one))).toBe(true);
    expect(existsSync(`${one}.partial`)).toBe(false);
  });

  test("is continued after its process was killed in the middle of a line, to the same bytes", async () => {
    const [from, folder] = [join(temporaryFolder(), "from"), temporaryFolder()];
    const [whole, killed] = [join(folder, "whole.jsonl"), join(folder, "killed.jsonl")];
    const source = await filled(await opened(from));
    await exportStore(source, whole);
    const exitCode = await script(`
      const from = await openStore("${from}", { space: "made" });
      await exportStore(from, "${killed}", { onProgress: ({ copied }) => { if (copied === 200) die(); } });`);
    expect(exitCode).not.toBe(0);
    expect(existsSync(killed)).toBe(false);
    appendFileSync(`${killed}.partial`, '{"sha256":"00');
    expect(await exportStore(source, killed)).toMatchObject({ copied: 250, unchanged: 200, differences: [] });
    expect(readFileSync(killed).equals(readFileSync(whole))).toBe(true);
  });

  test("is begun anew when a document in it has changed meanwhile", async () => {
    const source = await filled(memoryStore("made"));
    const path = join(temporaryFolder(), "export.jsonl");
    const controller = new AbortController();
    const stopping = exportStore(source, path, {
      signal: controller.signal,
      onProgress: ({ copied }) => copied === 10 && controller.abort(),
    });
    await expect(stopping).rejects.toThrow("aborted");
    const { uri } = (await source.documents({ limit: 1 }))[0]!;
    await source.write(withVectors([madeDocument(uri, ["changed meanwhile"])], dimension));
    expect(await exportStore(source, path)).toMatchObject({ copied: 450, unchanged: 0, differences: [] });
    const target = memoryStore("made");
    await importStore(path, target);
    expect((await target.document(uri))?.text).toBe("changed meanwhile");
  });

  const damages: readonly (readonly [string, (path: string, text: string) => void])[] = [
    ["with one character changed", (path, text) => writeFileSync(path, text.replace("part 1 of 86", "part 1 of 87"))],
    [
      "with one digit of a vector changed",
      (path, text) => writeFileSync(path, text.replace(/":"(\w)(\w{8})/, '":"A$2')),
    ],
    ["that was cut off in a line", (path, text) => truncateSync(path, Math.floor(text.length / 2))],
    [
      "that was cut off behind a line",
      (path, text) => writeFileSync(path, text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1)),
    ],
    ["that lacks a line", (path, text) => writeFileSync(path, without(text, 20))],
    [
      "with a line twice",
      (path, text) => writeFileSync(path, text.replace(lineAt(text, 20), `${lineAt(text, 20)}${lineAt(text, 20)}`)),
    ],
    ["of something else", (path) => writeFileSync(path, '{"uri":"a","text":"b"}\n')],
    ["that is empty", (path) => writeFileSync(path, "")],
  ];

  test.each(damages)("%s is refused, and nothing of its bad line gets into a store", async (_, damage) => {
    const source = await filled(memoryStore("made"));
    const path = join(temporaryFolder(), "export.jsonl");
    await exportStore(source, path);
    damage(path, readFileSync(path, "utf8"));
    const target = memoryStore("made");
    await expect(importStore(path, target)).rejects.toMatchObject({ code: "damaged", path });
    for (const { uri } of await target.documents()) {
      expect(await target.documentWithChunks!(uri)).toEqual(await source.documentWithChunks!(uri));
    }
  });
});

function lineAt(text: string, number: number): string {
  return `${text.split("\n")[number]}\n`;
}

function without(text: string, number: number): string {
  return text
    .split("\n")
    .filter((__, at) => at !== number)
    .join("\n");
}

test("citewell copy, export and import move a store without a model, and say that all is the same", async () => {
  const cwd = temporaryFolder();
  const source = await filled(await opened(join(cwd, ".citewell")));
  await source.close();
  const counts = { copied: 450, unchanged: 0, documents: { source: 450, target: 450 }, differences: [] };
  expect(await citewellJson(["copy", ".citewell", "copied"], { cwd })).toMatchObject(counts);
  expect(await citewellJson(["export", "all.jsonl"], { cwd })).toMatchObject(counts);
  expect(await citewellJson(["import", "all.jsonl", "--store", "imported"], { cwd })).toMatchObject(counts);
  const again = await citewell(["copy", "copied", "imported"], { cwd });
  expect(again).toMatchObject({ exitCode: 0, stderr: "" });
  expect(again.stdout).toMatch(/^0 documents copied .* 450 documents there already\.\n.*\nCompared: .* the same\.\n$/);
  const missing = await citewell(["copy", "nowhere", "copied"], { cwd });
  expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("There is no store at") });
  const other = await opened(join(cwd, "other"), "elsewhere");
  await other.write({ vectors: new Map([["key", new Float32Array([1])]]) });
  await other.close();
  const refused = await citewell(["copy", ".citewell", "other"], { cwd });
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/vectors of elsewhere/) });
});
