import { describe, expect, test } from "vitest";
import type { CallOptions } from "../../../src/core/ports.js";
import type { ScriptedReply } from "../../support/scripted-upstream.js";
import { failure, transportFor } from "../../support/transport-for.js";
import { taskBody } from "../../support/video-task.js";

describe("the query (V1)", () => {
  test("asks by GET, without a body, with the id as one segment of the path", async () => {
    const { transport, upstream } = await transportFor(() => ({ json: taskBody() }));
    await transport.videoTask("cgt/1 ?ü");
    expect(upstream.requests[0]).toMatchObject({
      method: "GET",
      path: "/llm/v1/contents/generations/tasks/cgt%2F1%20%3F%C3%BC",
      body: "",
      headers: { authorization: "Bearer sk-0123456789" },
    });
  });

  test("goes where other services have it", async () => {
    const { transport, upstream } = await transportFor(() => ({ json: taskBody() }), {
      paths: { videoTask: "/v9/jobs/{id}/state" },
    });
    await transport.videoTask("a");
    expect(upstream.requests[0]!.path).toBe("/v9/jobs/a/state");
  });

  test.each(["", ".", "..", undefined])("the id %j is refused before anything is sent", async (id) => {
    const { transport, upstream } = await transportFor([]);
    expect(await failure(transport.videoTask(id as string))).toMatchObject({ code: "request" });
    expect(await failure(transport.cancelVideoTask(id as string))).toMatchObject({ code: "request" });
    expect(upstream.requests).toHaveLength(0);
  });

  test("of a task that is not there says how long records live (V9)", async () => {
    const { transport, upstream } = await transportFor([
      { status: 404, json: { error: { code: "ResourceNotFound.Task", message: "none" } } },
    ]);
    const error = await failure(transport.videoTask("a"));
    expect(error).toMatchObject({ code: "not-found", attempts: 1 });
    expect(String(error)).toMatch(/no such task.*7 days/);
    expect(upstream.requests).toHaveLength(1);
  });

  test.each<[string, ScriptedReply, CallOptions?]>([
    ["that is not there", { status: 404 }],
    ["that the service does not hand out", { status: 403 }],
    ["whose reply is no task", { json: { id: 7 } }],
    ["whose reply does not come", { destroy: true }],
    ["whose deadline passes", { hang: true }, { deadlineMs: 20 }],
  ])("of a task %s names the task, and so does its cancelling", async (_, reply, options) => {
    const { transport } = await transportFor(() => reply, { maxRetries: 0 });
    const error = await failure(transport.videoTask("cgt-77", options));
    expect(error).toMatchObject({ taskId: "cgt-77", message: expect.stringMatching(/^videoTask of cgt-77 failed/) });
    if ("json" in reply) return;
    const other = await failure(transport.cancelVideoTask("cgt-78", options));
    expect(other).toMatchObject({
      taskId: "cgt-78",
      message: expect.stringMatching(/^cancelVideoTask of cgt-78 failed/),
    });
  });

  test("is sent again when the service or the network failed (V15)", async () => {
    const { transport, upstream } = await transportFor([{ status: 500 }, { destroy: true }, { json: taskBody() }]);
    expect(await transport.videoTask("cgt-1")).toMatchObject({ status: "succeeded" });
    expect(upstream.requests).toHaveLength(3);
  });
});

describe("a task is read", () => {
  const read = async (json: object) => {
    const { transport } = await transportFor([{ json }]);
    return transport.videoTask("cgt-1");
  };

  test("whole, in our terms (V2, V19)", async () => {
    const raw = {
      id: "cgt-1",
      model: "video-2.0",
      status: "succeeded",
      error: null,
      created_at: 1_765_510_475,
      updated_at: 1_765_510_559,
      content: { video_url: "https://cdn/v.mp4?sig=1", last_frame_url: "https://cdn/l.png" },
      seed: 58_944,
      resolution: "720P",
      ratio: "16:9",
      duration: 5,
      framespersecond: 24,
      generate_audio: true,
      service_tier: "default",
      execution_expires_after: 172_800,
      usage: { completion_tokens: 108_900, total_tokens: 108_900, tool_usage: { web_search: 0 } },
      novel: { kept: true },
    };
    expect(await read(raw)).toEqual({
      id: "cgt-1",
      model: "video-2.0",
      status: "succeeded",
      finished: true,
      createdAt: new Date(1_765_510_475_000),
      updatedAt: new Date(1_765_510_559_000),
      videoUrl: "https://cdn/v.mp4?sig=1",
      lastFrameUrl: "https://cdn/l.png",
      linksExpireAt: new Date(1_765_510_559_000 + 24 * 3_600_000),
      seed: 58_944,
      resolution: "720p",
      ratio: "16:9",
      durationSeconds: 5,
      framesPerSecond: 24,
      generateAudio: true,
      serviceTier: "default",
      expiresAfterSeconds: 172_800,
      usage: { outputTokens: 108_900, totalTokens: 108_900, webSearches: 0 },
      raw,
    });
  });

  test("from nothing but id and status (V2)", async () => {
    const raw = { id: "cgt-1", status: "queued" };
    expect(await read(raw)).toEqual({ ...raw, finished: false, raw });
  });

  test("with numbers written as strings (V3)", async () => {
    const task = await read(taskBody({ duration: "5", seed: "-1", usage: { completion_tokens: "108900" } }));
    expect(task).toMatchObject({ durationSeconds: 5, seed: -1, usage: { outputTokens: 108_900 } });
  });

  test("with fields that are not what they should be left out", async () => {
    const odd = { duration: {}, ratio: 7, content: "x", usage: [], error: "text", created_at: "yesterday" };
    const task = await read(taskBody(odd));
    expect(task).toMatchObject({ status: "succeeded", raw: odd });
    for (const field of ["durationSeconds", "ratio", "videoUrl", "usage", "error", "createdAt"]) {
      expect(task).not.toHaveProperty(field);
    }
  });

  test.each([
    ["pending", "queued", false],
    ["processing", "running", false],
    ["in_progress", "running", false],
    ["completed", "succeeded", true],
    ["canceled", "cancelled", true],
    ["Cancelled", "cancelled", true],
    ["SUCCEEDED", "succeeded", true],
    ["failed", "failed", true],
    ["expired", "expired", true],
    ["reviewing", "reviewing", false],
  ])("status %s as %s, finished: %s (V6)", async (written, status, finished) => {
    expect(await read(taskBody({ status: written }))).toMatchObject({ status, finished });
  });

  test("as the options say of a service with names and lifetimes of its own (V6, V10)", async () => {
    const content = { video_url: "https://cdn/v.mp4" };
    const body = taskBody({ status: "Done", updated_at: 1e9, content });
    const { transport } = await transportFor([{ json: body }, { json: { items: [body] } }], {
      videoStatusAliases: { done: "succeeded" },
      videoLinkLifetimeMs: 60_000,
    });
    const expected = { status: "succeeded", finished: true, linksExpireAt: new Date(1e12 + 60_000) };
    expect(await transport.videoTask("cgt-1")).toMatchObject(expected);
    expect((await transport.listVideoTasks()).tasks).toMatchObject([expected]);
  });

  test("with the reason of its failure", async () => {
    const error = { code: "OutputVideoSensitiveContentDetected", message: "withheld" };
    expect(await read(taskBody({ status: "failed", error }))).toMatchObject({ status: "failed", error });
  });

  test("an error that came with status 200 is an error (E4)", async () => {
    const { transport } = await transportFor([{ json: { code: 20063, message: "task not exist" } }]);
    expect(await failure(transport.videoTask("a"))).toMatchObject({ code: "refused", serviceCode: "20063" });
  });
});

describe("the list (V7)", () => {
  test("asks with the contract's own names", async () => {
    const { transport, upstream } = await transportFor([{ json: { items: [], total: 0 } }]);
    await transport.listVideoTasks({
      page_num: 2,
      page_size: 50,
      "filter.task_ids": ["a", "b"],
      "filter.status": "running",
    });
    const { pathname, searchParams } = new URL(upstream.requests[0]!.path, "http://host");
    expect(pathname).toBe("/llm/v1/contents/generations/tasks");
    expect([...searchParams]).toEqual([
      ["page_num", "2"],
      ["page_size", "50"],
      ["filter.task_ids", "a"],
      ["filter.task_ids", "b"],
      ["filter.status", "running"],
    ]);
  });

  test("gives tasks, and leaves out what is none", async () => {
    const { transport } = await transportFor([{ json: { items: [taskBody(), { id: 7 }], total: "2" } }]);
    const { tasks, total } = await transport.listVideoTasks();
    expect(tasks.map(({ id }) => id)).toEqual(["cgt-1"]);
    expect(total).toBe(2);
  });

  test("refuses a page beyond 500 before it is sent", async () => {
    const { transport, upstream } = await transportFor([]);
    const error = await failure(transport.listVideoTasks({ page_size: 501 }));
    expect(error).toMatchObject({ code: "request" });
    expect(String(error)).toMatch(/page_size.*500/);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe("cancelling (V8)", () => {
  test.each([{ json: {} }, { status: 204 }, { text: "" }])("is done with %j", async (reply) => {
    const { transport, upstream } = await transportFor([reply]);
    await expect(transport.cancelVideoTask("cgt-1")).resolves.toBeUndefined();
    expect(upstream.requests[0]).toMatchObject({ method: "DELETE", path: "/llm/v1/contents/generations/tasks/cgt-1" });
  });

  test("a running task is refused at once", async () => {
    const { transport, upstream } = await transportFor(() => ({
      status: 409,
      json: { error: { code: "TaskRunningCannotCancel", message: "runs" } },
    }));
    expect(await failure(transport.cancelVideoTask("a"))).toMatchObject({
      code: "refused",
      status: 409,
      retryable: false,
    });
    expect(upstream.requests).toHaveLength(1);
  });

  test("a task that is gone after a lost answer was cancelled; one that never was is not found", async () => {
    const lost = await transportFor([{ destroy: true }, { status: 404 }]);
    await expect(lost.transport.cancelVideoTask("a")).resolves.toBeUndefined();
    const never = await transportFor([{ status: 404 }]);
    expect(await failure(never.transport.cancelVideoTask("a"))).toMatchObject({ code: "not-found" });
  });
});

test("the published models are listed, as far as the service describes them", async () => {
  const data = [
    { id: "a", object: "model", type: "video" },
    { id: "b", type: "llm", family: "Q3" },
    { id: "c", type: "odd" },
  ];
  const { transport, upstream } = await transportFor([{ json: { object: "list", data } }]);
  expect(await transport.listModels()).toEqual([
    { id: "a", type: "video" },
    { id: "b", type: "llm", family: "Q3" },
    { id: "c" },
  ]);
  expect(upstream.requests[0]).toMatchObject({ method: "GET", path: "/llm/v1/models" });
});
