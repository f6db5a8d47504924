import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inflateSync } from "node:zlib";
import fc from "fast-check";
import { ALL_FORMATS, BufferSource, Input } from "mediabunny";
import { afterEach, describe, expect, test } from "vitest";
import { VideoTaskReply } from "../../../src/contract/video-tasks.js";
import { startLocalService, type LocalService, type LocalServiceOptions } from "../../../src/local/service.js";
import { byteRange } from "../../../src/local/video/file-route.js";
import { fixedRatios, frameSize, nearestRatio } from "../../../src/local/video/file/frame-size.js";
import { lastFrameFile, videoFile } from "../../../src/local/video/file/task-files.js";
import { planVideo } from "../../../src/local/video/video-plan.js";
import { isForgotten, linksWork, taskState, videoTokens, type VideoTask } from "../../../src/local/video/video-task.js";
import { call, eventually } from "../call.js";
import { paths } from "../conformance.js";
import { pngUrl } from "./media-samples.js";

const tasksPath = paths.createVideoTask;
const model = "vendor/vendor-video-2.0";
const content = [{ type: "text", text: "a cat on a wall" }] as const;

let service: LocalService | undefined;
let receiver: Server | undefined;
afterEach(async () => {
  await service?.close();
  receiver?.closeAllConnections();
  receiver?.close();
});

async function start(options: LocalServiceOptions = {}): Promise<LocalService> {
  service = await startLocalService(options);
  return service;
}

async function create(target: LocalService, request: object = {}): Promise<string> {
  const { status, body } = await call(target, "POST", tasksPath, { model, content, ...request });
  expect({ status, body }).toEqual({ status: 200, body: { id: expect.any(String) } });
  return (body as { readonly id: string }).id;
}

const query = (target: LocalService, id: string) => call(target, "GET", `${tasksPath}/${id}`);

describe("the life of a task", () => {
  const plan = planVideo({ model, content: [...content], seed: 1 });
  const task: VideoTask = {
    id: "a",
    createdSeconds: 1000,
    queueSeconds: 2,
    runSeconds: 30,
    outcome: "succeeded",
    error: { code: "", message: "" },
    plan,
    linkToken: "",
  };
  const day = 86_400;

  test.each([
    [1000, "queued", 1000],
    [1001.9, "queued", 1000],
    [1002, "running", 1002],
    [1031.9, "running", 1002],
    [1032, "succeeded", 1032],
    [1000 + 7 * day, "succeeded", 1032],
  ])("at %d it is %s since %d", (now, status, sinceSeconds) => {
    expect(taskState(task, now)).toEqual({ status, sinceSeconds });
  });

  test("a queued or running task expires when its time is over", () => {
    const stuck: VideoTask = { ...task, outcome: "stuck" };
    const expires = 1000 + plan.expiresAfterSeconds;
    expect(taskState(stuck, expires - 1).status).toBe("running");
    expect(taskState(stuck, expires)).toEqual({ status: "expired", sinceSeconds: expires });
    const waiting: VideoTask = { ...task, queueSeconds: 1e9 };
    expect(taskState(waiting, expires - 1).status).toBe("queued");
    expect(taskState(waiting, expires).status).toBe("expired");
    const slow: VideoTask = { ...task, runSeconds: 1e9 };
    expect(taskState(slow, expires).status).toBe("expired");
  });

  test("a record is kept for seven days, a cancelled one for one", () => {
    expect([isForgotten(task, 1000 + 7 * day - 1), isForgotten(task, 1000 + 7 * day)]).toEqual([false, true]);
    const cancelled = { ...task, cancelledSeconds: 1001 };
    expect([isForgotten(cancelled, 1001 + day - 1), isForgotten(cancelled, 1001 + day)]).toEqual([false, true]);
  });

  test("links work for a day after success and never before it", () => {
    const works = [1031, 1032, 1032 + day - 1, 1032 + day].map((now) => linksWork(task, now));
    expect(works).toEqual([false, true, true, false]);
    expect(linksWork({ ...task, outcome: "failed" }, 2000)).toBe(false);
  });
});

describe("tasks over HTTP", () => {
  test("a task is queued, runs and succeeds, and the query shows every field", async () => {
    const target = await start({ timeScale: 20, video: { queueSeconds: 8, runSeconds: 8 } });
    const id = await create(target, { seed: 5, return_last_frame: true, safety_identifier: "user", duration: 4 });
    const seen: string[] = [];
    await eventually(async () => {
      const { status } = VideoTaskReply.parse((await query(target, id)).body);
      if (seen.at(-1) !== status) seen.push(status);
      expect(status).toBe("succeeded");
    });
    expect(seen).toEqual(["queued", "running", "succeeded"]);
    const { body } = await query(target, id);
    expect(body).toEqual({
      id,
      model,
      status: "succeeded",
      error: null,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      content: { video_url: expect.any(String), last_frame_url: expect.any(String) },
      seed: 5,
      resolution: "720p",
      ratio: "16:9",
      duration: 4,
      framespersecond: 24,
      generate_audio: true,
      safety_identifier: "user",
      service_tier: "default",
      execution_expires_after: 172_800,
      usage: { completion_tokens: 87_300, total_tokens: 87_300 },
    });
    const { created_at, updated_at } = body as { readonly created_at: number; readonly updated_at: number };
    expect(updated_at - created_at).toBeGreaterThanOrEqual(15);
    expect(updated_at - created_at).toBeLessThanOrEqual(17);
  });

  test("a query by POST equals one by GET", async () => {
    const target = await start();
    const id = await create(target);
    expect((await call(target, "POST", `${tasksPath}/${id}`)).body).toEqual((await query(target, id)).body);
    const bad = await call(target, "POST", `${tasksPath}/${id}`, { more: 1 });
    expect(bad).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining("more") } } });
  });

  test("an unknown task is answered with 404", async () => {
    const target = await start();
    expect(await query(target, "cgt-1")).toMatchObject({
      status: 404,
      body: { error: { code: "ResourceNotFound.Task", type: "NotFound" } },
    });
  });

  test("a task can be made to fail with a configured error", async () => {
    const video = { outcome: "failed", errorCode: "InternalServiceError", errorMessage: "no" } as const;
    const target = await start({ video: { queueSeconds: 0, runSeconds: 0 }, faults: { video } });
    const { body } = await query(target, await create(target));
    expect(body).toMatchObject({ status: "failed", error: { code: "InternalServiceError", message: "no" } });
    expect(body).not.toHaveProperty("content");
    expect(body).not.toHaveProperty("usage");
  });

  test("the web is searched only when allowed and the prompt asks for news", async () => {
    const target = await start({ video: { queueSeconds: 0, runSeconds: 0 } });
    const tools = [{ type: "web_search" }];
    const latest = [{ type: "text", text: "the latest phone" }];
    const view = async (request: object) => (await query(target, await create(target, request))).body;
    expect(await view({ content: latest })).not.toHaveProperty("usage.tool_usage");
    expect(await view({ tools })).toMatchObject({ usage: { tool_usage: { web_search: 0 } } });
    expect(await view({ tools })).not.toHaveProperty("tools");
    expect(await view({ tools, content: latest })).toMatchObject({ tools, usage: { tool_usage: { web_search: 1 } } });
  });

  test("tasks are listed newest first, with pages and filters", async () => {
    const target = await start({ timeScale: 1000 });
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.unshift(await create(target));
    const list = async (parameters: string) => {
      const { body } = await call(target, "GET", `${tasksPath}?${parameters}`);
      const { items, total } = body as { readonly items: readonly { readonly id: string }[]; readonly total: number };
      return { ids: items.map(({ id }) => id), total };
    };
    expect(await list("")).toEqual({ ids, total: 3 });
    expect(await list("page_num=2&page_size=2")).toEqual({ ids: ids.slice(2), total: 3 });
    const two = await list(`filter.task_ids=${ids[0]}&filter.task_ids=${ids[2]}`);
    expect(two).toEqual({ ids: [ids[0], ids[2]], total: 2 });
    expect((await list("filter.status=failed")).total).toBe(0);
    expect((await list(`filter.model=${encodeURIComponent(model)}`)).total).toBe(3);
    expect((await list("filter.service_tier=flex")).total).toBe(0);
  });

  test.each([
    "page_num=0",
    "page_num=501",
    "page_size=0",
    "page_size=501",
    "page_num=a",
    "filter.status=done",
    "more=1",
  ])("a list with %s is refused by name", async (parameters) => {
    const target = await start();
    const answer = await call(target, "GET", `${tasksPath}?${parameters}`);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(parameters.split("=")[0]);
  });

  test("a queued task is cancelled, a running one is not, a finished one is deleted", async () => {
    const target = await start({ timeScale: 20, video: { queueSeconds: 6, runSeconds: 10 } });
    const remove = async (id: string) => (await call(target, "DELETE", `${tasksPath}/${id}`)).status;
    const status = async (id: string) => ((await query(target, id)).body as { readonly status?: string }).status;
    const [queued, running] = [await create(target), await create(target)];
    expect(await remove(queued)).toBe(200);
    expect(await status(queued)).toBe("cancelled");
    await eventually(async () => expect(await status(running)).toBe("running"));
    expect(await remove(running)).toBe(409);
    await eventually(async () => expect(await status(running)).toBe("succeeded"));
    expect(await remove(running)).toBe(200);
    expect((await query(target, running)).status).toBe(404);
  });
});

describe("callbacks", () => {
  interface Received {
    readonly status: string;
    readonly body: unknown;
  }

  async function receive(answers: readonly number[] = []): Promise<{ url: string; received: Received[] }> {
    const received: Received[] = [];
    const statuses = [...answers];
    receiver = createServer((request, response) => {
      let text = "";
      request.on("data", (part: Buffer) => (text += part.toString()));
      request.on("end", () => {
        const body = JSON.parse(text) as { readonly status: string };
        received.push({ status: body.status, body });
        response.writeHead(statuses.shift() ?? 204).end();
      });
    });
    await new Promise<void>((listening) => receiver?.listen(0, "127.0.0.1", listening));
    return { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, received };
  }

  test("every change of status is sent with the body of the query", async () => {
    const { url, received } = await receive();
    const target = await start({ timeScale: 20, video: { queueSeconds: 4, runSeconds: 4 } });
    const id = await create(target, { callback_url: url });
    await eventually(() => expect(received.map(({ status }) => status)).toEqual(["queued", "running", "succeeded"]));
    expect(received.at(-1)?.body).toEqual((await query(target, id)).body);
  });

  test("the final state is sent up to three times until acknowledged, other states once", async () => {
    const { url, received } = await receive([500, 500, 500, 302, 500]);
    const target = await start({ video: { queueSeconds: 0, runSeconds: 0 } });
    await create(target, { callback_url: url });
    // Waits of 1 and 3 seconds stand between the three.
    await eventually(() => expect(received.filter(({ status }) => status === "succeeded")).toHaveLength(3));
    expect(received.map(({ status }) => status).toSorted()).toEqual([
      "queued",
      "running",
      ...Array.from({ length: 3 }, () => "succeeded"),
    ]);
  });

  test("expiry sends a callback and cancelling does not", async () => {
    const { url, received } = await receive();
    const target = await start({ timeScale: 36_000, faults: { video: { outcome: "stuck" } } });
    await create(target, { callback_url: url, execution_expires_after: 3600 });
    await eventually(() => expect(received.at(-1)?.status).toBe("expired"));
    expect(received.map(({ status }) => status).toSorted()).toEqual(["expired", "queued", "running"]);
  });

  test("callbacks can be lost or duplicated", async () => {
    const { url, received } = await receive();
    const video = { queueSeconds: 0, runSeconds: 0 };
    const target = await start({ video, faults: { video: { callbacks: "lost" } } });
    await create(target, { callback_url: url });
    await call(target, "PUT", "/local/faults", { video: { callbacks: "duplicated" } });
    await create(target, { callback_url: url });
    await eventually(() => expect(received.filter(({ status }) => status === "succeeded")).toHaveLength(2));
  });

  test.each([
    [1, ["running", "queued", "succeeded"]],
    [4, ["succeeded", "running", "queued"]],
  ])("they can come in another order, which the seed %i draws", async (seed, order) => {
    const { url, received } = await receive();
    const faults = { seed, video: { callbacks: "reordered" } } as const;
    const target = await start({ video: { queueSeconds: 0, runSeconds: 0 }, faults });
    await create(target, { callback_url: url });
    await eventually(() => expect(received.map(({ status }) => status)).toEqual(order));
  });

  test("callbacks can be delayed", async () => {
    const { url, received } = await receive();
    const video = { queueSeconds: 0, runSeconds: 0 };
    const target = await start({ video, faults: { video: { callbackDelayMs: 300 } } });
    await create(target, { callback_url: url });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(received).toEqual([]);
    await eventually(() => expect(received).toHaveLength(3));
  });

  test.each([
    ["127.0.0.1", {}, ["http://127.0.0.1:9/hook", "http://[::1]:9/hook", "https://example.com/", "http://8.8.8.8/"]],
    ["127.0.0.1", { privateCallbacks: true }, ["http://10.0.0.1/", "http://169.254.169.254/latest"]],
    ["127.0.0.1", { remoteCallbacks: false }, ["http://127.0.0.1:9/hook"]],
    ["0.0.0.0", { privateCallbacks: true }, ["http://127.0.0.1:9/hook"]],
  ])("a service on %s with %j takes the addresses %j", async (host, video, addresses) => {
    const target = await start({ host, video });
    for (const callback_url of addresses) {
      const { status } = await call(target, "POST", tasksPath, { model, content, callback_url });
      expect({ callback_url, status }).toEqual({ callback_url, status: 200 });
    }
  });

  test.each([
    [
      "127.0.0.1",
      {},
      ["http://10.0.0.1/", "http://169.254.169.254/latest", "http://[fd00::1]/", "http://0/", "http://"],
    ],
    ["127.0.0.1", { remoteCallbacks: false }, ["http://8.8.8.8/", "http://10.0.0.1/"]],
    ["0.0.0.0", {}, ["http://127.0.0.1:9/hook", "http://[::1]:9/hook", "http://2130706433/"]],
  ])("a service on %s with %j refuses the addresses %j", async (host, video, addresses) => {
    const target = await start({ host, video });
    for (const callback_url of addresses) {
      const answer = await call(target, "POST", tasksPath, { model, content, callback_url });
      const body = { error: { param: "callback_url" } };
      expect({ callback_url, ...answer }).toMatchObject({ callback_url, status: 400, body });
    }
  });

  test("a host name that resolves to a forbidden address is not called", async () => {
    const { url, received } = await receive();
    const target = await start({ host: "0.0.0.0", video: { queueSeconds: 0, runSeconds: 0 } });
    const named = url.replace("127.0.0.1", "localhost");
    const id = await create(target, { callback_url: named });
    await eventually(async () => expect((await query(target, id)).body).toMatchObject({ status: "succeeded" }));
    // Where it is allowed all three come, and none of those that were not.
    await target.close();
    const open = await start({ video: { queueSeconds: 0, runSeconds: 0 } });
    await create(open, { callback_url: named });
    await eventually(() => expect(received).toHaveLength(3));
  });
});

test("tasks up to the maximum are kept, and one more is refused until one is deleted", async () => {
  const target = await start({ video: { maxTasks: 2, queueSeconds: 60 } });
  const [first] = [await create(target), await create(target)];
  const refused = await call(target, "POST", tasksPath, { model, content });
  expect(refused).toMatchObject({ status: 429, body: { error: { code: "QuotaExceeded", type: "TooManyRequests" } } });
  await call(target, "DELETE", `${tasksPath}/${first}`);
  expect((await call(target, "POST", tasksPath, { model, content })).status).toBe(429);
});

describe("files", () => {
  const plan = planVideo({ model, content: [...content], seed: 5, return_last_frame: true });

  test.each(
    ["480p", "720p", "1080p"].flatMap((resolution) => fixedRatios.map((ratio) => [resolution, ratio] as const)),
  )("a video of %s and %s is an MP4 of that size, with sound of one channel", async (resolution, ratio) => {
    const size = frameSize(resolution, ratio);
    const input = new Input({ source: new BufferSource(videoFile({ ...plan, size })), formats: ALL_FORMATS });
    const video = await input.getPrimaryVideoTrack();
    const audio = await input.getPrimaryAudioTrack();
    expect([video?.displayWidth, video?.displayHeight, video?.codec]).toEqual([size.width, size.height, "avc"]);
    expect(await video?.computeDuration()).toBe(5);
    expect((await video?.computePacketStats())?.averagePacketRate).toBe(24);
    expect([audio?.codec, audio?.numberOfChannels]).toEqual(["aac", 1]);
    expect(await audio?.computeDuration()).toBeCloseTo(5, 1);
  });

  test("the same plan gives the same bytes, and another seed, prompt or watermark gives others", () => {
    const same = (change: object) => videoFile({ ...plan, ...change }).equals(videoFile(plan));
    expect(same({})).toBe(true);
    expect([same({ seed: 6 }), same({ contentHash: 1 }), same({ watermark: true })]).toEqual([false, false, false]);
  });

  test("a video without audio has no sound track", async () => {
    const bytes = videoFile({ ...plan, generateAudio: false });
    const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
    expect(await input.getPrimaryAudioTrack()).toBeNull();
  });

  test("the last frame is a PNG of the video's size, every row of it filled", () => {
    const bytes = lastFrameFile(plan);
    const { width, height } = plan.size;
    expect(bytes.toString("latin1", 1, 4)).toBe("PNG");
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([width, height]);
    const name = bytes.indexOf("IDAT");
    const rows = inflateSync(bytes.subarray(name + 4, name + 4 + bytes.readUInt32BE(name - 4)));
    expect(rows).toHaveLength((width + 1) * height);
  });

  test("files are served without a key and by range, and only with the right link", async () => {
    const target = await start({ video: { queueSeconds: 0, runSeconds: 0 } });
    const id = await create(target, { seed: 5 });
    const { video_url: url } = ((await query(target, id)).body as { readonly content: { readonly video_url: string } })
      .content;
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(whole.equals(videoFile(planVideo({ model, content: [...content], seed: 5 })))).toBe(true);
    const part = await fetch(url, { headers: { range: "bytes=4-7" } });
    expect([part.status, await part.text()]).toEqual([206, "ftyp"]);
    expect(part.headers.get("content-range")).toBe(`bytes 4-7/${whole.length}`);
    const outside = await fetch(url, { headers: { range: `bytes=${whole.length}-` } });
    expect([outside.status, outside.headers.get("content-range")]).toEqual([416, `bytes */${whole.length}`]);
    expect((await fetch(url, { method: "HEAD" })).headers.get("content-length")).toBe(String(whole.length));
    expect((await fetch(url.replace(/link=.*/, "link=other"))).status).toBe(404);
    // It was not asked for.
    expect((await fetch(url.replace("video.mp4", "last-frame.png"))).status).toBe(404);
  });

  test("the link expires after a day and the task after seven", async () => {
    const target = await start({ timeScale: 500_000, video: { queueSeconds: 0, runSeconds: 0 } });
    const id = await create(target);
    const { body } = await query(target, id);
    const { content: media } = body as { readonly content: { readonly video_url: string } };
    await eventually(async () => expect((await fetch(media.video_url)).status).toBe(403));
    expect((await query(target, id)).status).toBe(200);
    await eventually(async () => expect((await query(target, id)).status).toBe(404));
  });

  test("ranges follow RFC 9110", () => {
    const cases: readonly (readonly [string | undefined, ReturnType<typeof byteRange>])[] = [
      [undefined, undefined],
      ["bytes=0-", { first: 0, last: 99 }],
      ["bytes=10-19", { first: 10, last: 19 }],
      ["bytes=10-1000", { first: 10, last: 99 }],
      ["bytes=-10", { first: 90, last: 99 }],
      ["bytes=-1000", { first: 0, last: 99 }],
      ["bytes=-0", "outside"],
      ["bytes=100-", "outside"],
      ["bytes=20-10", undefined],
      ["bytes=-", undefined],
      ["bytes=0-1,5-6", undefined],
      ["lines=0-1", undefined],
    ];
    for (const [header, expected] of cases) expect(byteRange(header, 100)).toEqual(expected);
  });
});

describe("planning a video", () => {
  const ratioOf = (items: Parameters<typeof planVideo>[0]["content"]) => planVideo({ model, content: items }).ratio;
  const image = (url: string, role: "first_frame" | "reference_image") =>
    ({ type: "image_url", image_url: { url, role } }) as const;

  test("adaptive takes the ratio nearest to the first frame's, and 16:9 for a text prompt", () => {
    expect(ratioOf([...content])).toBe("16:9");
    expect(ratioOf([image(pngUrl(500, 510), "first_frame")])).toBe("1:1");
    expect(ratioOf([image(pngUrl(720, 1280), "first_frame")])).toBe("9:16");
    const video = { type: "video_url", video_url: { url: "https://example.com/a.mp4" } } as const;
    expect(ratioOf([image(pngUrl(720, 1280), "reference_image")])).toBe("9:16");
    expect(ratioOf([image(pngUrl(720, 1280), "reference_image"), video])).toBe("16:9");
  });

  test("the nearest ratio equals the one found by exhaustive search", () => {
    const side = fc.integer({ min: 1, max: 6000 });
    fc.assert(
      fc.property(side, side, (width, height) => {
        const off = (ratio: string) => {
          const [across = 1, down = 1] = ratio.split(":").map(Number);
          const quotient = (width * down) / (height * across);
          return Math.max(quotient, 1 / quotient);
        };
        expect(off(nearestRatio({ width, height }))).toBeCloseTo(Math.min(...fixedRatios.map(off)), 9);
      }),
    );
  });

  test("tokens are width × height / 1024 × (24 × seconds + 1), as in the documented sample", () => {
    expect(videoTokens(planVideo({ model, content: [...content] }))).toBe(108_900);
  });

  test("a duration left to the model is within bounds and deterministic", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const request = { model, content: [{ type: "text" as const, text }], duration: -1 };
        const { durationSeconds } = planVideo(request);
        expect(durationSeconds).toBeGreaterThanOrEqual(4);
        expect(durationSeconds).toBeLessThanOrEqual(15);
        expect(planVideo(request).durationSeconds).toBe(durationSeconds);
      }),
    );
  });
});
