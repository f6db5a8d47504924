import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Submission, TransportError } from "../../../src/core/errors.js";
import { matchVideoTask } from "../../../src/transport/video/reconcile.js";
import { parseVideoTask } from "../../../src/transport/video/task.js";
import type { ScriptedReply } from "../../support/scripted-upstream.js";
import { failure, transportFor } from "../../support/transport-for.js";
import { catVideo, taskBody } from "../../support/video-task.js";

const seconds = () => Math.floor(Date.now() / 1000);
const fresh = (id: string, more: object = {}) => taskBody({ id, created_at: seconds(), status: "queued", ...more });
const page = (items: readonly object[], total?: number): ScriptedReply => ({
  json: { items, ...(total !== undefined && { total }) },
});

/** Loses the answer of a creation; the transport's list then answers with these replies. */
async function lost(replies: readonly ScriptedReply[], request: object = {}) {
  const { transport, upstream } = await transportFor([{ status: 502 }, ...replies]);
  const error = (await failure(transport.createVideoTask({ ...catVideo, ...request }))) as TransportError;
  expect(error.code).toBe("ambiguous");
  return { transport, submission: error.submission!, upstream };
}

describe("a creation whose answer was lost is looked for, and never made again (V13)", () => {
  test("and found, by its model, time and settings", async () => {
    const request = { resolution: "480p" as const, seed: 7, safety_identifier: "u1" };
    const fits = { resolution: "480p", seed: 7, safety_identifier: "u1" };
    const others = [
      fresh("older", { ...fits, created_at: seconds() - 3600 }),
      fresh("faster", { ...fits, model: "vendor-video-2.0-fast-250115" }),
      fresh("larger", { ...fits, resolution: "720p" }),
      fresh("other seed", { ...fits, seed: 8 }),
      fresh("other user", { ...fits, safety_identifier: "u2" }),
    ];
    const { transport, submission, upstream } = await lost([page([...others, fresh("mine", fits)], 6)], request);
    expect(await transport.reconcileVideo(submission)).toMatchObject({ outcome: "found", task: { id: "mine" } });
    expect(upstream.requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
  });

  test("none, which is final only once the service had its time", async () => {
    const { transport, submission } = await lost([page([], 0), page([], 0)]);
    expect(await transport.reconcileVideo(submission)).toEqual({ outcome: "none", mayStillAppear: true });
    expect(await transport.reconcileVideo(submission, { toleranceMs: 0 })).toEqual({
      outcome: "none",
      mayStillAppear: false,
    });
  });

  test("several that fit are handed over, closest in time first; known ones are not among them", async () => {
    const items = [fresh("later", { created_at: seconds() + 60 }), fresh("near"), fresh("another's")];
    const { transport, submission } = await lost([page(items, 3), page(items, 3)]);
    const both = await transport.reconcileVideo(submission, { knownIds: ["another's"] });
    expect(both).toMatchObject({ outcome: "ambiguous", candidates: [{ id: "near" }, { id: "later" }] });
    const one = await transport.reconcileVideo(submission, { knownIds: ["another's", "later"] });
    expect(one).toMatchObject({ outcome: "found", task: { id: "near" } });
  });

  test.each([
    ["a name that nobody knows", { model: "ep-2025" }],
    ["no model", { model: undefined }],
    ["no time", { created_at: undefined }],
  ])("a task with %s is a candidate, and alone not enough", async (_, more) => {
    const { transport, submission } = await lost([page([fresh("odd", more)], 1)]);
    expect(await transport.reconcileVideo(submission)).toMatchObject({
      outcome: "ambiguous",
      candidates: [{ id: "odd" }],
    });
  });
});

describe("the list is read whole", () => {
  test("where its total is told, and pages are smaller than asked", async () => {
    const { transport, submission, upstream } = await lost([
      page([fresh("a", { seed: 1 })], 2),
      page([fresh("b", { seed: 2 })], 2),
    ]);
    expect(await transport.reconcileVideo(submission)).toMatchObject({
      outcome: "ambiguous",
      candidates: [{ id: "a" }, { id: "b" }],
    });
    expect(
      upstream.requests.slice(1).map(({ path }) => new URL(path, "http://h").searchParams.get("page_num")),
    ).toEqual(["1", "2"]);
  });

  test("where no total is told, until a page is empty or brings nothing new", async () => {
    const empty = await lost([page([fresh("a")]), page([])]);
    expect(await empty.transport.reconcileVideo(empty.submission)).toMatchObject({ outcome: "found" });
    expect(empty.upstream.requests).toHaveLength(3);
    const same = await lost([page([fresh("a")]), page([fresh("a")])]);
    expect(await same.transport.reconcileVideo(same.submission)).toMatchObject({ outcome: "found" });
    expect(same.upstream.requests).toHaveLength(3);
  });

  test("tasks of the flex tier are asked for by name, or they may stay invisible (V7)", async () => {
    const models = [{ id: catVideo.model, type: "video" as const, videoFeatures: ["flex" as const] }];
    const { transport, upstream } = await transportFor([{ status: 502 }, page([], 0)], { models });
    const error = await failure(transport.createVideoTask({ ...catVideo, service_tier: "flex" }));
    await transport.reconcileVideo((error as TransportError).submission!);
    expect(new URL(upstream.requests[1]!.path, "http://h").searchParams.get("filter.service_tier")).toBe("flex");
  });

  test("a service without a list says so", async () => {
    const { transport, submission } = await lost([{ status: 404 }]);
    expect(await failure(transport.reconcileVideo(submission))).toMatchObject({
      code: "not-found",
      operation: "listVideoTasks",
    });
  });

  test("a submission that is older than the list reaches is refused", async () => {
    const { transport, submission, upstream } = await lost([]);
    const old = { ...submission, notBefore: new Date(Date.now() - 8 * 86_400_000) };
    expect(await failure(transport.reconcileVideo(old))).toMatchObject({ code: "options" });
    expect(upstream.requests).toHaveLength(1);
  });
});

test("the submission holds the settings, and neither content nor the callback's address", async () => {
  const { submission } = await lost([], { seed: 7, callback_url: "https://host/?token=0123456789abcdef" });
  expect(submission.settings).toEqual({ seed: 7 });
  expect(JSON.stringify(submission)).not.toContain("0123456789abcdef");
});

describe("only a contradiction makes a task differ from the request", () => {
  const submission = (settings: object): Submission => ({
    model: "vendor/vendor-video-2.0",
    fingerprint: "0",
    settings: settings as Submission["settings"],
    notBefore: new Date(1e12),
    notAfter: new Date(1e12 + 500),
  });
  const options = { models: ["vendor/vendor-video-2.0", "vendor/vendor-video-2.0-fast"], toleranceMs: 0 };
  const task = (more: object) =>
    parseVideoTask({ id: "t", status: "running", model: "vendor-video-2.0", created_at: 1e9, ...more })!;

  test.each([
    [{ ratio: "adaptive" }, { ratio: "16:9" }, "fits"],
    [{ ratio: "1:1" }, { ratio: "16:9" }, "differs"],
    [{ duration: -1 }, { duration: 9 }, "fits"],
    [{ duration: 5 }, { duration: "5" }, "fits"],
    [{ duration: 5 }, { duration: 9 }, "differs"],
    [{ duration: 5, frames: 57 }, { duration: 9, frames: 57 }, "fits"],
    [{ seed: -1 }, { seed: 4 }, "fits"],
    [{ generate_audio: false }, { generate_audio: true }, "differs"],
    [{ resolution: "480p" }, {}, "fits"],
    [{}, { resolution: "480p", ratio: "1:1", duration: 9, seed: 3, generate_audio: false }, "fits"],
    [{}, { model: "vendor/Vendor-Video-2.0-250115" }, "fits"],
    [{}, { model: "vendor-video-2.0-fast-250115" }, "differs"],
    [{}, { model: "vendor-video-2.0-novel" }, "may-fit"],
  ])("asked %j, told %j: %s", (asked, told, expected) => {
    expect(matchVideoTask(task(told), submission(asked), options)).toBe(expected);
  });

  test("a time counts when it is the request's, in whole seconds, give or take the tolerance", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100_000 }),
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: -120_000, max: 120_000 }),
        (lastedMs, toleranceMs, offsetMs) => {
          const notBefore = new Date(1e12 + 250);
          const notAfter = new Date(notBefore.getTime() + lastedMs);
          const reallyMs = notBefore.getTime() + offsetMs;
          const told = task({ created_at: Math.floor(reallyMs / 1000) });
          const match = matchVideoTask(told, { ...submission({}), notBefore, notAfter }, { ...options, toleranceMs });
          const inside = offsetMs >= -toleranceMs && offsetMs <= lastedMs + toleranceMs;
          if (inside) expect(match).toBe("fits");
          // A whole second was lost when it was written.
          else if (offsetMs < -toleranceMs - 1000 || offsetMs > lastedMs + toleranceMs + 1000) {
            expect(match).toBe("differs");
          }
        },
      ),
    );
  });
});
