import { describe, expect, test } from "vitest";
import { videoModels } from "../../src/contract/catalogue.js";
import { operations } from "../../src/contract/operations.js";
import { violations } from "../../src/contract/operation.js";
import { videoMode, type VideoContentItem } from "../../src/contract/video-content.js";

const [model] = videoModels;
const url = "https://host/medium";
const text: VideoContentItem = { type: "text", text: "A cat" };
const image = (role?: "first_frame" | "last_frame" | "reference_image"): VideoContentItem => ({
  type: "image_url",
  image_url: { url, ...(role && { role }) },
});
const video: VideoContentItem = { type: "video_url", video_url: { url, role: "reference_video" } };
const audio: VideoContentItem = { type: "audio_url", audio_url: { url, role: "reference_audio" } };
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

const found = (content: readonly unknown[], of = model!) =>
  violations(operations.createVideoTask, { model: of.id, content }, of);
const takes = (content: readonly unknown[]) => found(content).length === 0;

describe("every combination of kinds", () => {
  const parts = [
    ["text", text],
    ["first frame", image("first_frame")],
    ["last frame", image("last_frame")],
    ["reference images", image("reference_image")],
    ["reference videos", video],
    ["reference audio", audio],
  ] as const;
  // The rows of the contract, text left out: it may go with each of them, and alone.
  const allowed: ReadonlyMap<string, string> = new Map([
    ["", "text"],
    ["first frame", "first-frame"],
    ["first frame + last frame", "first-and-last-frame"],
    ["reference images", "reference"],
    ["reference videos", "reference"],
    ["reference images + reference audio", "reference"],
    ["reference videos + reference audio", "reference"],
    ["reference images + reference videos", "reference"],
    ["reference images + reference videos + reference audio", "reference"],
  ]);
  for (let chosen = 0; chosen < 2 ** parts.length; chosen++) {
    const subset = parts.filter((_, index) => chosen & (1 << index));
    const media = subset.filter(([name]) => name !== "text");
    const key = media.map(([name]) => name).join(" + ");
    const mode = subset.length === 0 ? undefined : allowed.get(key);
    test(`${subset.map(([name]) => name).join(" + ") || "nothing"} is ${mode ?? "refused"}`, () => {
      const content = subset.map(([, item]) => item);
      expect(takes(content)).toBe(mode !== undefined);
      if (mode !== undefined) expect(videoMode(content)).toBe(mode);
    });
  }
});

test.each([
  ["reference_image", 9, (count: number) => times(count, image("reference_image"))],
  ["reference_video", 3, (count: number) => times(count, video)],
  ["reference_audio", 3, (count: number) => [video, ...times(count, audio)]],
] as const)("at most %s items: %i", (role, most, content) => {
  expect(takes(content(most))).toBe(true);
  expect(found(content(most + 1))).toEqual([
    { field: "content", message: `has ${most + 1} items with role ${role}, at most ${most}` },
  ]);
});

test.each([
  [[image("first_frame"), image("first_frame")], /2 items with role first_frame, at most 1/],
  [[image("first_frame"), image("last_frame"), image("last_frame")], /2 items with role last_frame, at most 1/],
  [[image("last_frame")], /needs a first_frame/],
  [[image("first_frame"), video], /mixes/],
  [[audio], /must accompany/],
  [[{ type: "text", text: " \n" }], /neither a text that says something/],
])("%j is refused, saying why (V25)", (content, message) => {
  expect(found(content).map((violation) => violation.message)).toEqual([expect.stringMatching(message)]);
});

describe("roles", () => {
  test("a lone image without one is the first frame, also beside a text", () => {
    expect(videoMode([image()])).toBe("first-frame");
    expect(takes([text, image()])).toBe(true);
  });

  test("a lone video or clip without one is a reference", () => {
    expect(takes([{ type: "video_url", video_url: { url } }])).toBe(true);
    expect(takes([video, { type: "audio_url", audio_url: { url } }])).toBe(true);
  });

  test.each([
    ["another image", [image(), image()]],
    ["a last frame", [image(), image("last_frame")]],
    ["a reference", [image(), video]],
  ])("an image without one beside %s is refused, naming the item", (_, content) => {
    expect(found(content)[0]).toMatchObject({ field: "content.0.image_url.role" });
    expect(found(content)[0]!.message).toContain("first_frame, last_frame, reference_image");
  });

  test("it may stand inside or beside the address; where both stand they agree (V16)", () => {
    const beside = (inside: string | undefined, outside: string) => [
      { type: "image_url", image_url: { url, ...(inside && { role: inside }) }, role: outside },
    ];
    expect(takes(beside(undefined, "reference_image"))).toBe(true);
    expect(takes(beside("reference_image", "reference_image"))).toBe(true);
    expect(found(beside("first_frame", "reference_image"))).toEqual([
      { field: "content.0.role", message: "is reference_image, but image_url.role is first_frame: write it once" },
    ]);
  });

  test.each([
    { type: "image_url", image_url: { url, role: "reference_video" } },
    { type: "video_url", video_url: { url, role: "first_frame" } },
    { type: "audio_url", audio_url: { url, role: "reference_image" } },
  ])("%j has a role of another kind and is refused", (item) => {
    expect(takes([text, item])).toBe(false);
  });
});

describe("addresses", () => {
  const data = (type: string) => `data:${type};base64,AAAA`;
  const of = (kind: "image" | "video" | "audio", address: string) => {
    const item = { type: `${kind}_url`, [`${kind}_url`]: { url: address } };
    return takes(kind === "audio" ? [video, item] : [item]);
  };

  test.each(["image", "video", "audio"] as const)("an %s may be public or an asset, and nothing else", (kind) => {
    expect(of(kind, "https://host/a b".replace(" ", "%20"))).toBe(true);
    expect(of(kind, "http://host/a")).toBe(true);
    expect(of(kind, "asset://asset-2026")).toBe(true);
    for (const address of [
      "",
      "asset://",
      "asset://a b",
      "ftp://host/a",
      "file:///a",
      "/a",
      "https://",
      "https://a b",
    ]) {
      expect([address, of(kind, address)]).toEqual([address, false]);
    }
  });

  test.each(["jpeg", "png", "webp", "bmp", "tiff", "gif"])(
    "an image may be data of format %s, in lower case",
    (format) => {
      expect(of("image", data(`image/${format}`))).toBe(true);
      expect(of("image", data(`image/${format.toUpperCase()}`))).toBe(false);
      expect(of("video", data(`image/${format}`))).toBe(false);
      expect(of("audio", data(`image/${format}`))).toBe(false);
    },
  );

  test.each(["wav", "mp3"])("audio may be data of format %s, in lower case", (format) => {
    expect(of("audio", data(`audio/${format}`))).toBe(true);
    expect(of("audio", data(`audio/${format.toUpperCase()}`))).toBe(false);
  });

  test.each(["image/heic", "image/jpg", "image/svg+xml", "audio/ogg", "video/mp4"])(
    "data of %s is refused (V24)",
    (type) => {
      expect(of("image", data(type))).toBe(false);
      expect(of("audio", data(type))).toBe(false);
      expect(of("video", data(type))).toBe(false);
    },
  );

  test.each(["image/heic", "image/heif"])("data of %s is for models that are known to take it (V24)", (type) => {
    const frame = [{ type: "image_url", image_url: { url: data(type) } }];
    expect(found(frame)[0]!.message).toMatch(/not known to take.*jpeg, png, webp, bmp, tiff, gif/);
    expect(found(frame, { id: "v", type: "video", videoFeatures: ["heic"] } as never)).toEqual([]);
  });

  test("data without data is refused", () => {
    expect(of("image", "data:image/png;base64,")).toBe(false);
    expect(of("image", "data:image/png,AAAA")).toBe(false);
  });
});

test("reference media are for models that are known to take them", () => {
  const unknown = { id: "new/video", type: "video" } as const;
  expect(found([image("reference_image")], unknown)[0]!.message).toContain("new/video is not known to take");
  expect(found([image("first_frame")], unknown)).toEqual([]);
  expect(found([image("reference_image")], { ...unknown, videoFeatures: ["references"] } as never)).toEqual([]);
});
