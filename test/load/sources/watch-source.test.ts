import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { allSources } from "../../../src/load/sources/source.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { documentSource, type DocumentSource } from "../../../src/load/sources/source.js";
import { watchSource, type WatchSourceOptions } from "../../../src/load/sources/watch-source.js";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

interface Seen {
  readonly read: readonly string[];
  /** The uris, among those asked about, that are gone. */
  readonly gone: readonly string[];
}

/** Watches; `next` gives what the next part of the source reads, and which of these files it did not meet and says are gone. */
function watching(source: DocumentSource, options: WatchSourceOptions = {}) {
  const stopping = new AbortController();
  const parts = watchSource(source, { signal: stopping.signal, quietMs: 250, ...options });
  onTestFinished(async () => {
    stopping.abort();
    await parts.return(undefined);
  });
  return {
    stop: () => stopping.abort(),
    parts,
    next: async (...asked: readonly string[]): Promise<Seen> => {
      const { value } = await parts.next();
      const documents = await collect((value as DocumentSource).read(createRunContext()));
      const read = documents.map(({ uri }) => basename(uri)).toSorted();
      const gone = [];
      for (const path of asked) {
        const name = basename(path);
        if (!read.includes(name) && (await (value as DocumentSource).vanished(pathToFileURL(path).href)))
          gone.push(name);
      }
      return { read, gone };
    },
  };
}

describe("watchSource", () => {
  test("yields the whole first, then only the files that each burst of changes added, changed or deleted", async () => {
    const folder = await temporaryFolder({ "a.md": "A", "b.md": "B", "c.md": "C" });
    const { next } = watching(readFolder(folder));
    expect(await next()).toEqual({ read: ["a.md", "b.md", "c.md"], gone: [] });
    await writeFile(join(folder, "b.md"), "B again");
    await writeFile(join(folder, "d.md"), "D");
    await rm(join(folder, "c.md"));
    const [a, c] = [join(folder, "a.md"), join(folder, "c.md")];
    expect(await next(a, c)).toEqual({ read: ["b.md", "d.md"], gone: ["c.md"] });
    await rename(join(folder, "d.md"), join(folder, "e.md"));
    expect(await next(a, join(folder, "d.md"))).toEqual({ read: ["e.md"], gone: ["d.md"] });
  });

  test("misses no change while a part is being read", async () => {
    const folder = await temporaryFolder({ "a.md": "A" });
    const { parts, next } = watching(readFolder(folder));
    await parts.next();
    await writeFile(join(folder, "late.md"), "Late");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await next()).toEqual({ read: ["late.md"], gone: [] });
  });

  test("ignores the files that reading the folder ignores, and reads all again when the rules change", async () => {
    const folder = await temporaryFolder({ "a.md": "A", "x.md": "X", ".gitignore": "ignored.md\n" });
    await mkdir(join(folder, "node_modules"));
    const { next } = watching(readFolder(folder, { exclude: ["drafts/**"] }));
    await next();
    await mkdir(join(folder, "drafts"));
    for (const name of ["ignored.md", "node_modules/p.md", "drafts/d.md", ".hidden.md", "new.md"]) {
      await writeFile(join(folder, name), name);
    }
    await symlink(folder, join(folder, "loop"));
    expect(await next()).toEqual({ read: ["new.md"], gone: [] });
    await writeFile(join(folder, ".gitignore"), "x.md\n");
    expect((await next()).read).toEqual(["a.md", "ignored.md", "new.md"]);
  });

  test("watches single files and several sources at once", async () => {
    const folder = await temporaryFolder({ "docs/a.md": "A", "notes.txt": "N", "other.txt": "O" });
    const notes = join(folder, "notes.txt");
    const { next } = watching(allSources([readFolder(join(folder, "docs")), readFile(notes)]));
    expect((await next()).read).toEqual(["a.md", "notes.txt"]);
    await writeFile(join(folder, "other.txt"), "not watched");
    await writeFile(notes, "N again");
    expect(await next(notes)).toEqual({ read: ["notes.txt"], gone: [] });
    await rm(notes);
    expect(await next(notes)).toEqual({ read: [], gone: ["notes.txt"] });
  });

  test("yields changes that have waited long enough while others go on", async () => {
    const folder = await temporaryFolder({ "a.md": "A" });
    const { next } = watching(readFolder(folder), { quietMs: 60_000, maxWaitMs: 200 });
    await next();
    await writeFile(join(folder, "b.md"), "B");
    expect((await next()).read).toEqual(["b.md"]);
  });

  test("ends without an error on an abort", async () => {
    const folder = await temporaryFolder({ "a.md": "A" });
    const { parts, stop } = watching(readFolder(folder));
    await parts.next();
    const waiting = parts.next();
    stop();
    expect(await waiting).toEqual({ value: undefined, done: true });
    const ended = AbortSignal.abort();
    expect(await collect(watchSource(readFolder(folder), { signal: ended }))).toEqual([]);
  });

  test("a source that is not made of files is refused", async () => {
    const source = documentSource({ id: "feed", read: async function* () {}, vanished: () => false });
    await expect(watchSource(source).next()).rejects.toMatchObject({
      code: "options",
      message: "watchSource: feed is not made of files that can be watched",
    });
  });
});
