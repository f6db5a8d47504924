import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { run } from "../../src/cli/program.js";
import { explainSlowClose } from "../../src/cli/command-context.js";
import { startLocalService } from "../../src/local/service.js";
import { citewell, commandFile, handbook } from "../support/citewell.js";
import { scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe("Ctrl-C before anything is done", () => {
  test.each([
    ["index", "Stopped before anything was done. Run the same command again to begin.\n"],
    ["plan", "Stopped; nothing was sent or changed.\n"],
  ])("in %s says so and leaves nothing behind", async (command, sentence) => {
    const cwd = await temporaryFolder();
    const silent = await scriptedUpstream(() => ({ hang: true }));
    const child = spawn(process.execPath, [commandFile, command, `${silent.baseUrl}/page`, "--allow-private"], { cwd });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    await expect.poll(() => silent.requests.length, { timeout: 15_000 }).toBe(1);
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
    expect(stderr).toBe(sentence);
    expect(await readdir(cwd)).toEqual([]);
  });
});

test("a run that fails in the middle says what is kept and how to go on, then why", async () => {
  const cwd = await temporaryFolder();
  await cp(handbook, join(cwd, "docs"), { recursive: true });
  await citewell(["index", "docs"], { cwd });
  await writeFile(join(cwd, "docs/moles.md"), "# Moles\n\nA mole digs.\n");
  const service = await startLocalService({
    apiKey: "service-key",
    faults: { next: [{ operation: "embeddings", status: 401, message: "Invalid token" }] },
  });
  try {
    const environment = {
      CITEWELL_BASE_URL: service.url,
      CITEWELL_API_KEY: "service-key",
      CITEWELL_EMBEDDING_MODEL: "citewell/local-lexical-m3",
    };
    const { exitCode, stdout, stderr } = await citewell(["index", "docs"], { cwd, environment });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(
      /^Stopped with \d documents done and 0 chunks embedded; they are kept\. Run the same command again to go on\.\ncitewell: .*Invalid token.*\n$/,
    );
  } finally {
    await service.close();
  }
});

test.skipIf(process.platform === "win32")("a run that the disk had no room for says how much is kept", async () => {
  const note = (at: number) =>
    Array.from(
      { length: 100 },
      (_, line) => `Mole ${at} digs tunnel ${at * line} below house ${line} of ${at + line}.`,
    );
  const notes = Array.from({ length: 120 }, (_, at) => [`docs/${at}.md`, note(at).join("\n\n")]);
  const cwd = await temporaryFolder(Object.fromEntries(notes) as Record<string, string>);
  // No file may be longer than 1.5 MB: blocks of 512 bytes.
  const limited = ["-c", 'ulimit -f 3000 && exec "$0" "$@"', process.execPath, commandFile, "index", "docs"];
  const { status, stderr } = spawnSync("sh", limited, { cwd, encoding: "utf8" });
  expect(status).toBe(1);
  const [, ...said] =
    /^Stopped with (\d+) documents done and (\d+) chunks embedded; they are kept\./.exec(stderr) ?? [];
  const { stdout } = await citewell(["stats", "--json"], { cwd });
  const { documents, vectors } = JSON.parse(stdout) as Record<"documents" | "vectors", number>;
  const [saidDocuments, saidChunks] = said.map(Number);
  expect(saidChunks).toBe(vectors);
  // The document that was written last may be kept without its note.
  expect([documents, documents - 1]).toContain(saidDocuments);
  expect(vectors).toBeGreaterThan(0);
});

test("a count of one is written in the singular", async () => {
  const cwd = await temporaryFolder({ "a.md": "# Moles\n\nA mole digs.\n" });
  for (const words of [
    ["plan", "a.md"],
    ["index", "a.md"],
    ["migrate", "--chunk-tokens", "20"],
  ]) {
    const { stdout } = await citewell(words, { cwd });
    expect(stdout).toMatch(/\b[01] requests?, \d+ tokens/);
    expect(stdout).not.toMatch(/\b1 \w+s\b/);
  }
});

test("a slow close is explained, with the effect of Ctrl-C; a quick one is not", async () => {
  const said: string[] = [];
  const notes = { write: (text: string) => said.push(text) > 0 } as unknown as NodeJS.WriteStream;
  const io = { notes, signal: new AbortController().signal };
  await explainSlowClose(io, async () => {}, 5);
  await sleep(20);
  expect(said).toEqual([]);
  await explainSlowClose(io, () => sleep(60), 5);
  expect(said).toEqual([expect.stringMatching(/^Updating the search index\. Ctrl-C ends that and loses nothing/)]);
});

test.each([
  [["verify"], "Stopped; the store is as it was. Run the same command again.\n"],
  [
    ["eval", "set", "--store", "measured"],
    "Stopped without a result; what was embedded is kept. Run the same command again.\n",
  ],
])("Ctrl-C in %j says what it leaves behind, and the same command works again", async (words, sentence) => {
  const directory = await temporaryFolder({
    "docs/keys.md": "Keys expire.\n",
    "set/corpus.jsonl": `{"_id":"d1","title":"","text":"Keys expire."}\n`,
    "set/queries.jsonl": `{"_id":"q1","text":"keys"}\n`,
    "set/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
  });
  await citewell(["index", "docs"], { cwd: directory });
  const printed = { stdout: "", stderr: "" };
  const into = (stream: keyof typeof printed) =>
    new PassThrough({ encoding: "utf8" }).on("data", (text: string) => (printed[stream] += text));
  const stopping = new AbortController();
  const io = {
    stdin: process.stdin,
    stdout: into("stdout"),
    stderr: into("stderr") as unknown as NodeJS.WriteStream,
    environment: {},
    directory,
  };
  const running = run({ ...io, signal: stopping.signal }, words);
  // Stops while the store is being opened, before the command has done anything.
  await new Promise(setImmediate);
  stopping.abort(new DOMException("Stopped by Ctrl-C", "AbortError"));
  expect(await running).toBe(130);
  expect(printed).toEqual({ stdout: "", stderr: sentence });
  expect(await run({ ...io, signal: new AbortController().signal }, words)).toBe(0);
});
