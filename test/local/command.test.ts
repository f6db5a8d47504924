// In test:all alone: it starts the command for each case, for 7 s.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { localBanner } from "../../src/cli/commands/local.js";
import { citewell, commandFile } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { call, eventually } from "./call.js";
import { paths, post, type Target } from "./conformance.js";

let child: ChildProcess | undefined;
afterEach(() => child?.kill("SIGKILL"));

/** Starts the command and reads its first line. */
async function local(words: readonly string[], cwd?: string): Promise<Target> {
  const running = spawn(process.execPath, [commandFile, "local", "--json", ...words], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = running;
  const [line] = (await once(createInterface(running.stdout), "line")) as [string];
  const target = JSON.parse(line) as Target;
  expect(Object.keys(target)).toEqual(["url", "apiKey"]);
  return target;
}

test("the first line holds the address and the key, and Ctrl-C stops the service cleanly", async () => {
  const target = await local(["--api-key", "secret"]);
  expect(target.apiKey).toBe("secret");
  expect(target.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const answer = await post(target, paths.embeddings, { model: "citewell/local-lexical", input: "a" });
  expect(answer.status).toBe(200);
  child?.kill("SIGINT");
  expect(await once(child!, "exit")).toEqual([0, null]);
});

test("with logging on, every request is logged on stderr without the key or a link's secret", async () => {
  const running = spawn(process.execPath, [commandFile, "local", "--json", "--log", "--api-key", "secret-key"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child = running;
  let log = "";
  running.stderr.on("data", (part: Buffer) => (log += part.toString()));
  const [line] = (await once(createInterface(running.stdout), "line")) as [string];
  const target = JSON.parse(line) as Target;
  await post(target, paths.embeddings, { model: "citewell/local-lexical", input: "a" });
  await call(target, "GET", "/files/cgt-1/video.mp4?link=secret-link");
  await eventually(() => expect(log.trim().split("\n")).toHaveLength(2));
  const [good, bad] = log
    .trim()
    .split("\n")
    .map((one) => JSON.parse(one) as unknown);
  const common = {
    time: expect.any(String),
    requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    milliseconds: expect.any(Number),
    aborted: false,
  };
  expect(good).toEqual({ ...common, method: "POST", path: paths.embeddings, status: 200 });
  expect(bad).toEqual({ ...common, method: "GET", path: "/files/cgt-1/video.mp4", status: 404 });
  expect(log).not.toContain("secret");
});

test("faults are read from a file, and the clock runs at the given time scale", async () => {
  const cwd = await temporaryFolder({
    "faults.json": JSON.stringify({ next: [{ operation: "rerank", status: 503 }] }),
  });
  const target = await local(["--faults", "faults.json", "--time-scale", "1000"], cwd);
  const rank = { model: "citewell/local-lexical-rerank", query: "a", documents: ["a"] };
  expect((await post(target, paths.rerank, rank)).status).toBe(503);
  expect((await post(target, paths.rerank, rank)).status).toBe(200);
  const video = { model: "vendor/vendor-video-2.0", content: [{ type: "text", text: "a cat" }] };
  const { id } = (await post(target, paths.createVideoTask, video)).body as { readonly id: string };
  await eventually(async () => {
    expect((await call(target, "GET", `${paths.createVideoTask}/${id}`)).body).toMatchObject({ status: "succeeded" });
  });
});

test.each([
  [["--faults", "nowhere.json"], /Cannot read faults from .*nowhere\.json/],
  [["--time-scale", "0"], /above 0/],
  [["--models", "nowhere"], /folder of models cannot be read/],
])("%j is misuse, and says why", async (words, message) => {
  const { exitCode, stderr } = await citewell(["local", ...words], { cwd: await temporaryFolder() });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(message);
});

test("an unknown fault is misuse", async () => {
  const cwd = await temporaryFolder({ "faults.json": '{"nxt":[]}' });
  const { exitCode, stderr } = await citewell(["local", "--faults", "faults.json"], { cwd });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("nxt");
});

test("the banner says that no neural model answers, or from which folder they come", () => {
  const service = {
    url: "http://127.0.0.1:7",
    apiKey: "k",
    models: [{ id: "owner/small", type: "embedding" as const }],
  };
  const lexical = localBanner(service, undefined, false);
  expect(lexical).toMatch(/^Local inference service: lexical engines, no neural model, no network\.\n/);
  expect(lexical).not.toContain("Faults");
  const neural = localBanner(service, "/models", true);
  expect(neural).toMatch(/^Local inference service: neural models of \/models and lexical engines, no network\.\n/);
  expect(neural).toContain("  embedding owner/small\n");
  expect(neural).toContain("Faults: ");
});
