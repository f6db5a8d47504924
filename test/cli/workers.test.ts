import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { IngestStatus } from "../../src/knowledge-base/workers/status.js";
import { citewell, citewellJson, commandFile, type SearchJson } from "../support/citewell.js";
import { embeddingReply } from "../support/embedding-service.js";
import { noPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.js";
import { citewellInTerminal, hasTerminal } from "../support/run-in-terminal.js";
import { scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { workerModel } from "../support/worker-process.js";

const files = {
  "docs/keys.md": "# Keys\n\nAda keeps the recovery key.\n",
  "docs/doors.md": "# Doors\n\nThe north door closes at nine.\n",
  "docs/moles.md": "# Moles\n\nA mole digs.\n",
};

test.each(["work", "status"])("%s --help shows commands to copy, with flags that it has", async (name) => {
  const { exitCode, stdout } = await citewell([name, "--help"]);
  expect(exitCode).toBe(0);
  const examples = stdout.split("\n").filter((line) => line.startsWith(`  $ citewell ${name}`));
  expect(examples.length).toBeGreaterThan(0);
  const options = stdout.slice(stdout.indexOf("Options:"), stdout.indexOf("$ citewell"));
  for (const [flag] of examples.join("\n").matchAll(/--[a-z-]+/g)) expect(options).toContain(flag);
});

test("the queue's commands say what they need where the store is a folder", async () => {
  const cwd = await temporaryFolder(files);
  for (const words of [["index", "docs", "--enqueue"], ["work"], ["status"]]) {
    const { exitCode, stderr } = await citewell(words, { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^citewell: The queue for workers is in a PostgreSQL database: .*--store postgres:.*\n$/);
  }
});

describe.skipIf(noPostgres)("the commands of the queue", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.remove());

  test("queue a folder, work it off and say how far they are, in words", async () => {
    const cwd = await temporaryFolder(files);
    const environment = { CITEWELL_STORE: await server.createDatabase("words") };
    const run = (...words: string[]) => citewell(words, { cwd, environment });
    const unknown = await run("status");
    expect(unknown).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await run("index", "docs", "--enqueue")).toMatchObject({
      exitCode: 0,
      stdout: "Documents  3 queued\nWorkers take them now: citewell work. See how far they are: citewell status.\n",
    });
    expect((await run("status")).stdout).toBe(
      "Waiting    3 documents waiting  0 workers  0.0 documents/s\n" +
        "           0 with a worker, 0 tried again later\n" +
        "Documents  none\n" +
        "Upstream   0 requests, 0 tokens, 0 chunks embedded\n" +
        "No worker is at work. Start one: citewell work\n",
    );
    const worked = await run("work", "--until-done");
    expect(worked).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Documents {2}3 added in \d.* s\n$/) as string,
      stderr: "Waiting for jobs. Stop with Ctrl-C: the jobs at work are finished or given back.\n",
    });
    const done = await run("status", "--watch");
    expect(done.exitCode).toBe(0);
    expect(done.stdout).toMatch(
      /^Done {7}nothing waits\nDocuments {2}3 added\nUpstream {3}\d requests?, \d+ tokens, 3 chunks embedded\n$/,
    );
  });

  test("print one object each with --json, and a line for each document that a worker ends", async () => {
    const cwd = await temporaryFolder(files);
    const environment = { CITEWELL_STORE: await server.createDatabase("objects") };
    const queued = await citewellJson(["index", "docs", "--enqueue"], { cwd, environment });
    expect(queued).toMatchObject({ run: 1, documents: { queued: 3, failed: 0 }, failures: [], skipped: [] });
    const { exitCode, stdout } = await citewell(["work", "--until-done", "--json"], { cwd, environment });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(exitCode).toBe(0);
    expect(lines.slice(0, 3)).toEqual(
      lines
        .slice(0, 3)
        .map(() => ({ uri: expect.stringMatching(/^file:.*\.md$/) as string, outcome: "added", chunks: 1 })),
    );
    expect(lines.slice(3)).toEqual([
      expect.objectContaining({ documents: expect.objectContaining({ added: 3 }) as object }),
    ]);
    const status = await citewellJson<IngestStatus>(["status"], { cwd, environment });
    expect(status).toMatchObject({ isDone: true, documents: { added: 3, waiting: 0 }, members: [], failures: [] });
    const { hits } = await citewellJson<SearchJson>(["search", "recovery key"], { cwd, environment });
    expect(hits[0]!.text).toContain("recovery key");
  });

  test("end on Ctrl-C: a worker when its jobs are done, the watch at once", async () => {
    const cwd = await temporaryFolder(files);
    let answer: (() => void) | undefined;
    const upstream = await scriptedUpstream((request) => ({
      ...embeddingReply(request),
      after: new Promise<void>((resolve) => (answer = resolve)),
    }));
    const environment = {
      CITEWELL_STORE: await server.createDatabase("stopped"),
      CITEWELL_BASE_URL: upstream.baseUrl,
      CITEWELL_API_KEY: "sk-0123456789",
      CITEWELL_EMBEDDING_MODEL: workerModel,
    };
    await citewell(["index", "docs", "--enqueue"], { cwd, environment });
    const start = (...words: string[]) => {
      const child = spawn(process.execPath, [commandFile, ...words], { cwd, env: { ...process.env, ...environment } });
      const said = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const) {
        child[name].setEncoding("utf8").on("data", (text: string) => (said[name] += text));
      }
      return { child, said, ended: once(child, "close") };
    };
    const worker = start("work");
    await expect.poll(() => answer, { timeout: 30_000 }).toBeDefined();
    const watch = start("status", "--watch", "--json");
    await expect.poll(() => watch.said.stdout, { timeout: 30_000 }).toContain('"working":3');
    watch.child.kill("SIGINT");
    expect(await watch.ended).toEqual([130, null]);
    expect(watch.said.stderr).toBe("");
    worker.child.kill("SIGINT");
    await expect.poll(() => worker.said.stderr, { timeout: 30_000 }).toContain("Finishing the jobs at work.");
    answer!();
    expect(await worker.ended).toEqual([0, null]);
    expect(worker.said.stdout).toMatch(/^Documents {2}3 added in /);
    const status = await citewellJson<IngestStatus>(["status"], { cwd, environment });
    expect(status).toMatchObject({ isDone: true, documents: { added: 3 }, members: [] });
  });

  test("say after Ctrl-C while a source is read what stays queued", async () => {
    const cwd = await temporaryFolder();
    const silent = await scriptedUpstream(() => ({ hang: true }));
    const words = ["index", `${silent.baseUrl}/page`, "--allow-private", "--enqueue", "--store"];
    const child = spawn(process.execPath, [commandFile, ...words, await server.createDatabase("reading")], { cwd });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    await expect.poll(() => silent.requests.length, { timeout: 30_000 }).toBe(1);
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
    expect(stderr).toBe("Stopped; what is queued stays queued. Run the same command again to queue the rest.\n");
  });

  test.skipIf(!hasTerminal)("show on a terminal how far they are in one line, which is gone at the end", async () => {
    const cwd = await temporaryFolder(files);
    const environment = { CITEWELL_STORE: await server.createDatabase("terminal") };
    await citewellInTerminal(["index", "docs", "--enqueue"], { cwd, environment });
    const { screen } = await citewellInTerminal(["work", "--until-done"], { cwd, environment });
    const lines = screen.replaceAll("\r\u001B[2K", "|");
    expect(lines).toMatch(/^Waiting for jobs.*\n(?:\|\d added)+\|Documents {2}3 added in .* s\n$/);
  });
});
