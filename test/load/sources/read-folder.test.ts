import { execFileSync } from "node:child_process";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { SQLite } from "../../support/sqlite.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { LoadError } from "../../../src/core/errors.js";
import { RunMemory } from "../../../src/knowledge-base/ingest/run-memory.js";
import { readPath } from "../../../src/load/read-path.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { readFolder, type ReadFolderOptions } from "../../../src/load/sources/read-folder.js";
import type { DocumentSource } from "../../../src/load/sources/source.js";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { memoryStore } from "../../support/memory-store.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);

async function read(source: DocumentSource, signal?: AbortSignal) {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event), ...(signal && { signal }) });
  const documents = await collect(source.read(context));
  const names = documents.map(({ uri }) => uri.slice(uri.lastIndexOf("/") + 1));
  const skipped = events.flatMap((event) =>
    event.type === "skipped" ? [`${basename(event.uri)}: ${event.reason}`] : [],
  );
  return { documents, names, events, skipped, failures: context.failures };
}

const readIn = async (folder: string, options?: ReadFolderOptions) => (await read(readFolder(folder, options))).names;

describe("readFolder", () => {
  test("documents carry their file's address, title and source, in a fixed order", async () => {
    const folder = await temporaryFolder({
      "b.txt": "plain",
      "a/guide.md": "# Guide\n\nText.",
      "a/two words.md": "no heading",
    });
    const source = readFolder(folder);
    const id = pathToFileURL(`${folder}/`).href;
    expect(source.id).toBe(id);
    const { documents } = await read(source);
    expect(documents).toEqual([
      { uri: `${id}a/guide.md`, source: id, text: "# Guide\n\nText.", title: "Guide", mediaType: "text/markdown" },
      { uri: `${id}a/two%20words.md`, source: id, text: "no heading", title: "two words", mediaType: "text/markdown" },
      { uri: `${id}b.txt`, source: id, text: "plain", title: "b", mediaType: "text/plain" },
    ]);
  });

  test("each file whose reading begins is reported as over, also one that cannot be read", async () => {
    const folder = await temporaryFolder({ "a.md": "text", "b.pdf": "%PDF-1.7 and nothing else" });
    const { events } = await read(readFolder(folder));
    const readings = events.flatMap((event) => (event.type === "reading" ? [event] : []));
    const names = (isOver: boolean) => readings.filter((one) => one.isOver === isOver).map(({ uri }) => basename(uri));
    expect(names(false).toSorted()).toEqual(["a.md", "b.pdf"]);
    // Files are read side by side, so either may come first.
    expect(names(true).toSorted()).toEqual(["a.md", "b.pdf"]);
  });

  test("pages that are read and loaded in place leave other work its turns", async () => {
    const page = `<title>Page</title>${"<p>Some <b>words</b> on <a href=x>things</a>.</p>".repeat(500)}`;
    const pages = 24;
    const folder = await temporaryFolder(
      Object.fromEntries(Array.from({ length: pages }, (_, index) => [`${index}.html`, page])),
    );
    const cutName = () => "as ever";
    const files = new RunMemory(memoryStore("any"), { reread: false, retryFailed: false, cutName });
    let [sinceTurn, longest] = [0, 0];
    let waiting = setImmediate(function turned() {
      sinceTurn = 0;
      waiting = setImmediate(turned);
    });
    for await (const { title } of readFolder(folder).read({ ...createRunContext(), files })) {
      expect(title).toBe("Page");
      longest = Math.max(longest, ++sinceTurn);
    }
    clearImmediate(waiting);
    expect(longest).toBeLessThan(pages / 2);
  });

  test("a folder reached through a link is the link's target", async () => {
    const folder = await temporaryFolder({ "docs/a.md": "a" });
    await symlink(join(folder, "docs"), join(folder, "link"));
    expect(readFolder(join(folder, "link")).id).toBe(pathToFileURL(`${folder}/docs/`).href);
    expect(readFolder(`${folder}/docs/../docs/`).id).toBe(pathToFileURL(`${folder}/docs/`).href);
  });

  test("dotfiles, node_modules and links are passed over, even links that form a circle", async () => {
    const folder = await temporaryFolder({
      "a.md": "a",
      ".hidden.md": "h",
      ".git/x.md": "x",
      "s/node_modules/p/y.md": "y",
    });
    await symlink("..", join(folder, "s/circle"));
    await symlink("../a.md", join(folder, "s/again.md"));
    expect(await readIn(folder)).toEqual(["a.md"]);
  });

  test("files named like secrets are passed over and reported, unless they are included by their whole name", async () => {
    const secrets = [".env", ".env.local", "credentials.json", "deploy/id_rsa", "prod.tfvars", "deploy/secrets.yaml"];
    const folder = await temporaryFolder({
      ...Object.fromEntries(secrets.map((name) => [name, "KEY: x"])),
      "id_rsa.txt": "how to make one",
      "secrets.md": "how to keep them",
    });
    const { names, skipped } = await read(readFolder(folder));
    expect(names).toEqual(["id_rsa.txt", "secrets.md"]);
    expect(skipped.toSorted()).toEqual(
      secrets
        .map(
          (name) =>
            `${basename(name)}: its name suggests that it holds secrets: to read it, include it by its whole name`,
        )
        .toSorted(),
    );
    const asked = await read(readFolder(folder, { include: ["**/*", "**/secrets.yaml"] }));
    expect(asked.names).toEqual(["secrets.yaml", "id_rsa.txt", "secrets.md"]);
  });

  test("the files of a store that lies in the folder are passed over, so that it does not index itself", async () => {
    const database = new SQLite(":memory:");
    database.exec("CREATE TABLE chunks (text TEXT); INSERT INTO chunks VALUES ('words of a document')");
    const bytes = database.serialize();
    database.close();
    const folder = await temporaryFolder({ "a.md": "a", "kb/store.sqlite": bytes, "kb/conversations.sqlite": bytes });
    const { names, skipped, failures } = await read(readFolder(folder));
    expect(names).toEqual(["a.md"]);
    expect(skipped).toEqual([
      expect.stringMatching(/^conversations\.sqlite: it looks generated/),
      expect.stringMatching(/^store\.sqlite: it looks generated/),
    ]);
    expect(failures.size).toBe(0);
  });

  test("files that are not text are passed over and reported, and cost no other file", async () => {
    const folder = await temporaryFolder({
      "a.md": "a",
      "blank.md": " \n",
      "image.md": png,
      "large.txt": "x".repeat(200),
      "notes.xyz": "?",
      README: "no ending",
    });
    const { names, skipped, failures, events } = await read(readFolder(folder, { maxFileBytes: 100 }));
    expect(names).toEqual(["README", "a.md"]);
    expect(skipped.map((line) => line.replace(/file:\S+\//, ""))).toEqual([
      "notes.xyz: no loader for .xyz files",
      "blank.md: blank",
      "image.md: image.md is not text: a PNG file",
      "large.txt: large.txt has 200 bytes, and files of more than 100 bytes are passed over",
    ]);
    expect(failures.size).toBe(0);
    expect(events[0]).toEqual({ type: "progress", what: "files-found", count: 5 });
  });

  test("a file that fails is reported and does not stop the others", async () => {
    const folder = await temporaryFolder({ "a.md": "a", "b.md": "b", "c.md": "c" });
    const events: RunEvent[] = [];
    const context = createRunContext({ report: (event) => events.push(event) });
    const names: string[] = [];
    const gone = pathToFileURL(join(folder, "b.md")).href;
    const removing = {
      ...context,
      report: (event: RunEvent) => {
        events.push(event);
        if (event.type === "progress") execFileSync("rm", [fileURLToPath(gone)]);
      },
    };
    for await (const { title } of readFolder(folder).read(removing)) names.push(title!);
    expect(names).toEqual(["a", "c"]);
    expect([...context.failures]).toEqual([[gone, expect.any(LoadError)]]);
    expect(events).toContainEqual({
      type: "document",
      uri: gone,
      outcome: "failed",
      chunks: 0,
      error: expect.objectContaining({ code: "unreadable" }),
    });
  });

  test("include and exclude are globs relative to the folder; a named ending is read", async () => {
    const folder = await temporaryFolder({
      "a.md": "a",
      "g/b.md": "b",
      "g/old/c.md": "c",
      "g/d.foo": "d: 1",
      "g/e.bar": "e",
    });
    expect(await readIn(folder, { include: ["g/**"] })).toEqual(["b.md", "c.md"]);
    expect(await readIn(folder, { exclude: ["g/old", "a.*"] })).toEqual(["b.md"]);
    expect(await readIn(folder, { include: ["**/*.foo", "*.md"] })).toEqual(["a.md", "d.foo"]);
  });

  test.skipIf(process.platform === "win32")("globs match names that contain a line end", async () => {
    const folder = await temporaryFolder({ "a\nb.md": "1", "c\r\n/d.md": "2", "e.md": "3" });
    const { documents } = await read(readFolder(folder));
    const id = pathToFileURL(`${folder}/`).href;
    expect(documents.map(({ uri }) => uri)).toEqual([`${id}a%0Ab.md`, `${id}c%0D%0A/d.md`, `${id}e.md`]);
    expect(documents.map(({ title, text }) => [title, text])).toEqual([
      ["a b", "1"],
      ["d", "2"],
      ["e", "3"],
    ]);
    await expect(readIn(folder, { exclude: ["**"] })).rejects.toThrow("found no files");
    expect(await readIn(folder, { exclude: ["*.md"] })).toEqual(["d.md"]);
    expect(await readIn(folder, { include: ["a\nb.md", "c*/**"] })).toEqual(["a%0Ab.md", "d.md"]);
  });

  test.skipIf(process.platform !== "linux")(
    "a file name that is not UTF-8 is reported and costs no other file",
    async () => {
      const folder = await temporaryFolder({ "a.md": "a" });
      const named = (bytes: string) => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(bytes, "latin1")]);
      await writeFile(named("b\xff.md"), "b");
      await mkdir(named("c\xff"));
      await writeFile(named("c\xff/d.md"), "d");
      const { names, skipped, failures } = await read(readFolder(folder));
      expect(names).toEqual(["a.md"]);
      expect(skipped).toEqual([expect.stringMatching(/^c%EF%BF%BD: its name is not valid UTF-8: rename it$/)]);
      expect([...failures.values()]).toMatchObject([
        { code: "unreadable", message: expect.stringContaining("not valid UTF-8") },
      ]);
    },
  );

  test("several folders are one source, and a file in two of them is one document", async () => {
    const folder = await temporaryFolder({ "x/a.md": "a", "x/y/b.md": "b" });
    const source = readFolder([join(folder, "x"), join(folder, "x/y")]);
    const { documents, names } = await read(source);
    expect(names).toEqual(["a.md", "b.md"]);
    expect(new Set(documents.map((document) => document.source))).toEqual(new Set([source.id]));
  });

  test("a folder that is missing, or is a file, is an error when it is read", async () => {
    const folder = await temporaryFolder({ "a.md": "a" });
    await expect(readIn(join(folder, "nowhere"))).rejects.toMatchObject({
      code: "missing",
      message: `There is no folder at ${join(folder, "nowhere")}`,
    });
    await expect(readIn(join(folder, "a.md"))).rejects.toThrow("read it with readFile");
  });

  test.skipIf(process.platform === "win32")(
    "a pipe is refused instead of waited for, and passed over in a folder",
    async () => {
      const folder = await temporaryFolder({ "a.md": "a" });
      const pipe = join(folder, "pipe.md");
      execFileSync("mkfifo", [pipe]);
      for (const source of [readFile(pipe), readPath(pipe)]) {
        await expect(collect(source)).rejects.toMatchObject({
          code: "unsupported",
          message: `${pipe} is neither a file nor a folder: it is not read`,
        });
      }
      expect((await read(readFolder(folder))).names).toEqual(["a.md"]);
    },
  );

  test.each(["../**", "/", "sub/../../**", "{a,b}/../../*.md"])(
    "a glob that leads out of the folder is refused before anything is listed: %s",
    (glob) => {
      expect(() => readFolder("sub", { include: [glob] })).toThrow(
        /leads out of .*sub: globs are relative to the folder/,
      );
    },
  );

  test("a glob may be the whole path of a file in the folder", async () => {
    const folder = await temporaryFolder({ "a.md": "# A", "sub/b.md": "# B" });
    const { names } = await read(readFolder(folder, { include: [join(folder, "sub/*.md")] }));
    expect(names).toEqual(["b.md"]);
  });

  test("a folder with nothing to read is an error that lists the supported and the found endings", async () => {
    const folder = await temporaryFolder({ "a.png": png, "b.png": png, "c.exe": "MZ", "d.md": png });
    const failure = read(readFolder(folder));
    await expect(failure).rejects.toMatchObject({ code: "empty" });
    await expect(failure).rejects.toThrow(/looked for \.md .*\.html .*found 2 with \.png, 1 with \.exe, 1 with \.md/);
    await expect(readIn(await temporaryFolder())).rejects.toThrow("found no files");
  });

  test("a folder that cannot be listed is a failure of its own: its files have not vanished, and the others are read", async () => {
    const folder = await temporaryFolder({ "a.md": "a", "z/b.md": "b" });
    const name = "x".repeat(200);
    // The system takes no path of more than 4096 bytes, so that this cannot be listed by anybody, root included.
    const shell = (line: string): void => void execFileSync("sh", ["-ec", line], { cwd: folder, stdio: "ignore" });
    shell(`for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do mkdir ${name}; cd -P ${name}; done`);
    onTestFinished(() => shell(`rm -rf ${name}`));
    const source = readFolder(folder);
    const { names, failures } = await read(source);
    expect(names).toEqual(["a.md", "b.md"]);
    const [[uri, error], ...more] = [...failures] as [[string, Error]];
    expect(more).toEqual([]);
    expect(error).toMatchObject({
      code: "unreadable",
      message: expect.stringMatching(/^The folder .* cannot be listed \(ENAMETOOLONG.*\): allow it, or exclude it$/),
    });
    expect(await source.vanished(`${uri}/deep.md`, source.id)).toBe(false);
    expect(await source.vanished(`${uri}/rows.csv#row=1`, source.id)).toBe(false);
    expect(await source.vanished("https://example.com/from-a-row", source.id)).toBe(false);
    expect(await source.vanished(`${source.id}gone.md`, source.id)).toBe(true);
    // Globs that lead elsewhere pass the folder by, and then the disk is asked.
    const part = readFolder(folder, { exclude: [`${name}/**`] });
    expect((await read(part)).failures.size).toBe(0);
    expect(await part.vanished(`${uri}/deep.md`, part.id)).toBe(false);
    expect(await part.vanished(`${uri}/rows.csv#row=1`, part.id)).toBe(false);
  });

  test.each([
    ["folders", "**/a/**/a/**/a/**/a/**/a/**/b", `${"a/".repeat(30)}c.md`],
    ["letters", "*?*?*?*?*?*?b", `${"a".repeat(40)}.md`],
  ])("a rule that takes too long to match the %s of a path fails its folder, not the run", async (_, rule, path) => {
    const folder = await temporaryFolder({ "a.md": "a", "sub/.gitignore": rule, [`sub/${path}`]: "deep" });
    const { names, failures } = await read(readFolder(folder));
    expect(names).toEqual(["a.md"]);
    expect([...failures.values()]).toMatchObject([
      { code: "unreadable", message: expect.stringContaining(`has a rule that takes too long to match: ${rule}. Use`) },
    ]);
    await writeFile(join(folder, "sub/.gitignore"), "**/x/**/y/*.[ch]\n*.py[cod]");
    expect((await read(readFolder(folder))).names).toHaveLength(2);
  });

  test.skipIf(process.getuid?.() === 0)(
    "a folder whose .gitignore cannot be read is a failure of its own, as nobody knows what to pass over",
    async () => {
      const folder = await temporaryFolder({ "a.md": "a", "sub/secret.md": "s", "sub/.gitignore": "secret.md" });
      await chmod(join(folder, "sub/.gitignore"), 0o000);
      const source = readFolder(folder);
      const { names, failures } = await read(source);
      expect(names).toEqual(["a.md"]);
      expect([...failures.keys()]).toEqual([`${source.id}sub/.gitignore`]);
      expect(await source.vanished(`${source.id}sub/secret.md`, source.id)).toBe(false);
    },
  );

  test.skipIf(process.getuid?.() === 0)("a folder that may not be listed cannot be the source itself", async () => {
    const folder = await temporaryFolder({ "a.md": "a" });
    await chmod(folder, 0o000);
    onTestFinished(() => chmod(folder, 0o700));
    await expect(readIn(folder)).rejects.toMatchObject({ code: "unreadable" });
  });

  test("plain iteration throws at the first file that fails and says how to go on", async () => {
    const folder = await temporaryFolder({ "a.md": "a", "b.bin": png });
    expect((await collect(readFolder(folder))).map(({ title }) => title)).toEqual(["a"]);
    await expect(collect(readFile(join(folder, "b.bin")))).rejects.toMatchObject({
      name: "LoadError",
      code: "binary",
      message: expect.stringContaining("read(context)"),
    });
  });

  test("an abort is thrown as the caller's own reason", async () => {
    const folder = await temporaryFolder({ "a.md": "a" });
    const reason = new Error("enough");
    await expect(read(readFolder(folder), AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test("a run that ends early reads no further", async () => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}.md`, "text"]));
    const folder = await temporaryFolder(files);
    for await (const document of readFolder(folder)) {
      expect(document.text).toBe("text");
      await rm(folder, { recursive: true });
      break;
    }
  });

  test("a bad option is refused where it is written", () => {
    expect(() => readFolder(".", { maxFileBytes: 0 })).toThrow("readFolder: maxFileBytes");
  });
});

describe("gitignore", () => {
  test("the files that git ignores are passed over", async () => {
    const folder = await temporaryFolder({
      ".gitignore": "\ufeffbuild/\n*.log\n!keep.log\n/only-here.md\n# comment\ndocs/*.tmp.md\n",
      "a.md": "a",
      "Build/f.md": "f",
      "keep.log": "k",
      "x.log": "x",
      "only-here.md": "o",
      "sub/only-here.md": "o",
      "build/b.md": "b",
      "sub/build/c.md": "c",
      "docs/d.tmp.md": "d",
      "docs/deep/e.tmp.md": "e",
      "sub/.gitignore": "!x.log\nsecret.md\n!build/\n",
      "sub/x.log": "x",
      "sub/secret.md": "s",
      "secret.md": "s",
      "build/.gitignore": "!b.md\n",
    });
    execFileSync("git", ["init", "--quiet"], { cwd: folder });
    const listed = execFileSync("git", ["ls-files", "--others", "--exclude-standard"], {
      cwd: folder,
      encoding: "utf8",
    });
    const expected = listed.split("\n").filter((path) => path !== "" && !path.endsWith(".gitignore"));
    const { documents } = await read(readFolder(folder));
    const found = documents.map(({ uri }) => uri.slice(pathToFileURL(`${folder}/`).href.length));
    expect(found.toSorted()).toEqual(expected.toSorted());
    expect(await readIn(folder, { gitignore: false })).toHaveLength(13);
  });
});

describe("readFile", () => {
  test("a file that is named is read whatever its ending", async () => {
    const folder = await temporaryFolder({ "notes.xyz": "hello" });
    const source = readFile(join(folder, "notes.xyz"));
    const { documents } = await read(source);
    expect(documents).toMatchObject([{ text: "hello", title: "notes", source: source.id, uri: source.id }]);
  });

  test("a binary file that is named fails", async () => {
    const folder = await temporaryFolder({ "image.png": png });
    const { failures, skipped } = await read(readFile(join(folder, "image.png")));
    expect([...failures.values()]).toMatchObject([{ code: "binary" }]);
    expect(skipped).toEqual([]);
  });

  test("a missing file is an error that says so", async () => {
    const folder = await temporaryFolder();
    await expect(read(readFile(join(folder, "a.md")))).rejects.toMatchObject({ code: "missing" });
  });

  test("readPath reads a file or a folder, whichever exists", async () => {
    const folder = await temporaryFolder({ "a.md": "a" });
    expect(readPath(folder).id).toBe(readFolder(folder).id);
    expect(readPath(join(folder, "a.md")).id).toBe(readFile(join(folder, "a.md")).id);
  });
});
