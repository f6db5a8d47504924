import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync, symlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { GitRepository } from "../../../src/load/sources/git-repository.js";
import { readGit } from "../../../src/load/sources/read-git.js";
import { readPath } from "../../../src/load/read-path.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const hasGit = spawnSync("git", ["--version"]).status === 0;

/** A repository with three authors, a branch that was merged, and files of several kinds. */
async function repository() {
  const folder = await temporaryFolder();
  let hour = 0;
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, "-c", "commit.gpgsign=false", ...args], { encoding: "utf8" });
  const write = (path: string, text: string | Uint8Array) => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const commit = (author: string) => {
    const date = `2024-03-05T${String(hour++).padStart(2, "0")}:00:00+01:00`;
    git("add", "-A");
    execFileSync(
      "git",
      [
        "-C",
        folder,
        "-c",
        `user.name=${author}`,
        "-c",
        "user.email=a@example.com",
        "-c",
        "commit.gpgsign=false",
        "commit",
        "-qm",
        "change",
      ],
      {
        env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
      },
    );
  };
  git("init", "-q", "-b", "main");
  write("README.md", "# Handbook\n\nFirst words.\n");
  write("docs/leave.md", "# Leave\n\nTwo weeks.\n");
  write("docs/über uns.txt", "Über uns\n");
  write("people.csv", "id,name\n7,Zoë\n");
  write("logo.png", Buffer.from("\x89PNG\r\n", "latin1"));
  write("empty.txt", "");
  write(".hidden/x.md", "hidden");
  write("server.key", "secret");
  symlinkSync("README.md", join(folder, "link.md"));
  commit("Anna");
  git("tag", "v1");
  git("checkout", "-qb", "side");
  write("docs/leave.md", "# Leave\n\nThree weeks.\n");
  commit("Paul");
  git("checkout", "-q", "main");
  write("README.md", "# Handbook\n\nNew words.\n");
  commit("Zoë");
  git("-c", "user.name=Merger", "-c", "user.email=m@example.com", "merge", "-q", "--no-edit", "side");
  return { folder, git, write, commit };
}

async function read(address: string, stored?: Parameters<typeof createRunContext>[0]) {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event), ...stored });
  const documents = await collect(readGit(address).read(context));
  const skipped = events.flatMap((event) => (event.type === "skipped" ? [event.uri.split("/").at(-1)] : []));
  return { documents, skipped, failures: [...context.failures.values()] };
}

describe.skipIf(!hasGit)("a git repository", () => {
  test("is read at its commit, with who changed each file last and when, as git itself says of each", async () => {
    const { folder, git, write } = await repository();
    write("README.md", "# Not committed\n");
    const { documents, skipped, failures } = await read(`git:${folder}`);
    const base = pathToFileURL(folder).href.replace("file:", "git:");
    expect(documents.map(({ uri, text }) => [uri.slice(base.length + 1), text])).toEqual([
      ["README.md", "# Handbook\n\nNew words.\n"],
      ["docs/leave.md", "# Leave\n\nThree weeks.\n"],
      ["docs/%C3%BCber%20uns.txt", "Über uns\n"],
      ["people.csv#7", "name: Zoë"],
    ]);
    for (const { uri, metadata } of documents) {
      const path = decodeURIComponent(uri.slice(base.length + 1).split("#")[0]!);
      const [lastCommit, lastAuthor, modified] = git("log", "-1", "--format=%H%n%aN%n%aI", "--", path)
        .trim()
        .split("\n");
      expect.soft(metadata, path).toMatchObject({ lastCommit, lastAuthor, modified });
    }
    expect(documents.map(({ metadata }) => metadata!["lastAuthor"])).toEqual(["Zoë", "Paul", "Anna", "Anna"]);
    expect(skipped).toEqual(["empty.txt", "logo.png", "server.key"]);
    expect(failures).toEqual([]);
  });

  test("is read at a tag, also where its folder is gone, and a folder of it alone", async () => {
    const { folder } = await repository();
    rmSync(join(folder, "docs"), { recursive: true });
    const { documents } = await read(`git:${folder}#v1`);
    expect(documents[1]).toMatchObject({
      text: "# Leave\n\nTwo weeks.\n",
      uri: expect.stringMatching(/docs\/leave\.md\?at=v1$/),
    });
    mkdirSync(join(folder, "docs"));
    const parts = await read(`git:${folder}/docs`);
    expect(parts.documents.map(({ metadata, title }) => [title, metadata!["lastAuthor"]])).toEqual([
      ["Leave", "Paul"],
      ["über uns", "Anna"],
    ]);
  });

  test("gives a file that no commit changed since as it is stored, without reading it", async () => {
    const { folder, write, commit } = await repository();
    const before = new Map(
      (await read(`git:${folder}`)).documents.map((document) => [
        document.uri,
        { ...document, text: `stored ${document.text}` },
      ]),
    );
    write("docs/leave.md", "# Leave\n\nFour weeks.\n");
    commit("Anna");
    const source = readGit(`git:${folder}`);
    const context = { ...createRunContext(), stored: async (uri: string) => before.get(uri) };
    const texts = (await collect(source.read(context as never))).map(({ text }) => text.split("\n")[0]);
    expect(texts).toEqual(["stored # Handbook", "# Leave", "stored Über uns", "name: Zoë"]);
    expect(await source.vanished("git:///elsewhere", source.id)).toBe(true);
    expect(await source.vanished("git:///elsewhere", "file:///other/")).toBe(false);
  });

  test("that is none, or has no such commit, says so, and an option is no commit", async () => {
    const { folder } = await repository();
    const failure = (address: string) => collect(readGit(address)).catch((error: Error) => error);
    expect(await failure(`git:${await temporaryFolder()}`)).toMatchObject({
      code: "missing",
      message: expect.stringContaining("not a git repository"),
    });
    expect(await failure(`git:${folder}#v9`)).toMatchObject({
      code: "missing",
      message: expect.stringContaining("has no commit v9"),
    });
    expect(await failure(`git:${folder}#--output=x`)).toMatchObject({ code: "missing" });
  });

  test("runs nothing that its own settings name", async () => {
    const { folder, git } = await repository();
    const trap = `sh -c 'touch ${join(folder, "trapped")}'`;
    for (const name of [
      "core.fsmonitor",
      "core.pager",
      "diff.external",
      "gpg.program",
      "core.sshCommand",
      "filter.x.smudge",
    ])
      git("config", name, trap);
    git("config", "log.showSignature", "true");
    await read(`git:${folder}`);
    expect(spawnSync("ls", [folder], { encoding: "utf8" }).stdout).not.toContain("trapped");
  });

  test("of a thousand commits is read back no further than needed, and its address may come from a command line", async () => {
    const folder = await temporaryFolder();
    const many = Array.from(
      { length: 1000 },
      (_, at) =>
        `commit refs/heads/main\ncommitter A <a@b> ${1_700_000_000 + at} +0000\ndata 1\nx\nM 100644 inline f${at % 100}.md\ndata 5\n# ${String(at).padStart(3, "0")}\n`,
    );
    execFileSync("git", ["-C", folder, "init", "-q", "-b", "main"]);
    execFileSync("git", ["-C", folder, "fast-import", "--quiet"], { input: many.join("\n") });
    const documents = await collect(readPath(`git:${folder}`));
    expect(documents).toHaveLength(100);
    expect(documents[0]).toMatchObject({
      title: "900",
      metadata: { modified: expect.stringMatching(/^2023-11-14T22:28:20/) },
    });
  });

  test("gives a renamed file under its new name, by whom it was renamed, and follows no link and no submodule out of it", async () => {
    const { folder, git, write, commit } = await repository();
    const other = await repository();
    const secret = await temporaryFolder({ "outside.md": "# Outside\n" });
    git("mv", "docs/leave.md", "docs/holidays.md");
    symlinkSync(secret, join(folder, "folder-outside"));
    symlinkSync(join(secret, "outside.md"), join(folder, "outside.md"));
    symlinkSync("../../../../../../../../etc/passwd", join(folder, "passwd.txt"));
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.folder, "vendor");
    write("UPPER.MD", "# Upper\n");
    commit("Rita");
    const { documents, failures } = await read(`git:${folder}`);
    expect(failures).toEqual([]);
    expect(
      documents.map(({ uri }) =>
        decodeURIComponent(uri).slice(decodeURIComponent(uri).indexOf(folder) + folder.length),
      ),
    ).toEqual(["/README.md", "/UPPER.MD", "/docs/holidays.md", "/docs/über uns.txt", "/people.csv#7"]);
    expect(documents[2]!.metadata).toMatchObject({ lastAuthor: "Rita" });
    expect(documents[2]!.text).toBe("# Leave\n\nThree weeks.\n");
  });

  test("is read back no further than it may be, and older files have no author then", async () => {
    const { folder } = await repository();
    const files = await GitRepository.open(folder, "HEAD", `git:${folder}`, new AbortController().signal);
    const changes = await files.lastChanges(["README.md", "docs/leave.md", "people.csv"], 3);
    expect([...changes].map(([path, { author }]) => [path, author])).toEqual([
      ["README.md", "Zoë"],
      ["docs/leave.md", "Paul"],
    ]);
  });

  test("of a broken object store is a failure, not an endless wait", async () => {
    const { folder, git } = await repository();
    const blob = git("rev-parse", "HEAD:README.md").trim();
    rmSync(join(folder, ".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true });
    const { failures, documents } = await read(`git:${folder}`).catch((error: Error) => ({
      failures: [error],
      documents: [],
    }));
    expect(failures.length).toBeGreaterThan(0);
    expect(documents.every(({ title }) => title !== "Handbook")).toBe(true);
  });
});
