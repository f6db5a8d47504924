import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { lastFrameAsFirstFrame, videoContent } from "../../src/models/video-content.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { bmp, dataUrl, gif, jpeg, png, tiff, wav, webp } from "../support/tiny-media.js";
import { failure } from "../support/transport-for.js";

const of = (url: string, role: string) => ({ type: "image_url", image_url: { url, role } });

describe("a picture", () => {
  test.each(Object.entries({ png, gif, bmp, webp, tiff, jpeg }))(
    "of format %s is sent as what it is, whatever its name",
    async (format, make) => {
      const bytes = make(800, 600);
      const folder = await temporaryFolder({ "picture.dat": bytes });
      const file = join(folder, "picture.dat");
      const expected = of(dataUrl(`image/${format}`, bytes), "first_frame");
      expect(await videoContent.firstFrame({ bytes })).toEqual(expected);
      expect(await videoContent.firstFrame({ file })).toEqual(expected);
      expect(await videoContent.firstFrame({ file: pathToFileURL(file) })).toEqual(expected);
    },
  );

  test("at an address or an asset is named, in each role", async () => {
    expect(await videoContent.lastFrame({ url: "https://host/a" })).toEqual(of("https://host/a", "last_frame"));
    expect(await videoContent.referenceImage({ asset: "a-1" })).toEqual(of("asset://a-1", "reference_image"));
    expect(await videoContent.referenceImage({ asset: "asset://a-1" })).toEqual(of("asset://a-1", "reference_image"));
  });

  test("of another format is refused with the formats that are taken", async () => {
    const call = videoContent.firstFrame({ bytes: Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>") });
    expect(String(await failure(call))).toMatch(/format is unknown.*jpeg, png, webp, bmp, tiff, gif/);
  });

  test("that is not there is missing by its name", async () => {
    const file = join(await temporaryFolder(), "no.png");
    expect(await failure(videoContent.firstFrame({ file }))).toMatchObject({ code: "missing", uri: file });
  });
});

test("a clip is sent as WAV or MP3, by its first bytes", async () => {
  const mp3 = Buffer.from([0xff, 0xfb, 0x90, 0, ...Array<number>(12).fill(0)]);
  const url = async (bytes: Uint8Array) => {
    const item = await videoContent.referenceAudio({ bytes });
    return item.type === "audio_url" ? item.audio_url.url.split(";")[0] : undefined;
  };
  expect(await url(wav(1))).toBe("data:audio/wav");
  expect(await url(mp3)).toBe("data:audio/mp3");
  expect(await url(Buffer.from("ID3\u0004\0\0\0\0\0\0\0\0"))).toBe("data:audio/mp3");
  expect(String(await failure(url(Buffer.from("OggS"))))).toMatch(/format is unknown.*wav, mp3/);
});

test("a video is taken by address only, and the refusal says what to do", () => {
  expect(videoContent.referenceVideo({ asset: "v" })).toEqual({
    type: "video_url",
    video_url: { url: "asset://v", role: "reference_video" },
  });
  expect(() => videoContent.referenceVideo({ file: "a.mp4" } as never)).toThrow(/upload it/);
});

describe("the last frame of one task begins the next", () => {
  const task = { id: "cgt-1", status: "succeeded", finished: true, lastFrameUrl: "https://cdn/l.png", raw: {} };

  test("in one call", () => {
    expect(lastFrameAsFirstFrame(task)).toEqual(of("https://cdn/l.png", "first_frame"));
  });

  test("not when its link has expired (V10)", () => {
    const linksExpireAt = new Date(1000);
    const at = (milliseconds: number) => () =>
      lastFrameAsFirstFrame({ ...task, linksExpireAt }, new Date(milliseconds));
    expect(at(999)).not.toThrow();
    expect(at(1000)).toThrow(expect.objectContaining({ code: "link-expired", expiresAt: linksExpireAt }));
  });

  test("not when there is none: says why", () => {
    const { lastFrameUrl: _, ...without } = task;
    expect(() => lastFrameAsFirstFrame(without)).toThrow(/return_last_frame/);
    expect(() => lastFrameAsFirstFrame({ ...without, status: "running" })).toThrow(/it is running/);
  });
});
