import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pollDelayMs, waitBudgetMs, type VideoProgress } from "../../../src/transport/video/wait.js";
import { VideoError } from "../../../src/transport/video/video-error.js";
import { failure, transportFor } from "../../support/transport-for.js";
import { taskBody } from "../../support/video-task.js";

const quick = { firstMs: 5, maxMs: 10 };
const standing = (...statuses: readonly string[]) => statuses.map((status) => ({ json: taskBody({ status }) }));
const cadence = { firstMs: 10_000, factor: 1.5, maxMs: 30_000, jitter: 0.2 };

describe("the cadence (V14)", () => {
  test("is 10 s, growing by half to 30 s, 20 % either way", () => {
    const plain = [1, 2, 3, 4, 5].map((polls) => pollDelayMs({ polls, remainingMs: 1e9, random: 0.5 }, cadence));
    expect(plain).toEqual([10_000, 15_000, 22_500, 30_000, 30_000]);
    expect(pollDelayMs({ polls: 1, remainingMs: 1e9, random: 0 }, cadence)).toBe(8000);
    expect(pollDelayMs({ polls: 9, remainingMs: 1e9, random: 1 }, cadence)).toBe(36_000);
  });

  test("never waits beyond the end, and gives up there", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.double({ min: 0.001, max: 1e7, noNaN: true }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (polls, remainingMs, random) => {
          const delayMs = pollDelayMs({ polls, remainingMs, random }, cadence)!;
          expect(delayMs).toBeGreaterThan(0);
          expect(delayMs).toBeLessThanOrEqual(Math.min(remainingMs, 36_000));
        },
      ),
    );
    expect(pollDelayMs({ polls: 1, remainingMs: 0, random: 0 }, cadence)).toBeUndefined();
  });

  test("the wait is 30 minutes; of the flex tier as long as the task may live", () => {
    const nowMs = 1e12;
    expect(waitBudgetMs({}, nowMs)).toBe(1_800_000);
    expect(waitBudgetMs({ serviceTier: "default", expiresAfterSeconds: 172_800 }, nowMs)).toBe(1_800_000);
    const flex = { serviceTier: "flex", expiresAfterSeconds: 172_800, createdAt: new Date(nowMs - 1000) };
    expect(waitBudgetMs(flex, nowMs)).toBe(172_799_000);
  });
});

test("a wait queries until the task has succeeded, and reports each query after which it goes on", async () => {
  const { transport, upstream } = await transportFor(standing("queued", "running", "running", "succeeded"));
  const seen: VideoProgress[] = [];
  const task = await transport.waitForVideo("cgt-1", { poll: quick, onProgress: (progress) => seen.push(progress) });
  expect(task).toMatchObject({ id: "cgt-1", status: "succeeded", finished: true });
  expect(seen.map((progress) => progress.task?.status)).toEqual(["queued", "running", "running"]);
  expect(upstream.requests).toHaveLength(4);
});

describe("a wait ends with an error that carries the task (V5)", () => {
  test.each([
    ["failed", { error: { code: "InternalServiceError", message: "sorry" } }, /failed: InternalServiceError, sorry/],
    ["expired", { execution_expires_after: 3600 }, /expired after 3600 s.*execution_expires_after/],
    ["cancelled", {}, /was cancelled/],
    ["canceled", {}, /was cancelled/],
  ])("when it %s", async (status, more, message) => {
    const { transport, upstream } = await transportFor([{ json: taskBody({ status, ...more }) }]);
    const error = await failure(transport.waitForVideo("cgt-1", { poll: quick }));
    expect(error).toBeInstanceOf(VideoError);
    expect(error).toMatchObject({ taskId: "cgt-1", task: { finished: true, raw: { status } } });
    expect(String(error)).toMatch(message);
    expect(upstream.requests).toHaveLength(1);
  });

  test("an unknown status is waited out (V6)", async () => {
    const { transport } = await transportFor(standing("reviewing", "succeeded"));
    expect(await transport.waitForVideo("cgt-1", { poll: quick })).toMatchObject({ status: "succeeded" });
  });

  test("when the time is over: with id, last status, and how to go on (V14)", async () => {
    const { transport } = await transportFor(() => ({ json: taskBody({ status: "running" }) }));
    const error = await failure(transport.waitForVideo("cgt-1", { deadlineMs: 60, poll: quick }));
    expect(error).toMatchObject({ code: "wait-timeout", taskId: "cgt-1", task: { status: "running" } });
    expect(String(error)).toMatch(/cgt-1 is still running.*waitForVideo/);
    // Another process, which knows the id alone.
    const { transport: other } = await transportFor(standing("succeeded"));
    expect(await other.waitForVideo((error as VideoError).taskId)).toMatchObject({ status: "succeeded" });
  });
});

describe("queries that fail (V15)", () => {
  test("do not end the wait while the service may come back", async () => {
    const { transport } = await transportFor([{ status: 500 }, { destroy: true }, ...standing("succeeded")], {
      maxRetries: 0,
    });
    const seen: VideoProgress[] = [];
    await transport.waitForVideo("cgt-1", { poll: quick, onProgress: (progress) => seen.push(progress) });
    expect(seen.map(({ error }) => (error as { code?: string }).code)).toEqual(["upstream", "network"]);
  });

  test("end it after too many in a row", async () => {
    const { transport, upstream } = await transportFor(() => ({ status: 500 }), { maxRetries: 0 });
    const error = await failure(transport.waitForVideo("cgt-1", { poll: { ...quick, maxFailures: 2 } }));
    expect(error).toMatchObject({ code: "upstream", status: 500 });
    expect(upstream.requests).toHaveLength(3);
  });

  test("end it at once when another query is of no use", async () => {
    const { transport, upstream } = await transportFor(() => ({ status: 401 }));
    expect(await failure(transport.waitForVideo("cgt-1", { poll: quick }))).toMatchObject({ code: "unauthorized" });
    expect(upstream.requests).toHaveLength(1);
  });

  test("a task that is not there yet is asked for again in the first seconds", async () => {
    const { transport } = await transportFor([{ status: 404 }, { status: 404 }, ...standing("succeeded")]);
    expect(await transport.waitForVideo("cgt-1", { poll: quick })).toMatchObject({ status: "succeeded" });
  });

  test("later it is gone, and so is one that was there before", async () => {
    const { transport } = await transportFor(() => ({ status: 404 }));
    const call = transport.waitForVideo("cgt-1", { poll: { ...quick, notFoundGraceMs: 30 } });
    expect(await failure(call)).toMatchObject({ code: "not-found" });
    const gone = await transportFor([...standing("queued"), { status: 404 }]);
    expect(await failure(gone.transport.waitForVideo("cgt-1", { poll: quick }))).toMatchObject({ code: "not-found" });
    expect(gone.upstream.requests).toHaveLength(2);
  });
});

describe("a wait is left at once", () => {
  test("by the caller's signal, whose reason is thrown as it is", async () => {
    const { transport } = await transportFor(() => ({ json: taskBody({ status: "running" }) }));
    const stop = new AbortController();
    const reason = new Error("enough");
    const call = failure(
      transport.waitForVideo("cgt-1", {
        signal: stop.signal,
        onProgress: () => setImmediate(() => stop.abort(reason)),
      }),
    );
    expect(await call).toBe(reason);
  });

  test("when the transport is closed", async () => {
    const { transport } = await transportFor(() => ({ json: taskBody({ status: "running" }) }));
    const call = failure(
      transport.waitForVideo("cgt-1", {
        poll: { firstMs: 600_000, maxMs: 600_000 },
        onProgress: () => setImmediate(() => void transport.close()),
      }),
    );
    expect(await call).toMatchObject({ code: "request", message: expect.stringContaining("closed") as string });
  });
});

test.each([
  [{ deadlineMs: -1 }, /deadlineMs/],
  [{ deadlineMs: Number.NaN }, /deadlineMs/],
  [{ poll: { jitter: 2 } }, /jitter/],
  [{ poll: { everyMs: 1 } }, /everyMs/],
])("the option %j is refused by name", async (options, message) => {
  const { transport, upstream } = await transportFor([]);
  const error = await failure(transport.waitForVideo("a", options as object));
  expect(error).toMatchObject({ code: "options" });
  expect(String(error)).toMatch(message);
  expect(upstream.requests).toHaveLength(0);
});
