import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mediaViolations, totalDurationViolations, type MediaFacts, type MediaKind } from "../../src/contract/media.js";

const megabyte = 1024 * 1024;
const well: Readonly<Record<MediaKind, MediaFacts>> = {
  image: { format: "png", sizeBytes: 1000, width: 800, height: 600 },
  video: { format: "mp4", sizeBytes: 1000, width: 1280, height: 720, durationSeconds: 5, framesPerSecond: 24 },
  audio: { format: "wav", sizeBytes: 1000, durationSeconds: 5 },
};
const problems = (kind: MediaKind, facts: Partial<MediaFacts>) =>
  mediaViolations(kind, { ...well[kind], ...facts }, "content.0").map(({ message }) => message);
const takes = (kind: MediaKind, facts: Partial<MediaFacts>) => problems(kind, facts).length === 0;

test.each([
  ["image", ["jpeg", "png", "webp", "bmp", "tiff", "gif"], ["heic", "svg", "jpg", "unknown"]],
  ["video", ["mp4", "mov"], ["webm", "mkv", "unknown"]],
  ["audio", ["wav", "mp3"], ["ogg", "flac", "unknown"]],
] as const)("an %s has one of the formats of the contract", (kind, taken, refused) => {
  for (const format of taken) expect([format, takes(kind, { format })]).toEqual([format, true]);
  for (const format of refused) expect([format, takes(kind, { format })]).toEqual([format, false]);
});

test("a medium's bytes are of the format that its address names, for which HEIC may be called HEIF", () => {
  expect(takes("image", { declaredFormat: "png" })).toBe(true);
  expect(problems("image", { declaredFormat: "jpeg" })).toEqual(["the image is written as jpeg, its bytes are png"]);
  expect(problems("audio", { declaredFormat: "mp3" })).toEqual(["the audio is written as mp3, its bytes are wav"]);
  const heif = { ...well.image, format: "heic", declaredFormat: "heif" };
  expect(mediaViolations("image", heif, "content.0", ["heic"])).toEqual([]);
});

test.each([
  ["image", 30 * megabyte - 1, 30 * megabyte],
  ["video", 50 * megabyte, 50 * megabyte + 1],
  ["audio", 15 * megabyte, 15 * megabyte + 1],
] as const)("an %s of %i bytes is taken, of %i is not: only an image's bound is strict", (kind, most, beyond) => {
  expect(takes(kind, { sizeBytes: most })).toBe(true);
  expect(problems(kind, { sizeBytes: beyond })[0]).toContain(`${beyond} bytes`);
});

describe("images: every bound is exclusive", () => {
  test.each([
    [301, 301, true],
    [300, 301, false],
    [301, 300, false],
    [5999, 5999, true],
    [6000, 5999, false],
    [5999, 6000, false],
    // Ratios 0.4 and 2.5 themselves, and the nearest on either side.
    [400, 1000, false],
    [401, 1000, true],
    [399, 1000, false],
    [1000, 400, false],
    [1000, 401, true],
    [1000, 399, false],
  ])("%i×%i: %s", (width, height, taken) => {
    expect(takes("image", { width, height })).toBe(taken);
  });
});

describe("videos: every bound is inclusive", () => {
  test.each([
    [640, 640, true],
    [639, 641, false],
    [2206, 946, true],
    [2207, 946, false],
    [300, 1400, false],
    [1600, 640, true],
    [1601, 640, false],
    [640, 1600, true],
    [640, 1601, false],
    [1440, 1440, true],
    [6001, 300, false],
  ])("%i×%i: %s", (width, height, taken) => {
    expect(takes("video", { width, height })).toBe(taken);
  });

  test.each([
    [24, true],
    [60, true],
    [29.97, true],
    [23.976, false],
    [23.99, false],
    [60.01, false],
  ])("%d frames a second: %s", (framesPerSecond, taken) => {
    expect(takes("video", { framesPerSecond })).toBe(taken);
  });

  test("the frame rate of films on television is refused by name", () => {
    expect(problems("video", { framesPerSecond: 24_000 / 1001 })[0]).toContain("23.976");
  });
});

test.each(["video", "audio"] as const)("a %s lasts 2 to 15 s, give or take 0.1 s that encoders add", (kind) => {
  for (const [durationSeconds, taken] of [
    [1.89, false],
    [1.9, true],
    [2, true],
    [15, true],
    [15.1, true],
    [15.11, false],
  ] as const) {
    expect([durationSeconds, takes(kind, { durationSeconds })]).toEqual([durationSeconds, taken]);
  }
});

test.each(["video", "audio"] as const)("all %s items together last at most 15 s, with the same tolerance", (kind) => {
  expect(totalDurationViolations(kind, [5, 5, 5])).toEqual([]);
  expect(totalDurationViolations(kind, [5.03, 5.03, 5.04])).toEqual([]);
  const [violation] = totalDurationViolations(kind, [5, 5, 5.2]);
  expect(violation!.message).toMatch(/15\.2 s together, at most 15 s/);
});

test("an orientation that swaps the sides changes no verdict", () => {
  const side = fc.integer({ min: 250, max: 6050 });
  fc.assert(
    fc.property(fc.constantFrom("image" as const, "video" as const), side, side, (kind, width, height) => {
      expect(takes(kind, { width, height })).toBe(takes(kind, { width: height, height: width }));
    }),
  );
});

test("facts that could not be read are not judged", () => {
  expect(mediaViolations("video", { format: "mp4" }, "content.0")).toEqual([]);
  expect(mediaViolations("image", { format: "png" }, "content.0")).toEqual([]);
});
