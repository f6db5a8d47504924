import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { type VideoCallbackOptions, isNews, videoCallbacks } from "../../../src/transport/video/callbacks.js";
import type { VideoTask } from "../../../src/transport/video/task.js";
import { transportFor } from "../../support/transport-for.js";

const body = (status: string, updated = 100, id = "cgt-1") => ({ id, status, updated_at: updated });
const post = (content: unknown, query = "") =>
  new Request(`http://receiver/hook${query}`, { method: "POST", body: JSON.stringify(content) });

/** A receiver before a service that tells these things of the task, the last of them for ever. */
async function receiver(told: readonly object[], more: Partial<VideoCallbackOptions> = {}) {
  const { transport, upstream } = await transportFor((_, index) => ({ json: told[Math.min(index, told.length - 1)] }));
  const seen: string[] = [];
  const callbacks = videoCallbacks({ transport, onTask: ({ status }) => void seen.push(status), ...more });
  return { callbacks, upstream, seen };
}

describe("a callback (V23)", () => {
  test("is answered at once, and then its task is queried", async () => {
    const { callbacks, upstream, seen } = await receiver([body("running")]);
    // The body claims more than the service says.
    expect((await callbacks.fetch(post(body("succeeded")))).status).toBe(204);
    await callbacks.idle();
    expect(seen).toEqual(["running"]);
    expect(upstream.requests[0]!.path).toMatch(/tasks\/cgt-1$/);
  });

  test("that is repeated changes nothing", async () => {
    const { callbacks, seen } = await receiver([body("succeeded")]);
    for (let times = 0; times < 3; times++) {
      await callbacks.fetch(post(body("succeeded")));
      await callbacks.idle();
    }
    expect(seen).toEqual(["succeeded"]);
  });

  test("that comes late does not move a task back", async () => {
    const { callbacks, seen } = await receiver([body("running"), body("succeeded", 200), body("running", 300)]);
    for (let times = 0; times < 3; times++) {
      await callbacks.fetch(post(body("running")));
      await callbacks.idle();
    }
    expect(seen).toEqual(["running", "succeeded"]);
  });

  test("that comes during a query of its task causes one more", async () => {
    const { callbacks, upstream, seen } = await receiver([body("running"), body("succeeded", 200)]);
    await Promise.all(Array.from({ length: 5 }, () => callbacks.fetch(post(body("running")))));
    await callbacks.idle();
    expect(seen).toEqual(["running", "succeeded"]);
    expect(upstream.requests).toHaveLength(2);
  });

  test("whose change its receiver fails to take is told again, until it is taken", async () => {
    let calls = 0;
    const errors: string[] = [];
    const { callbacks, seen } = await receiver([body("succeeded")], {
      backoffMs: 1,
      onTask: ({ status }) => {
        if (++calls < 4) throw new Error(`full ${calls}`);
        seen.push(status);
      },
      onError: ({ message }, id) => errors.push(`${id} ${message}`),
    });
    await callbacks.fetch(post(body("succeeded")));
    await callbacks.idle();
    expect(seen).toEqual(["succeeded"]);
    expect(errors).toEqual(["cgt-1 full 1", "cgt-1 full 2", "cgt-1 full 3"]);
    await callbacks.fetch(post(body("succeeded")));
    await callbacks.idle();
    expect(calls).toBe(4);
  });

  test("whose change its receiver never takes is given up, and begun anew by the next", async () => {
    let calls = 0;
    const { callbacks } = await receiver([body("succeeded")], {
      backoffMs: 1,
      maxRetries: 2,
      onTask: () => {
        calls++;
        throw new Error("full");
      },
    });
    for (const expected of [3, 6]) {
      await callbacks.fetch(post(body("succeeded")));
      await callbacks.idle();
      expect(calls).toBe(expected);
    }
  });

  test("whose query fails for a passing reason is not lost", async () => {
    const { transport } = await transportFor([{ status: 500 }, { json: body("succeeded") }], { maxRetries: 0 });
    const seen: string[] = [];
    const callbacks = videoCallbacks({ transport, backoffMs: 1, onTask: ({ status }) => void seen.push(status) });
    await callbacks.fetch(post(body("succeeded")));
    await callbacks.idle();
    expect(seen).toEqual(["succeeded"]);
  });

  test("whose query fails is reported, and the next one is heard", async () => {
    const { transport } = await transportFor([{ status: 404 }, { json: body("running") }]);
    const errors: string[] = [];
    const seen: string[] = [];
    const callbacks = videoCallbacks({
      transport,
      onTask: ({ status }) => void seen.push(status),
      onError: (error, id) => errors.push(`${id} ${(error as { code?: string }).code}`),
    });
    await callbacks.fetch(post(body("running")));
    await callbacks.idle();
    expect(errors).toEqual(["cgt-1 not-found"]);
    await callbacks.fetch(post(body("running")));
    await callbacks.idle();
    expect(seen).toEqual(["running"]);
  });
});

describe("a request that is no callback is refused, and no task is queried", () => {
  const token = "0123456789abcdef";

  test.each([
    ["GET", new Request("http://receiver/"), 405],
    ["no JSON", new Request("http://receiver/", { method: "POST", body: "hello" }), 400],
    ["no task", post({ status: "running" }), 400],
    ["a body beyond 1 MB", post({ ...body("running"), filler: "x".repeat(1024 * 1024) }), 413],
  ])("%s", async (_, request, status) => {
    const { callbacks, upstream } = await receiver([body("running")]);
    expect((await callbacks.fetch(request)).status).toBe(status);
    expect(upstream.requests).toHaveLength(0);
  });

  test("one without the token of callback_url", async () => {
    const { callbacks, upstream } = await receiver([body("running")], { token });
    for (const query of ["", "?token=", `?token=${token}x`]) {
      expect((await callbacks.fetch(post(body("running"), query))).status).toBe(401);
    }
    expect(upstream.requests).toHaveLength(0);
    expect((await callbacks.fetch(post(body("running"), `?token=${token}`))).status).toBe(204);
    await callbacks.idle();
  });

  test("more tasks than may be under way", async () => {
    const { callbacks } = await receiver([body("running")], { maxPending: 1 });
    expect((await callbacks.fetch(post(body("running", 1, "a")))).status).toBe(204);
    expect((await callbacks.fetch(post(body("running", 1, "b")))).status).toBe(503);
    await callbacks.idle();
  });
});

test("a node:http server hands its requests over", async () => {
  const { callbacks, seen } = await receiver([body("succeeded")]);
  const server = createServer(callbacks.handle).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const answer = await fetch(address, { method: "POST", body: JSON.stringify(body("succeeded")) });
  expect(answer.status).toBe(204);
  expect((await fetch(address)).status).toBe(405);
  await callbacks.idle();
  expect(seen).toEqual(["succeeded"]);
});

test("in any order of what the service tells, a task never goes back and nothing is told twice", () => {
  const ranks = ["queued", "running", "done"];
  const kind = fc.constantFrom("queued", "running", "succeeded", "failed");
  const telling = fc.record({ status: kind, at: fc.integer({ min: 0, max: 4 }) });
  fc.assert(
    fc.property(fc.array(telling, { maxLength: 20 }), (tellings) => {
      const told: VideoTask[] = [];
      for (const { status, at } of tellings) {
        const finished = status === "succeeded" || status === "failed";
        const task = { id: "a", status, finished, updatedAt: new Date(at), raw: {} };
        if (isNews(task, told.at(-1))) told.push(task);
      }
      const rank = ({ status, finished }: VideoTask) => ranks.indexOf(finished ? "done" : status);
      for (let index = 1; index < told.length; index++) {
        expect(rank(told[index]!)).toBeGreaterThanOrEqual(rank(told[index - 1]!));
      }
      expect(told.filter(({ finished }) => finished).length).toBeLessThanOrEqual(1);
      const keys = told.map(({ status, updatedAt }) => `${status} ${updatedAt!.getTime()}`);
      expect(new Set(keys).size).toBe(keys.length);
    }),
  );
});
