import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { videoModels } from "../../../src/contract/catalogue.js";
import { startLocalService, type LocalServiceOptions } from "../../../src/local/service.js";
import { createTransport } from "../../../src/transport/transport.js";
import { videoCallbacks } from "../../../src/transport/video/callbacks.js";
import { headerProbe } from "../../../src/transport/media/header-probe.js";
import { mediumOf } from "../../../src/transport/media/media-probe.js";
import { lastFrameAsFirstFrame, videoContent } from "../../../src/models/video-content.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { png } from "../../support/tiny-media.js";
import { failure } from "../../support/transport-for.js";
import { catVideo } from "../../support/video-task.js";

const quick = { poll: { firstMs: 20, maxMs: 50 } };

/** A transport before the local service, whose seconds pass this much faster. */
async function local(timeScale: number, options: LocalServiceOptions = {}) {
  const service = await startLocalService({ timeScale, ...options });
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  onTestFinished(async () => {
    await transport.close();
    await service.close();
  });
  return transport;
}

test("a video is made, fetched, and goes on in the next", async () => {
  const transport = await local(500);
  const folder = await temporaryFolder();
  const first = await videoContent.firstFrame({ bytes: png(800, 600) });
  const { id } = await transport.createVideoTask({
    ...catVideo,
    content: [first],
    duration: 4,
    return_last_frame: true,
  });
  const task = await transport.waitForVideo(id, quick);
  expect(task).toMatchObject({ id, status: "succeeded", ratio: "4:3", durationSeconds: 4 });

  const { path } = await transport.downloadVideo(task, join(folder, "a.mp4"));
  const facts = await headerProbe.probe("video", mediumOf(await readFile(path)));
  expect(facts).toMatchObject({ format: "mp4", framesPerSecond: task.framesPerSecond });
  expect(facts.durationSeconds).toBeCloseTo(4, 1);
  const frame = await transport.downloadVideo(task, join(folder, "a.png"), { part: "last-frame" });
  const shown = await headerProbe.probe("image", mediumOf(await readFile(frame.path)));
  expect(shown).toMatchObject({ format: "png", width: facts.width, height: facts.height });

  const next = await transport.createVideoTask({ ...catVideo, content: [lastFrameAsFirstFrame(task)] });
  expect(await transport.waitForVideo(next.id, quick)).toMatchObject({ id: next.id, status: "succeeded" });
});

test("tasks are listed and cancelled, and models published", async () => {
  const transport = await local(0.001);
  const { id } = await transport.createVideoTask(catVideo);
  const { tasks, total } = await transport.listVideoTasks({ "filter.task_ids": [id] });
  expect(tasks).toEqual([expect.objectContaining({ id, status: "queued", finished: false })]);
  expect(total).toBe(1);
  await transport.cancelVideoTask(id);
  expect(await failure(transport.waitForVideo(id, quick))).toMatchObject({ code: "cancelled", taskId: id });
  expect(await failure(transport.videoTask("cgt-none"))).toMatchObject({ code: "not-found" });
  const ids = (await transport.listModels()).filter(({ type }) => type === "video").map((model) => model.id);
  expect(ids).toEqual(videoModels.map((model) => model.id));
});

/** A receiver that notes what it is told of; `arrived` has what came, also where it told nothing. */
async function receiver(transport: Awaited<ReturnType<typeof local>>) {
  const seen: string[] = [];
  const arrived: string[] = [];
  const callbacks = videoCallbacks({
    transport,
    token: "0123456789abcdef",
    onTask: ({ status }) => void seen.push(status),
  });
  const hear = async (path: string, body: string) => {
    arrived.push((JSON.parse(body) as { readonly status: string }).status);
    return callbacks.fetch(new Request(`http://receiver${path}`, { method: "POST", body }));
  };
  const server = createServer((request, response) => {
    void text(request)
      .then((body) => hear(request.url ?? "", body))
      .then(({ status }) => response.writeHead(status).end());
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { seen, arrived, callbacks, callback_url: `http://127.0.0.1:${port}/hook?token=0123456789abcdef` };
}

test("callbacks tell each status once, as far as the service still knows it, and end with the last", async () => {
  const transport = await local(200);
  const { seen, callback_url } = await receiver(transport);
  const { id } = await transport.createVideoTask({ ...catVideo, callback_url });
  await transport.waitForVideo(id, quick);
  await expect.poll(() => seen.at(-1), { timeout: 10_000 }).toBe("succeeded");
  expect(new Set(seen).size).toBe(seen.length);
});

test("callbacks of a service that sends them backwards tell only how the task ended", async () => {
  const faults = { seed: 4, video: { callbacks: "reordered" } } as const;
  const transport = await local(1000, { faults });
  const { seen, arrived, callbacks, callback_url } = await receiver(transport);
  await transport.createVideoTask({ ...catVideo, callback_url });
  await expect.poll(() => arrived, { timeout: 10_000 }).toEqual(["succeeded", "running", "queued"]);
  await callbacks.idle();
  expect(seen).toEqual(["succeeded"]);
});
