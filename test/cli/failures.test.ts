import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { describeWarning } from "../../src/cli/output/failure.js";
import { startLocalService } from "../../src/local/service.js";
import { openStore } from "../../src/store/open-store.js";
import { citewell, citewellJson, type AskJson, type IndexJson } from "../support/citewell-here.js";
import { citewell as citewellProcess, commandFile, handbook } from "../support/citewell.js";
import { scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const embedding = { space: "citewell/local-lexical-m3" } as const;

/** The documents of a store, to compare before and after. */
async function contents(cwd: string) {
  const store = await openStore(join(cwd, ".citewell"), embedding, { create: false });
  try {
    return { documents: await store.documents(), counts: await store.counts() };
  } finally {
    await store.close();
  }
}

let cwd: string;

describe("a failure is one readable line with the right exit code, and leaves the store as it was", () => {
  beforeAll(async () => {
    const { mkdtemp } = await import("node:fs/promises");
    const { tmpdir } = await import("node:os");
    cwd = await mkdtemp(join(tmpdir(), "citewell-test-"));
    await cp(handbook, join(cwd, "docs"), { recursive: true });
    await mkdir(join(cwd, "empty"));
    await mkdir(join(cwd, "more"));
    await writeFile(join(cwd, "more/new.md"), "# New\n\nSomething that was not indexed yet.\n");
    await writeFile(join(cwd, "program.bin"), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0, 0, 255, 254, 0]));
    const { exitCode, stderr } = await citewell(["index", "docs"], { cwd });
    if (exitCode !== 0) throw new Error(stderr);
  }, 60_000);

  const unreachable = { CITEWELL_BASE_URL: "http://127.0.0.1:9", CITEWELL_API_KEY: "sk-very-secret-key" };
  const models = {
    CITEWELL_EMBEDDING_MODEL: "citewell/local-lexical-m3",
    CITEWELL_CHAT_MODEL: "citewell/local-extractive",
  };

  async function expectFailure(
    words: readonly string[],
    exitCode: number,
    line: RegExp,
    environment: Record<string, string> = {},
  ) {
    const before = await contents(cwd);
    const finished = await citewell(words, { cwd, environment });
    expect(finished).toMatchObject({ exitCode, stdout: "" });
    expect(finished.stderr).toMatch(line);
    expect(finished.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(finished.stderr).not.toContain("sk-very-secret-key");
    expect(await contents(cwd)).toEqual(before);
  }

  test("a wrong key", async () => {
    const service = await startLocalService({ apiKey: "right" });
    try {
      const wrong = { ...models, CITEWELL_BASE_URL: service.url, CITEWELL_API_KEY: "sk-very-secret-key" };
      await expectFailure(["index", "more"], 2, /^citewell: .*key.*127\.0\.0\.1/i, wrong);
      await expectFailure(["ask", "How many days of leave?"], 2, /^citewell: .*key/i, wrong);
    } finally {
      await service.close();
    }
  });

  test("an upstream that cannot be reached", { timeout: 60_000 }, async () => {
    await expectFailure(["index", "more"], 1, /^citewell: .*127\.0\.0\.1:9/, { ...models, ...unreachable });
  });

  test("an empty folder", () => expectFailure(["index", "empty"], 2, /^citewell: .*empty.*\.md/));

  test("a path that does not exist", () =>
    expectFailure(["index", "no-such-folder"], 2, /^citewell: .*no-such-folder/));

  test("an over-long question", () =>
    expectFailure(["ask", "why ".repeat(20_000)], 2, /^citewell: .*20,?\d{3}.*8,?192/));

  test("a model with another vector space than the store", () =>
    expectFailure(
      ["index", "docs", "--embedding-model", "citewell/local-lexical"],
      2,
      /^citewell: .*local-lexical-m3.*local-lexical/,
    ));

  test("asking without a store", () =>
    expectFailure(["ask", "anything", "--store", "elsewhere"], 2, /^citewell: .*elsewhere.*citewell index/));

  test("a service without a model name", () =>
    expectFailure(["index", "docs"], 2, /^citewell: .*CITEWELL_EMBEDDING_MODEL/, unreachable));

  test("a binary file among the paths fails alone", async () => {
    const before = await contents(cwd);
    const report = await citewell(["index", "program.bin", "--json"], { cwd });
    expect(report.exitCode).toBe(1);
    expect((JSON.parse(report.stdout) as IndexJson).failures).toEqual([
      { uri: expect.stringMatching(/program\.bin$/), error: expect.stringMatching(/not text/) },
    ]);
    expect(await contents(cwd)).toEqual(before);
  });
});

test("a first run that fails leaves no store behind", { timeout: 60_000 }, async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "empty"));
  await citewell(["index", "empty"], { cwd: folder });
  const unreachable = {
    CITEWELL_BASE_URL: "http://127.0.0.1:9",
    CITEWELL_API_KEY: "k",
    CITEWELL_EMBEDDING_MODEL: "m3",
  };
  await citewell(["index", handbook], { cwd: folder, environment: unreachable });
  expect(await readdir(folder)).toEqual(["empty"]);
});

test("a file with <|endoftext|> in it is indexed like any other text", async () => {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, "special.md"),
    "# Special words\n\nThe marker <|endoftext|> ends a training text. <|im_start|> too.\n",
  );
  const report = await citewellJson<IndexJson>(["index", "special.md"], { cwd: folder });
  expect(report.documents).toMatchObject({ added: 1, failed: 0 });
  const { answer, citations } = await citewellJson<AskJson>(["ask", "What does the marker <|endoftext|> end?"], {
    cwd: folder,
  });
  expect(answer).toContain("training text");
  expect(citations[0]).toMatchObject({ supported: true });
});

test("binary files in a folder are skipped with a note, and the others are indexed", async () => {
  const folder = await temporaryFolder();
  await cp(handbook, join(folder, "docs"), { recursive: true });
  await writeFile(join(folder, "docs/logo.md"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]));
  const { exitCode, stdout } = await citewell(["index", "docs"], { cwd: folder });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/3 added/);
  expect(stdout).toMatch(/Skipped {4}1\n {2}docs\/logo\.md is not text: .*PNG/);
});

describe("misuse", () => {
  test.each([
    [[], /Usage: citewell/],
    [["indx", "docs"], /unknown command 'indx'/],
    [["index"], /missing required argument/],
    [["search", "x", "--mode", "fuzzy"], /hybrid, dense, lexical/],
    [["search", "x", "--limit", "0"], /whole number from 1 to 1000/],
    [["chunk", "x.md", "--max-tokens", "many"], /whole number from 16 to 8192/],
  ])("%j exits 2 and says what is wrong", async (words, message) => {
    const { exitCode, stdout, stderr } = await citewell(words);
    expect(exitCode).toBe(2);
    expect(stdout + stderr).toMatch(message);
  });
});

test("Ctrl-C stops cleanly, keeps what was paid for, and says how to go on", { timeout: 60_000 }, async () => {
  const folder = await temporaryFolder();
  // Slow enough that the first vectors are seen long before the last.
  const service = await startLocalService({ apiKey: "k", faults: { latencyMs: { embeddings: 500 } } });
  try {
    await mkdir(join(folder, "docs"));
    for (let n = 0; n < 3000; n++) {
      await writeFile(
        join(folder, `docs/${n}.md`),
        `# Note ${n}\n\nThis is note number ${n}, about subject ${n * 7919}.\n`,
      );
    }
    const environment = {
      CITEWELL_BASE_URL: service.url,
      CITEWELL_API_KEY: "k",
      CITEWELL_EMBEDDING_MODEL: "citewell/local-lexical-m3",
    };
    const child = spawn(process.execPath, [commandFile, "index", "docs"], {
      cwd: folder,
      env: { ...process.env, ...environment },
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    await expect
      .poll(
        () =>
          contents(folder).then(
            ({ counts }) => counts.vectors,
            () => 0,
          ),
        { timeout: 30_000 },
      )
      .toBeGreaterThan(0);
    child.kill("SIGINT");
    const [exitCode] = await once(child, "close");
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(
      /^Stopped with [\d,]+ documents done and [\d,]+ chunks embedded; they are kept\. Run the same command again/m,
    );
    const kept = await contents(folder);
    const report = await citewellJson<IndexJson>(["index", "docs"], { cwd: folder, environment });
    expect(report.documents).toEqual({
      added: 3000 - kept.counts.documents,
      updated: 0,
      unchanged: kept.counts.documents,
      deleted: 0,
      failed: 0,
    });
    expect(report.chunks.embedded).toBe(3000 - kept.counts.vectors);
  } finally {
    await service.close();
  }
});

describe("nothing that was typed or that a service said is a command to the terminal", () => {
  const control = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E]/; // oxlint-disable-line no-control-regex
  const clear = "\u001B[2J\u001B]0;title\u0007\u009B31m\u202E";

  test.each([
    [["index", `no${clear}where`]],
    [["search", "moles", "--why", `a${clear}`]],
    [["search", "moles", "--mode", `a${clear}`]],
    [["remove", `a${clear}.md`]],
    [[`index${clear}`]],
    [["index", `--${clear}`]],
    [["eval", `a${clear}`]],
    [["chat", "--conversation", `a${clear}`]],
    [["--debug", "chunk", `a${clear}.md`]],
  ])("%j", async (words) => {
    const folder = await temporaryFolder({ "docs/a.md": "A mole digs." });
    await citewell(["index", "docs"], { cwd: folder });
    const { stdout, stderr } = await citewell(words, { cwd: folder, input: `/${clear}\n` });
    expect(stderr).toContain("\uFFFD");
    expect(stdout + stderr).not.toMatch(control);
  });

  test("a message of the service", async () => {
    const json = { code: 20012, message: `No such model.${clear}`, data: null };
    const upstream = await scriptedUpstream(Array.from({ length: 9 }, () => ({ status: 400, json })));
    const folder = await temporaryFolder({ "docs/a.md": "A mole digs." });
    const environment = { CITEWELL_BASE_URL: upstream.baseUrl, CITEWELL_API_KEY: "k", CITEWELL_EMBEDDING_MODEL: "m" };
    for (const words of [
      ["index", "docs"],
      ["search", "mole"],
      ["video", "get", "1"],
      ["--debug", "index", "docs"],
    ]) {
      const { stdout, stderr } = await citewell(words, { cwd: folder, environment });
      expect(stdout + stderr).not.toMatch(control);
    }
  });
});

test("a warning of Node's own is a line of the command in place of the progress line, and one in a thread is kept out of it", async () => {
  const late =
    "import { isMainThread } from 'worker_threads'; " +
    "isMainThread ? setTimeout(() => process.emitWarning('late news'), 200) : process.emitWarning('news of a thread')";
  const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(late)}` };
  const folder = await temporaryFolder({ "docs/a.md": "A mole digs." });
  const { stderr } = await citewellProcess(["index", "docs"], { cwd: folder, environment });
  expect(stderr).toBe("citewell: Node.js warns (Warning): late news\n");
  const warning = Object.assign(new Error("late\nnews\u001B[2J"), { name: "Warning" });
  expect(describeWarning(warning, { isTTY: true })).toBe(
    "\r\u001B[2Kcitewell: Node.js warns (Warning): late news\uFFFD[2J\n",
  );
});
