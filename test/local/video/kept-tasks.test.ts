// In test:all alone: it kills and restarts the service as a process, for 11 s.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { openTaskDatabase } from "../../../src/local/video/task-database.js";
import { planVideo } from "../../../src/local/video/video-plan.js";
import { untoldStates, type VideoTask } from "../../../src/local/video/video-task.js";
import { startLocalService, type LocalService, type LocalServiceOptions } from "../../../src/local/service.js";
import { openDatabase } from "../../../src/sqlite/database.js";
import { citewell, commandFile } from "../../support/citewell.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { call, eventually } from "../call.js";
import { paths, type Target } from "../conformance.js";

const tasksPath = paths.createVideoTask;
const model = "vendor/vendor-video-2.0";
const content = [{ type: "text", text: "a cat on a wall" }] as const;

const children: ChildProcess[] = [];
const services: LocalService[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await Promise.all(services.splice(0).map((service) => service.close()));
});

/** A service on a file, as `file` keeps it from one run to the next. */
async function start(file: string, { video, ...options }: LocalServiceOptions = {}): Promise<LocalService> {
  const service = await startLocalService({ apiKey: "secret", ...options, video: { ...video, file } });
  services.push(service);
  return service;
}

async function create(target: Target, request: object = {}): Promise<string> {
  const { body } = await call(target, "POST", tasksPath, { model, content, ...request });
  return (body as { readonly id: string }).id;
}

const query = (target: Target, id: string) => call(target, "GET", `${tasksPath}/${id}`);

async function temporaryFile(): Promise<string> {
  return join(await temporaryFolder(), "tasks.db");
}

/** The command, as a process of its own. */
async function command(words: readonly string[]): Promise<{ readonly child: ChildProcess; readonly target: Target }> {
  const child = spawn(process.execPath, [commandFile, "local", "--json", "--api-key", "secret", ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, target: JSON.parse(line) as Target };
}

const task: VideoTask = {
  id: "a",
  createdSeconds: 1000,
  queueSeconds: 2,
  runSeconds: 30,
  outcome: "succeeded",
  error: { code: "", message: "" },
  plan: planVideo({ model, content: [...content], seed: 1 }),
  callbackUrl: "http://127.0.0.1:1/",
  linkToken: "",
};

describe("after a restart", () => {
  test("a task of a killed service continues, succeeds and can be downloaded", async () => {
    const file = await temporaryFile();
    const words = ["--video-tasks", file, "--time-scale", "20"];
    const first = await command(words);
    const id = await create(first.target, { seed: 5, duration: 4, return_last_frame: true });
    const { body: before } = await query(first.target, id);
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    const { target } = await command(words);
    await eventually(async () => expect((await query(target, id)).body).toMatchObject({ status: "succeeded" }));
    const { body: after } = await query(target, id);
    const { created_at } = before as { readonly created_at: number };
    expect(after).toMatchObject({ id, created_at, updated_at: expect.any(Number), seed: 5, duration: 4 });
    // 2 seconds in the queue and 30 of work, whatever time the restart took: only the fractions of seconds are cut.
    const { updated_at, content: made } = after as {
      readonly updated_at: number;
      readonly content: Readonly<Record<"video_url" | "last_frame_url", string>>;
    };
    expect([32, 33]).toContain(updated_at - created_at);
    const video = await fetch(made.video_url);
    expect(video.headers.get("content-type")).toBe("video/mp4");
    expect(Buffer.from(await video.arrayBuffer()).toString("latin1", 4, 8)).toBe("ftyp");
    expect((await fetch(made.last_frame_url)).headers.get("content-type")).toBe("image/png");
  });

  test("an earlier link leads to the same bytes even when the service listens elsewhere", async () => {
    const file = await temporaryFile();
    const quick = { queueSeconds: 0, runSeconds: 0 };
    const first = await start(file, { video: quick });
    const id = await create(first);
    const { video_url: link } = ((await query(first, id)).body as { content: { video_url: string } }).content;
    const bytes = Buffer.from(await (await fetch(link)).arrayBuffer());
    await first.close();
    const second = await start(file);
    const moved = link.replace(first.url, second.url);
    expect((await query(second, id)).body).toMatchObject({ content: { video_url: moved } });
    expect(Buffer.from(await (await fetch(moved)).arrayBuffer()).equals(bytes)).toBe(true);
  });

  test("failed, cancelled and deleted tasks stay so, and the order stays newest first", async () => {
    const file = await temporaryFile();
    const first = await start(file, { video: { queueSeconds: 0, runSeconds: 0 }, faults: {} });
    const done = await create(first);
    await call(first, "PUT", "/local/faults", { video: { outcome: "failed" } });
    const failed = await create(first);
    const deleted = await create(first);
    await call(first, "DELETE", `${tasksPath}/${deleted}`);
    await first.close();
    const second = await start(file, { video: { queueSeconds: 1000 } });
    const cancelled = await create(second);
    await call(second, "DELETE", `${tasksPath}/${cancelled}`);
    const list = async (target: Target) => {
      const { text } = await call(target, "GET", tasksPath);
      return (JSON.parse(text.replaceAll(target.url, "")) as { readonly items: readonly object[] }).items;
    };
    const before = await list(second);
    await second.close();
    const third = await start(file);
    expect(await list(third)).toEqual(before);
    expect(before).toMatchObject([
      { id: cancelled, status: "cancelled" },
      { id: failed, status: "failed", error: { code: expect.any(String) } },
      { id: done, status: "succeeded" },
    ]);
    expect((await query(third, deleted)).status).toBe(404);
  });

  test("a receiver gets the final state reached while the service was down, and nothing twice", async () => {
    const heard: unknown[] = [];
    const hear = async (request: IncomingMessage, response: ServerResponse) => {
      heard.push(((await json(request)) as { readonly status: unknown }).status);
      response.end();
    };
    const receiver = createServer((request, response) => void hear(request, response)).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const file = await temporaryFile();
    const first = await start(file, { video: { queueSeconds: 0.3, runSeconds: 0.3 } });
    const id = await create(first, { callback_url });
    await eventually(() => expect(heard).toEqual(["queued"]));
    await first.close();
    await new Promise((resolve) => setTimeout(resolve, 700));
    const second = await start(file);
    await eventually(() => expect(heard).toEqual(["queued", "succeeded"]));
    await second.close();
    const third = await start(file, { video: { queueSeconds: 0 } });
    await create(third, { callback_url });
    await eventually(() => expect(heard).toContain("running"));
    expect(heard.filter((status) => status === "succeeded")).toHaveLength(1);
    expect((await query(third, id)).body).toMatchObject({ status: "succeeded" });
    receiver.closeAllConnections();
    receiver.close();
  });
});

describe("callbacks still to be sent", () => {
  const never = Number.NEGATIVE_INFINITY;

  test.each([
    ["nothing was told, and nothing has begun but the first", never, 1000, ["queued", "running", "succeeded"]],
    ["the first was told", 1000, 1001, ["running", "succeeded"]],
    ["two began meanwhile", never, 1003, ["running", "succeeded"]],
    ["all began meanwhile", never, 2000, ["succeeded"]],
    ["the last was told", 1032, 2000, []],
  ])("%s", (_, told, now, statuses) => {
    expect(untoldStates(task, told, now).map(({ status }) => status)).toEqual(statuses);
  });
});

describe("the clock kept in the file", () => {
  const seconds = () => Date.now() / 1000;

  test("continues at its last speed while no service runs", async () => {
    const file = await temporaryFile();
    const first = openTaskDatabase(file, 1000);
    const [started, until] = [first.startSeconds, seconds()];
    first.put({ ...task, createdSeconds: started });
    first.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const earliest = started + (seconds() - until) * 1000;
    const second = openTaskDatabase(file, 1);
    expect(second.startSeconds).toBeGreaterThanOrEqual(earliest);
    expect(second.startSeconds).toBeLessThanOrEqual(started + (seconds() - started) * 1000 + 1);
    second.close();
  });

  test("never runs backwards", async () => {
    const file = await temporaryFile();
    const ahead = seconds() + 86_400;
    const first = openTaskDatabase(file, 1);
    first.put({ ...task, createdSeconds: ahead });
    first.close();
    const second = openTaskDatabase(file, 1);
    expect(second.startSeconds).toBe(ahead);
    second.close();
  });

  test("restarts at the wall clock once all tasks are past their retention", async () => {
    const file = await temporaryFile();
    const first = openTaskDatabase(file, 10_000_000);
    first.put({ ...task, createdSeconds: first.startSeconds });
    first.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const second = openTaskDatabase(file, 1);
    expect(second.kept).toEqual([]);
    expect(Math.abs(second.startSeconds - seconds())).toBeLessThan(10);
    second.close();
  });

  test("returns tasks as stored, with the last callback sent for each", async () => {
    const file = await temporaryFile();
    const first = openTaskDatabase(file, 1);
    const now = first.startSeconds;
    const tasks = ["a", "b", "c"].map((id) => ({ ...task, id, createdSeconds: now }));
    for (const one of tasks) first.put(one);
    first.told("b", now);
    first.put({ ...tasks[1]!, cancelledSeconds: now });
    first.remove(["c"]);
    first.close();
    const second = openTaskDatabase(file, 1);
    expect(second.kept).toEqual([
      { task: tasks[0], toldSeconds: Number.NEGATIVE_INFINITY },
      { task: { ...tasks[1], cancelledSeconds: now }, toldSeconds: now },
    ]);
    second.close();
  });
});

describe("an unusable file is refused", () => {
  test("while another service uses it, in this process or another", async () => {
    const file = await temporaryFile();
    const first = await start(file);
    await create(first);
    const locked = {
      name: "StoreError",
      code: "locked",
      path: file,
      message: expect.stringContaining("another service"),
    };
    await expect(start(file)).rejects.toMatchObject(locked);
    const { exitCode, stderr } = await citewell(["local", "--video-tasks", file]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("in use by another service")]);
    await first.close();
    const { child } = await command(["--video-tasks", file]);
    await expect(start(file)).rejects.toMatchObject(locked);
    child.kill("SIGKILL");
    await once(child, "exit");
    await start(file);
  });

  test("and is released when the service cannot listen on its port", async () => {
    const file = await temporaryFile();
    const other = await start(await temporaryFile());
    await expect(start(file, { port: Number(new URL(other.url).port) })).rejects.toMatchObject({ code: "EADDRINUSE" });
    await start(file);
  });

  const damaged = { name: "StoreError", code: "damaged", message: expect.stringContaining("video tasks") };

  test("when it is not a database", async () => {
    const file = await temporaryFile();
    await writeFile(file, "not a database, but long enough to look like one ".repeat(100));
    await expect(start(file)).rejects.toMatchObject({ ...damaged, path: file });
  });

  test("when half of it is missing or overwritten", async () => {
    const file = await temporaryFile();
    const kept = openTaskDatabase(file, 1);
    for (let count = 0; count < 200; count++) {
      kept.put({ ...task, id: `task-${count}`, createdSeconds: kept.startSeconds });
    }
    kept.close();
    const bytes = await readFile(file);
    await truncate(file, bytes.length / 2);
    await expect(start(file)).rejects.toMatchObject(damaged);
    await writeFile(file, Buffer.from(bytes).fill(0x5a, 4096));
    await expect(start(file)).rejects.toMatchObject(damaged);
    await writeFile(file, bytes);
    const whole = await start(file);
    expect(await call(whole, "GET", tasksPath)).toMatchObject({ body: { total: 200 } });
  });

  test.each(["{", "null", '{"id":"a"}'])("when a stored task reads %s", async (written) => {
    const file = await temporaryFile();
    const kept = openTaskDatabase(file, 1);
    kept.put({ ...task, createdSeconds: kept.startSeconds });
    kept.close();
    const database = openDatabase(file);
    database.prepare("UPDATE tasks SET task = ?").run(written);
    database.close();
    await expect(start(file)).rejects.toMatchObject(damaged);
  });

  test("when it is another application's database, which is left unchanged", async () => {
    const file = await temporaryFile();
    const other = openDatabase(file);
    other.exec("PRAGMA journal_mode = DELETE; CREATE TABLE notes (text TEXT)");
    other.close();
    const bytes = await readFile(file);
    await expect(start(file)).rejects.toMatchObject({ name: "OptionsError", code: "config" });
    expect((await readFile(file)).equals(bytes)).toBe(true);
  });

  test("when a newer version wrote it", async () => {
    const file = await temporaryFile();
    openTaskDatabase(file, 1).close();
    const newer = openDatabase(file);
    newer.pragma("user_version = 2");
    newer.close();
    await expect(start(file)).rejects.toMatchObject({ name: "StoreError", code: "version" });
  });

  test("when its folder does not exist", async () => {
    const file = join(await temporaryFolder(), "nowhere", "tasks.db");
    const refused = { name: "OptionsError", code: "config", message: expect.stringContaining(file) };
    await expect(start(file)).rejects.toMatchObject(refused);
  });
});

test("SQLite is loaded only by a service that keeps its tasks", async () => {
  const service = pathToFileURL(join(commandFile, "../../local/service.js")).href;
  const loads = async (video: object) => {
    const source = `
      const { startLocalService } = await import(${JSON.stringify(service)});
      await (await startLocalService({ video: ${JSON.stringify(video)} })).close();
      console.log(process.report.getReport().sharedObjects.some((path) => path.includes("sqlite3")));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    return (await child.stdout.toArray()).join("").trim();
  };
  expect(await loads({})).toBe("false");
  expect(await loads({ file: await temporaryFile() })).toBe("true");
});
