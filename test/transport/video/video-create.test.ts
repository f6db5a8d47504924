import { createHash } from "node:crypto";
import { Agent } from "undici";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { operations } from "../../../src/contract/operations.js";
import { TransportError } from "../../../src/core/errors.js";
import type { TransportEvent } from "../../../src/transport/calls/events.js";
import { createTransport } from "../../../src/transport/transport.js";
import { failure, transportFor } from "../../support/transport-for.js";
import { catVideo } from "../../support/video-task.js";

const url = "https://host/a.png";

test("a task is created, and only its id is needed of the answer (V4)", async () => {
  const { transport, upstream } = await transportFor([{ json: { id: "cgt-1" }, headers: { "x-request-id": "r1" } }]);
  expect(await transport.createVideoTask(catVideo)).toEqual({ id: "cgt-1", requestId: "r1", raw: { id: "cgt-1" } });
  expect(upstream.requests[0]).toMatchObject({
    method: "POST",
    path: "/llm/v1/contents/generations/tasks",
    body: catVideo,
    headers: { authorization: "Bearer sk-0123456789", "content-type": "application/json" },
  });
});

describe("a slow answer is no failure (V12)", () => {
  test("the contract allows it 15 minutes", () => {
    expect(operations.createVideoTask.readTimeoutMs).toBe(15 * 60_000);
  });

  test("and no time-out of the HTTP client, which would end it after five, stands in the way", async () => {
    const agent = new Agent();
    onTestFinished(() => agent.close());
    const asked: object[] = [];
    const dispatcher = agent.compose((dispatch) => (options, handler) => {
      asked.push(options);
      return dispatch(options, handler);
    });
    const { transport } = await transportFor([{ json: { id: "cgt-1" } }], { dispatcher });
    await transport.createVideoTask(catVideo);
    expect(asked).toEqual([expect.objectContaining({ headersTimeout: 0, bodyTimeout: 0 })]);
  });

  test("a read time-out is ours to set, and leaves open what became of the task", async () => {
    const { transport, upstream } = await transportFor([{ hang: true }], { videoCreateTimeoutMs: 400 });
    expect(await failure(transport.createVideoTask(catVideo))).toMatchObject({ code: "ambiguous", attempts: 1 });
    expect(upstream.requests).toHaveLength(1);
  });

  test("the time-out of other calls is not its own", async () => {
    const { transport } = await transportFor([{ json: { id: "cgt-1" }, delayMs: 500 }], { readTimeoutMs: 100 });
    expect(await transport.createVideoTask(catVideo)).toMatchObject({ id: "cgt-1" });
  });
});

describe("a creation that may have arrived is never sent again (V13)", () => {
  test.each([
    ["a broken connection", { destroy: true }],
    ["half an answer", { chunks: ['{"id":'], headers: { "content-length": "99" }, destroy: true }],
    ["status 500", { status: 500 }],
    ["status 502", { status: 502 }],
    ["status 504", { status: 504 }],
    ["status 408", { status: 408 }],
    ["status 500 that says to try again", { status: 500, headers: { "x-should-retry": "true" } }],
    ["an answer without an id", { json: {} }],
    ["an answer that is no JSON", { text: "ok" }],
  ])("after %s", async (_, reply) => {
    const { transport, upstream } = await transportFor([reply, { json: { id: "second" } }]);
    const error = await failure(transport.createVideoTask(catVideo));
    expect(error).toMatchObject({ code: "ambiguous", attempts: 1, retryable: false, operation: "createVideoTask" });
    expect(upstream.requests).toHaveLength(1);
  });

  test("also when the deadline passes while it is under way, or the transport is closed", async () => {
    const { transport } = await transportFor([{ hang: true }, { hang: true }]);
    expect(await failure(transport.createVideoTask(catVideo, { deadlineMs: 60 }))).toMatchObject({ code: "ambiguous" });
    const waiting = failure(transport.createVideoTask(catVideo));
    setTimeout(() => void transport.close(), 60);
    expect(await waiting).toMatchObject({ code: "ambiguous" });
  });

  test("a deadline that passes between attempts that surely failed is only a deadline", async () => {
    const { transport } = await transportFor([{ status: 503, retryAfterSeconds: 60 }]);
    const error = await failure(transport.createVideoTask(catVideo, { deadlineMs: 50 }));
    expect((error as TransportError).code).not.toBe("ambiguous");
  });

  test("the error says what to look for", async () => {
    const { transport, upstream } = await transportFor([{ status: 502, headers: { "x-request-id": "r9" } }]);
    const before = Date.now();
    const error = (await failure(transport.createVideoTask(catVideo))) as TransportError;
    expect(error).toMatchObject({ requestId: "r9", status: 502, submission: { model: catVideo.model } });
    const { fingerprint, notBefore, notAfter } = error.submission!;
    expect(fingerprint).toBe(createHash("sha256").update(JSON.stringify(upstream.requests[0]!.body)).digest("hex"));
    expect(notBefore.getTime()).toBeGreaterThanOrEqual(before);
    expect(notAfter.getTime()).toBeLessThanOrEqual(Date.now());
    expect(error.message).toContain(notBefore.toISOString());
    expect(error.message).toContain("reconcileVideo");
    expect(error.message).not.toContain("sk-0123456789");
  });

  test.each([429, 503])("but after an explicit %i it is", async (status) => {
    const { transport, upstream } = await transportFor([{ status }, { json: { id: "cgt-1" } }]);
    expect(await transport.createVideoTask(catVideo)).toMatchObject({ id: "cgt-1" });
    expect(upstream.requests).toHaveLength(2);
  });

  test("and where nobody listens it is tried again, and ends as a failure of the network", async () => {
    const transport = createTransport({ baseUrl: "http://127.0.0.1:1", maxRetries: 2, backoffMs: 1 });
    expect(await failure(transport.createVideoTask(catVideo))).toMatchObject({ code: "network", attempts: 3 });
    await transport.close();
  });

  test.each([400, 401, 402, 404, 413, 422])("a refusal with %i is a plain refusal", async (status) => {
    const { transport, upstream } = await transportFor([{ status, json: { error: { code: "X", message: "no" } } }]);
    const error = (await failure(transport.createVideoTask(catVideo))) as TransportError;
    expect(error.status).toBe(status);
    expect(error.code).not.toBe("ambiguous");
    expect(error.submission).toBeUndefined();
    expect(upstream.requests).toHaveLength(1);
  });

  test("an abort is thrown as it is, and what it may have left behind is warned of", async () => {
    const warnings: TransportEvent[] = [];
    const onEvent = (event: TransportEvent) => void (event.type === "warning" && warnings.push(event));
    const { transport, upstream } = await transportFor([{ hang: true }], { onEvent });
    const stop = new AbortController();
    const reason = new Error("enough");
    const creation = failure(transport.createVideoTask(catVideo, { signal: stop.signal }));
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), 5000);
    stop.abort(reason);
    expect(await creation).toBe(reason);
    expect(warnings).toEqual([
      expect.objectContaining({
        operation: "createVideoTask",
        model: catVideo.model,
        message: expect.stringMatching(/may have been created since \d{4}-.*listVideoTasks/) as string,
      }),
    ]);
    expect(await failure(transport.createVideoTask(catVideo, { signal: stop.signal }))).toBe(reason);
    expect(warnings).toHaveLength(1);
  });
});

describe("the role is written where the service looks for it (V16)", () => {
  const content = [
    { type: "text" as const, text: "A cat" },
    { type: "image_url" as const, image_url: { url, role: "reference_image" as const } },
    { type: "video_url" as const, video_url: { url } },
  ];
  const sent = async (videoRolePlacement?: "nested" | "sibling" | "both") => {
    const { transport, upstream } = await transportFor(
      [{ json: { id: "t" } }],
      videoRolePlacement && { videoRolePlacement },
    );
    await transport.createVideoTask({ ...catVideo, content });
    return (upstream.requests[0]!.body as { content: unknown[] }).content.slice(1);
  };

  test("inside by default, as the contract has it; a role that was left out is filled in", async () => {
    const nested = [
      { type: "image_url", image_url: { url, role: "reference_image" } },
      { type: "video_url", video_url: { url, role: "reference_video" } },
    ];
    expect(await sent()).toEqual(nested);
    expect(await sent("nested")).toEqual(nested);
  });

  test("beside", async () => {
    expect(await sent("sibling")).toEqual([
      { type: "image_url", image_url: { url }, role: "reference_image" },
      { type: "video_url", video_url: { url }, role: "reference_video" },
    ]);
  });

  test("both", async () => {
    expect(await sent("both")).toEqual([
      { type: "image_url", image_url: { url, role: "reference_image" }, role: "reference_image" },
      { type: "video_url", video_url: { url, role: "reference_video" }, role: "reference_video" },
    ]);
  });
});

test("fields that say what the service does anyway stay out, others go as the contract writes them (V17, V18)", async () => {
  const { transport, upstream } = await transportFor([{ json: { id: "t" } }, { json: { id: "t" } }]);
  const defaults = {
    return_last_frame: false,
    service_tier: "default" as const,
    execution_expires_after: 172_800,
    generate_audio: true,
    resolution: "720P" as const,
    ratio: "adaptive" as const,
    duration: 5,
    seed: -1,
    camera_fixed: false,
    watermark: false,
    tools: [],
  };
  await transport.createVideoTask({ ...catVideo, ...defaults });
  expect(upstream.requests[0]!.body).toEqual(catVideo);
  const others = { resolution: "480P" as const, duration: -1, seed: 0, generate_audio: false, ratio: "1:1" as const };
  await transport.createVideoTask({ ...catVideo, ...others });
  expect(upstream.requests[1]!.body).toEqual({ ...catVideo, ...others, resolution: "480p" });
});

test("a search that services of this shape do for text alone is warned of, and sent (V20)", async () => {
  const events: TransportEvent[] = [];
  const { transport, upstream } = await transportFor(() => ({ json: { id: "t" } }), {
    onEvent: (event) => events.push(event),
  });
  const tools = [{ type: "web_search" as const }];
  await transport.createVideoTask({ ...catVideo, tools });
  expect(events.filter(({ type }) => type === "warning")).toEqual([]);
  await transport.createVideoTask({ ...catVideo, tools, content: [{ type: "image_url", image_url: { url } }] });
  expect(events.filter(({ type }) => type === "warning")).toEqual([
    expect.objectContaining({ operation: "createVideoTask", message: expect.stringContaining("text alone") as string }),
  ]);
  expect(upstream.requests).toHaveLength(2);
});

test("a request that breaks the contract names field, value and bound, and nothing is sent", async () => {
  const { transport, upstream } = await transportFor([]);
  const error = await failure(transport.createVideoTask({ ...catVideo, duration: 16, seed: -2 }));
  expect(error).toMatchObject({ code: "request", attempts: 0 });
  expect(String(error)).toMatch(/duration: must be a whole number from 4 to 15, or -1 \(got 16\)/);
  expect(String(error)).toMatch(/seed.*-1.*\(got -2\)/);
  expect(upstream.requests).toHaveLength(0);
});

test("reference media for a model nobody described say how to describe it", async () => {
  const { transport } = await transportFor([{ json: { id: "t" } }]);
  const content = [{ type: "image_url" as const, image_url: { url, role: "reference_image" as const } }];
  const error = await failure(transport.createVideoTask({ model: "new/video", content }));
  expect(String(error)).toContain("createTransport({ models })");
  const described = await transportFor([{ json: { id: "t" } }], {
    models: [{ id: "new/video", type: "video", videoFeatures: ["references"] }],
  });
  expect(await described.transport.createVideoTask({ model: "new/video", content })).toMatchObject({ id: "t" });
});

test("a body of more than 64 MB is refused before it is sent (E11)", async () => {
  const { transport, upstream } = await transportFor([]);
  const data = `data:image/png;base64,${"A".repeat(33 * 1024 * 1024)}`;
  const item = { type: "image_url" as const, image_url: { url: data, role: "reference_image" as const } };
  const call = transport.createVideoTask({ ...catVideo, content: [item, item] }, { media: { check: "none" } });
  expect(await failure(call)).toMatchObject({ code: "too-large" });
  expect(upstream.requests).toHaveLength(0);
});

test("a gateway's smaller limit of bodies is the options' to set, to the byte (E11)", async () => {
  const sizeBytes = Buffer.byteLength(JSON.stringify(catVideo));
  const enough = await transportFor([{ json: { id: "t" } }], { maxBodyBytes: sizeBytes });
  expect(await enough.transport.createVideoTask(catVideo)).toMatchObject({ id: "t" });
  const { transport, upstream } = await transportFor([], { maxBodyBytes: sizeBytes - 1 });
  const error = await failure(transport.createVideoTask(catVideo));
  expect(error).toMatchObject({ code: "too-large" });
  expect(String(error)).toContain(`has ${sizeBytes} bytes, at most ${sizeBytes - 1} are taken`);
  expect(upstream.requests).toHaveLength(0);
});
