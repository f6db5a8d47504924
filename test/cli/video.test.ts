import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startLocalService } from "../../src/local/service.js";
import { citewell, citewellJson } from "../support/citewell.js";
import { type RecordedRequest, scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { png } from "../support/tiny-media.js";
import { taskBody } from "../support/video-task.js";

interface TaskJson {
  readonly id: string;
  readonly status: string;
  readonly videoUrl: string;
  readonly saved?: readonly string[];
}

/** The local service, running a thousand times as fast as the clock. */
async function service(timeScale = 1000): Promise<Readonly<Record<string, string>>> {
  const { url, apiKey, close } = await startLocalService({ timeScale });
  onTestFinished(close);
  return { CITEWELL_BASE_URL: url, CITEWELL_API_KEY: apiKey };
}

/** A service with one task, which records its requests. */
async function scripted(status = "running") {
  const upstream = await scriptedUpstream(({ method }) =>
    method === "POST" ? { json: { id: "cgt-1" } } : { json: taskBody({ status }) },
  );
  return { upstream, environment: { CITEWELL_BASE_URL: upstream.baseUrl, CITEWELL_API_KEY: "sk-1" } };
}
const contentOf = (request: RecordedRequest | undefined) => (request!.body as { content: unknown[] }).content;

/** A proxy to the service that loses the reply to a creation. */
async function lossyProxy(target: string): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { method = "GET", url = "", headers } = request;
      const answer = await fetch(target + url, {
        method,
        headers: { authorization: headers.authorization ?? "", "content-type": "application/json" },
        ...(method === "POST" && { body: Buffer.concat(parts) }),
      });
      const body = await answer.text();
      if (method === "POST") response.destroy();
      else response.writeHead(answer.status, { "content-type": "application/json" }).end(body);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("video find", () => {
  test("finds the task of a creation whose reply was lost, from what create printed (V13)", async () => {
    const environment = await service(1);
    const lossy = { ...environment, CITEWELL_BASE_URL: await lossyProxy(environment["CITEWELL_BASE_URL"]!) };
    const words = ["video", "create", "--prompt", "A cat", "--seed", "7", "--resolution", "480p"];
    const lost = await citewell(words, { environment: lossy });
    expect(lost).toMatchObject({ exitCode: 1, stdout: "" });
    const [, submission] = /citewell video find '(.*)'\n/.exec(lost.stderr) ?? [];
    const found = await citewellJson<{ outcome: string; tasks: TaskJson[] }>(["video", "find", submission!], {
      environment: lossy,
    });
    expect(found).toMatchObject({ outcome: "found", tasks: [{ resolution: "480p", seed: 7 }] });
    // It is the only task: nothing was created twice, or by searching.
    const url = `${environment["CITEWELL_BASE_URL"]!}/llm/v1/contents/generations/tasks`;
    const headers = { authorization: `Bearer ${environment["CITEWELL_API_KEY"]!}` };
    expect(await (await fetch(url, { headers })).json()).toMatchObject({ total: 1 });
  });

  test("refuses text that is not a submission before anything is sent", async () => {
    const { environment, upstream } = await scripted();
    const { exitCode, stderr } = await citewell(["video", "find", "cgt-1"], { environment });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining("not a submission") as string,
    });
    expect(upstream.requests).toHaveLength(0);
  });
});

describe("video create", () => {
  test("makes a video from a prompt and a picture, and saves it with its last frame", async () => {
    const environment = await service();
    const cwd = await temporaryFolder({ "cat.png": png(800, 600) });
    const words = ["--prompt", "It jumps", "--first-frame", "cat.png", "--duration", "4", "--poll-seconds", "0.05"];
    const outputs = ["--output", "cat.mp4", "--last-frame-output", "end.png"];
    const task = await citewellJson<TaskJson>(["video", "create", ...words, ...outputs], { cwd, environment });
    expect(task).toMatchObject({ status: "succeeded", saved: ["cat.mp4", "end.png"] });
    expect((await readFile(join(cwd, "cat.mp4"))).toString("latin1", 4, 8)).toBe("ftyp");
    expect((await readFile(join(cwd, "end.png"))).toString("latin1", 1, 4)).toBe("PNG");
    // Any process can query it again.
    expect(await citewellJson<TaskJson>(["video", "get", task.id], { environment })).toMatchObject({ id: task.id });
    const next = [
      "video",
      "create",
      "--continue",
      task.id,
      "--prompt",
      "It runs on",
      "--wait",
      "--poll-seconds",
      "0.05",
    ];
    const { exitCode, stdout, stderr } = await citewell(next, { cwd, environment });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^Task cgt-/) as string });
    expect(stdout).toMatch(/^Task cgt-\S+ {2}succeeded .*\nVideo http/);
  });

  test("without --wait prints the id and how to go on", async () => {
    const { environment, upstream } = await scripted();
    const { exitCode, stdout } = await citewell(["video", "create", "--prompt", "A cat"], { environment });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Task cgt-1\n.*citewell video wait cgt-1/);
    expect(upstream.requests.map(({ method }) => method)).toEqual(["POST"]);
  });

  test("writes flags as fields of the contract", async () => {
    const { environment, upstream } = await scripted();
    const flags = ["--prompt", "p", "--ratio", "16:9", "--resolution", "480p", "--duration", "-1", "--seed", "7"];
    const more = ["--silent", "--watermark", "--web-search", "--return-last-frame", "--expires-after", "3600"];
    const result = await citewellJson(["video", "create", ...flags, ...more], { environment });
    expect(result).toEqual({ id: "cgt-1" });
    expect(upstream.requests[0]!.body).toEqual({
      model: "vendor/vendor-video-2.0",
      content: [{ type: "text", text: "p" }],
      ratio: "16:9",
      resolution: "480p",
      duration: -1,
      seed: 7,
      generate_audio: false,
      watermark: true,
      tools: [{ type: "web_search" }],
      return_last_frame: true,
      execution_expires_after: 3600,
    });
  });

  test("takes references from files, addresses and assets", async () => {
    const { environment, upstream } = await scripted();
    const cwd = await temporaryFolder({ "a.png": png(800, 600) });
    const references = ["--reference-image", "a.png", "https://host/b.png", "--reference-audio", "asset://c"];
    await citewellJson(["video", "create", ...references], { cwd, environment });
    const data = `data:image/png;base64,${png(800, 600).toString("base64")}`;
    expect(contentOf(upstream.requests[0])).toEqual([
      { type: "image_url", image_url: { url: data, role: "reference_image" } },
      { type: "image_url", image_url: { url: "https://host/b.png", role: "reference_image" } },
      { type: "audio_url", audio_url: { url: "asset://c", role: "reference_audio" } },
    ]);
  });

  test.each([
    ["nothing to make it from", [], /give --prompt/],
    ["a file that is not there", ["--first-frame", "no.png"], /No such file.*no\.png/],
    ["a picture that is too small", ["--first-frame", "small.png"], /width is 10 px/],
    ["a duration between the bounds", ["--prompt", "p", "--duration", "3"], /from 4 to 15, or -1/],
    ["a local video", ["--reference-video", "small.png"], /public addresses and as assets only/],
    ["a last frame alone", ["--last-frame", "https://host/a.png"], /needs a first_frame/],
    ["a ratio nobody knows", ["--prompt", "p", "--ratio", "2:1"], /Allowed choices/],
  ])("refuses %s as misuse, and sends nothing", async (_, words, message) => {
    const { environment, upstream } = await scripted();
    const cwd = await temporaryFolder({ "small.png": png(10, 10) });
    const { exitCode, stderr } = await citewell(["video", "create", ...words], { cwd, environment });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe("video wait", () => {
  test("ends with the reason when the task failed", async () => {
    const { environment } = await scripted("failed");
    const { exitCode, stderr } = await citewell(["video", "wait", "cgt-1"], { environment });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/Video task cgt-1 failed/);
  });

  test("says how to go on when its deadline passes", async () => {
    const { environment } = await scripted("running");
    const words = ["video", "wait", "cgt-1", "--deadline-seconds", "0.1", "--poll-seconds", "0.05"];
    const { exitCode, stderr } = await citewell(words, { environment });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/still running.*citewell video wait cgt-1/);
  });
});

test("a task of another process needs a service that outlives it", async () => {
  const cwd = await temporaryFolder();
  for (const words of [
    ["get", "a"],
    ["wait", "a"],
    ["create", "--prompt", "p"],
  ]) {
    const { exitCode, stderr } = await citewell(["video", ...words], { cwd });
    expect([words[0], exitCode]).toEqual([words[0], 2]);
    expect(stderr).toContain("CITEWELL_BASE_URL");
  }
});

test.each([["video"], ["video", "create"], ["video", "get"], ["video", "wait"]])(
  "%s %s explains itself with examples",
  async (...words) => {
    const { exitCode, stdout } = await citewell([...words, "--help"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Examples?:\n {2}\$ citewell video/);
  },
);
