import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelInfo, videoModels } from "../../src/contract/catalogue.js";
import { operations } from "../../src/contract/operations.js";
import { violations } from "../../src/contract/operation.js";

const content = [{ type: "text", text: "A cat" }];
const found = (fields: object, model = videoModels[0]!.id) =>
  violations(
    operations.createVideoTask,
    { model, content, ...fields },
    modelInfo([...videoModels, { id: "talk", type: "llm" }], model, "video"),
  );
const takes = (fields: object, model?: string) => found(fields, model).length === 0;

test.each([
  ["execution_expires_after", 3600, 259_200],
  ["seed", -1, 2 ** 32 - 1],
])("%s is a whole number from %i to %i", (field, least, most) => {
  for (const edge of [least, most]) expect(takes({ [field]: edge })).toBe(true);
  for (const beyond of [least - 1, most + 1, least + 0.5]) expect(takes({ [field]: beyond })).toBe(false);
  fc.assert(
    fc.property(fc.integer({ min: least - 10_000, max: most + 10_000 }), (value) => {
      expect(takes({ [field]: value })).toBe(value >= least && value <= most);
    }),
  );
});

test("duration is a whole number from 4 to 15, or -1", () => {
  for (let value = -3; value <= 18; value += 0.5) {
    const allowed = value === -1 || (Number.isInteger(value) && value >= 4 && value <= 15);
    expect([value, takes({ duration: value })]).toEqual([value, allowed]);
  }
});

test.each([
  ["ratio", ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"], ["2:1", "16x9", ""]],
  ["resolution", ["480p", "720p", "480P", "720P"], ["360p", "4k", "720"]],
  ["service_tier", ["default"], ["fast", ""]],
  ["tools", [[{ type: "web_search" }], []], [[{ type: "function" }], [{}], [{ type: "web_search", extra: 1 }]]],
  ["safety_identifier", ["a", "a".repeat(64)], ["", "a".repeat(65)]],
  ["callback_url", ["https://host/hook?token=1", "http://127.0.0.1:1/"], ["host/hook", "ftp://host/", "https://a b"]],
  ["return_last_frame", [true, false], ["true", 1]],
  ["generate_audio", [true, false], ["false", 0]],
  ["watermark", [true, false], [null]],
])("%s takes exactly what the contract lists", (field, taken, refused) => {
  for (const value of taken) expect([value, takes({ [field]: value })]).toEqual([value, true]);
  for (const value of refused) expect([value, takes({ [field]: value })]).toEqual([value, false]);
});

test("content is required and not empty, and an unknown field is refused by name", () => {
  expect(takes({ content: [] })).toBe(false);
  expect(takes({ content: undefined })).toBe(false);
  expect(found({ prompt: "A cat" })[0]!.message).toContain("prompt");
});

describe("what the two video models do not take", () => {
  test.each([
    ["service_tier", "flex"],
    ["resolution", "1080p"],
    ["resolution", "1080P"],
    ["frames", 57],
    ["camera_fixed", true],
  ])("%s %s is refused for both, and left to the service for a model nobody described", (field, value) => {
    for (const { id } of videoModels) {
      expect(found({ [field]: value }, id)).toEqual([{ field, message: expect.stringContaining(id) as string }]);
    }
    expect(found({ [field]: value }, "new/video")).toEqual([]);
  });

  test("the default of each is taken", () => {
    expect(takes({ service_tier: "default", resolution: "720p", camera_fixed: false })).toBe(true);
  });
});

test("a resolution in capital letters is read as one in small letters (V18)", () => {
  const { resolution } = operations.createVideoTask.request.parse({ model: "m", content, resolution: "480P" });
  expect(resolution).toBe("480p");
});

test("a model of another type is refused", () => {
  expect(found({}, "talk")).toEqual([{ field: "model", message: "is of type llm, not a video model" }]);
});

test("pages of the list count from 1 to 500 (V7)", () => {
  const lists = (fields: object) => operations.listVideoTasks.request.safeParse(fields).success;
  for (const field of ["page_num", "page_size"]) {
    expect([0, 1, 500, 501].map((value) => lists({ [field]: value }))).toEqual([false, true, true, false]);
  }
  expect(lists({ "filter.status": "cancelled", "filter.task_ids": ["a", "b"], "filter.service_tier": "flex" })).toBe(
    true,
  );
  expect(lists({ status: "queued" })).toBe(false);
});
