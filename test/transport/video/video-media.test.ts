import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { VideoContentItem } from "../../../src/contract/video-content.js";
import { headerProbe } from "../../../src/transport/media/header-probe.js";
import { mediumOf } from "../../../src/transport/media/media-probe.js";
import { isPublicAddress } from "../../../src/network/addresses.js";
import { openRemoteMedium } from "../../../src/transport/media/remote-medium.js";
import type { MediaCheck } from "../../../src/transport/media/check-media.js";
import { runWithPackages } from "../../support/bare-install.js";
import {
  type RecordedRequest,
  type ScriptedReply,
  type ScriptedUpstream,
  scriptedUpstream,
} from "../../support/scripted-upstream.js";
import { bmp, dataUrl, film, gif, jpeg, png, tiff, wav, webp } from "../../support/tiny-media.js";
import { failure, transportFor } from "../../support/transport-for.js";
import { catVideo } from "../../support/video-task.js";

const image = (url: string): VideoContentItem => ({ type: "image_url", image_url: { url, role: "reference_image" } });
const audio = (url: string): VideoContentItem => ({ type: "audio_url", audio_url: { url } });
const video = (url: string): VideoContentItem => ({ type: "video_url", video_url: { url, role: "reference_video" } });

/** The refusal of a request with this content; `undefined` when it was sent. */
async function said(content: VideoContentItem[], media?: MediaCheck): Promise<string | undefined> {
  const { transport, upstream } = await transportFor([{ json: { id: "t" } }]);
  const call = transport.createVideoTask({ ...catVideo, content }, media && { media });
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => String(error),
  );
  expect(upstream.requests).toHaveLength(outcome === undefined ? 1 : 0);
  return outcome;
}

describe("headers tell format and size", () => {
  const makers = { png, gif, bmp, webp, tiff, jpeg };
  test.each(Object.entries(makers))("of a %s of any size", async (format, make) => {
    const side = fc.integer({ min: 1, max: 16_000 });
    await fc.assert(
      fc.asyncProperty(side, side, async (width, height) => {
        const bytes = make(width, height);
        const facts = await headerProbe.probe("image", mediumOf(bytes));
        expect(facts).toEqual({ format, width, height, sizeBytes: bytes.length });
      }),
      { numRuns: 30 },
    );
  });

  test("of a TIFF whose directory stands behind the first block", async () => {
    const bytes = tiff(640, 480, 300_000);
    expect(await headerProbe.probe("image", mediumOf(bytes))).toMatchObject({
      format: "tiff",
      width: 640,
      height: 480,
    });
  });

  test.each([
    ["isom", "mp4"],
    ["qt  ", "mov"],
  ])("and duration and frame rate of a film of brand %s", async (brand, format) => {
    const bytes = film({ width: 1280, height: 720, seconds: 4, framesPerSecond: 30, brand });
    const facts = await headerProbe.probe("video", mediumOf(bytes));
    expect(facts).toMatchObject({ format, width: 1280, height: 720, sizeBytes: bytes.length });
    expect(facts.durationSeconds).toBeCloseTo(4, 2);
    expect(facts.framesPerSecond).toBeCloseTo(30, 1);
  });

  test("and duration of a clip", async () => {
    expect((await headerProbe.probe("audio", mediumOf(wav(3.5)))).durationSeconds).toBeCloseTo(3.5, 3);
  });

  test("and anything else is unknown, whatever its bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 64 }), async (bytes) => {
        const facts = await headerProbe.probe("image", mediumOf(bytes)).catch((error: unknown) => error);
        if (!(facts instanceof Error)) expect(facts).toMatchObject({ sizeBytes: bytes.length });
      }),
    );
    const heic = Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1");
    expect(await headerProbe.probe("image", mediumOf(heic))).toMatchObject({ format: "heic" });
  });
});

describe("inline media are checked before the request leaves", () => {
  test("media within the bounds are sent", async () => {
    expect(await said([image(dataUrl("image/png", png(800, 600)))])).toBeUndefined();
    expect(await said([image("https://host/a"), audio(dataUrl("audio/wav", wav(5)))])).toBeUndefined();
  });

  test.each([
    ["too small", dataUrl("image/png", png(300, 600)), /width is 300 px, it must be above 300 and below 6000/],
    ["too wide", dataUrl("image/jpeg", jpeg(2500, 1000)), /ratio is 2\.5.*must be above 0\.4 and below 2\.5/],
    ["of another format than it says", dataUrl("image/png", jpeg(800, 600)), /written as png, its bytes are jpeg/],
    ["no image", dataUrl("image/png", Buffer.from("no image at all")), /format is unknown.*jpeg, png/],
    ["cut off", dataUrl("image/png", png(800, 600).subarray(0, 18)), /cannot be read/],
    ["no Base64", "data:image/png;base64,%%%%", /is not Base64/],
  ])("an image that is %s is refused, naming the item", async (_, url, message) => {
    const error = await said([image("https://host/a"), image(url)]);
    expect(error).toMatch(message);
    expect(error).toContain("content.1.image_url.url");
  });

  test.each([
    [1.8, false],
    [1.95, true],
    [15.05, true],
    [15.2, false],
  ])("a clip of %d s is taken: %s", async (seconds, taken) => {
    const error = await said([image("https://host/a"), audio(dataUrl("audio/wav", wav(seconds)))]);
    expect(error === undefined).toBe(taken);
  });

  test("clips count together, and an asset counts without being read", async () => {
    const clip = audio(dataUrl("audio/wav", wav(6)));
    expect(await said([image("asset://a"), clip, clip, audio("asset://b")])).toBeUndefined();
    expect(await said([image("asset://a"), clip, clip, clip])).toMatch(/18 s together, at most 15 s/);
    expect(await said([image("asset://a"), ...Array.from({ length: 4 }, () => audio("asset://b"))])).toMatch(/4 items/);
  });

  test("all problems are reported at once, and none with check none", async () => {
    const bad = [image(dataUrl("image/png", png(10, 10))), image(dataUrl("image/png", png(7000, 400)))];
    expect(await said(bad)).toMatch(/content\.0.*width is 10.*content\.1.*width is 7000/);
    expect(await said(bad, { check: "none" })).toBeUndefined();
  });

  test("the caller's own probe is used instead of ours", async () => {
    const probe = { probe: async () => ({ format: "wav", durationSeconds: 99 }) };
    const content = [image("https://host/a"), audio(dataUrl("audio/wav", wav(5)))];
    expect(await said(content, { probe })).toMatch(/lasts 99 s/);
  });
});

test("without the reader of clips, a clip is refused with what to install, and all else works", async () => {
  const { upstream } = await transportFor(() => ({ json: { id: "t" } }));
  const picture = image(dataUrl("image/png", png(800, 600)));
  const clip = audio(dataUrl("audio/wav", wav(5)));
  const script = `
    import { createTransport } from "./dist/transport/transport.js";
    const transport = createTransport({ baseUrl: ${JSON.stringify(upstream.baseUrl)} });
    const create = (content, media) =>
      transport.createVideoTask({ model: ${JSON.stringify(catVideo.model)}, content }, { media }).then(
        ({ id }) => id,
        ({ code, message }) => code + ": " + message,
      );
    const [picture, elsewhere, clip] = ${JSON.stringify([picture, image("https://host/a"), clip])};
    const probe = { probe: async () => ({ format: "wav", durationSeconds: 5 }) };
    console.log(JSON.stringify([
      await create([picture, clip]),
      await create([picture]),
      await create([picture, clip], { check: "none" }),
      await create([elsewhere, clip], { probe }),
    ]));`;
  const outcomes = JSON.parse(
    await runWithPackages(["undici", "zod", "eventsource-parser", "image-size"], script),
  ) as unknown;
  expect(outcomes).toEqual([
    expect.stringMatching(/^missing-package: To check audio .*npm install mediabunny.*check: "none"/),
    "t",
    "t",
    "t",
  ]);
  expect(upstream.requests).toHaveLength(3);
});

/** Answers ranges of these bytes. */
function ranges(bytes: Buffer): (request: RecordedRequest) => ScriptedReply {
  return ({ headers }) => {
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range!)!;
    const piece = bytes.subarray(Number(start), Number(end) + 1);
    const range = `bytes ${start}-${Number(start) + piece.length - 1}/${bytes.length}`;
    return { status: 206, chunks: [piece], headers: { "content-range": range, "content-type": "video/mp4" } };
  };
}
const remote: MediaCheck = { check: "all", allowPrivateAddresses: true };

describe("remote media", () => {
  test("are not fetched unless asked", async () => {
    const files = await scriptedUpstream([]);
    expect(await said([image(`${files.baseUrl}/a.png`)])).toBeUndefined();
    expect(files.requests).toHaveLength(0);
  });

  test("are read by ranges, also a film whose header stands at its end, without the key", async () => {
    const bytes = film({ width: 1280, height: 720, seconds: 1, framesPerSecond: 30, dataBytes: 2_000_000 });
    const files = await scriptedUpstream(ranges(bytes));
    expect(await said([video(`${files.baseUrl}/a.mp4`)], remote)).toMatch(/the video lasts 1 s, 2 to 15 s are allowed/);
    const fetched = files.requests.length * 256 * 1024;
    expect(fetched).toBeLessThan(bytes.length);
    for (const { headers } of files.requests) expect(headers.authorization).toBeUndefined();
  });

  test("are read whole from a server that knows no ranges", async () => {
    const bytes = png(200, 400);
    const headers = { "content-type": "image/png", "content-length": String(bytes.length) };
    const files = await scriptedUpstream([{ chunks: [bytes], headers }]);
    expect(await said([image(`${files.baseUrl}/a.png`)], remote)).toMatch(/width is 200 px/);
  });

  test.each([
    ["is not there", { status: 404 }, /could not be fetched.*status 404/],
    ["breaks off", { destroy: true }, /could not be fetched/],
    ["redirects for ever", { status: 302, headers: { location: "/a.png" } }, /redirects more than 3 times/],
  ])("one that %s is refused", async (_, reply, message) => {
    const files = await scriptedUpstream(() => reply);
    expect(await said([image(`${files.baseUrl}/a.png`)], remote)).toMatch(message);
  });

  test.each(["127.0.0.1", "localhost", "[::1]", "0x7f.1", "[::ffff:127.0.0.1]"])(
    "at %s are not fetched: the address is of this machine",
    async (host) => {
      const files = await scriptedUpstream([]);
      const { port } = new URL(files.baseUrl);
      const error = await said([image(`http://${host}:${port}/a.png`)], { check: "all" });
      expect(error).toMatch(/not an address of the public internet/);
      expect(files.requests).toHaveLength(0);
      expect(files.connections).toBe(0);
    },
  );

  test.each([
    ["an address", "http://127.0.0.2"],
    ["an address of the other kind", "http://[::1]"],
    ["a name", "http://localhost"],
  ])("are not followed to %s of this machine", async (_, target) => {
    const files: ScriptedUpstream = await scriptedUpstream(() => ({
      status: 302,
      headers: { location: `${target}:${new URL(files.baseUrl).port}/b.png` },
    }));
    // The first host counts as one of the public internet, and no other does.
    let asked = 0;
    const mayReach = () => ++asked === 1;
    const opening = openRemoteMedium(`${files.baseUrl}/a.png`, { mayReach, maxBytes: 1e6, timeoutMs: 5000 });
    expect(String(await failure(opening))).toMatch(/not an address of the public internet/);
    expect(files.requests).toHaveLength(1);
    expect(files.connections).toBe(1);
  });

  test("an abort is thrown as it is", async () => {
    const files = await scriptedUpstream([{ hang: true }]);
    const { transport } = await transportFor([]);
    const stop = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => stop.abort(reason), 50);
    const call = transport.createVideoTask(
      { ...catVideo, content: [image(`${files.baseUrl}/a.png`)] },
      { media: remote, signal: stop.signal },
    );
    expect(await failure(call)).toBe(reason);
  });
});

test.each([
  ["8.8.8.8", true],
  ["1.1.1.1", true],
  ["9.255.255.255", true],
  ["10.0.0.0", false],
  ["10.255.255.255", false],
  ["11.0.0.0", true],
  ["100.63.255.255", true],
  ["100.64.0.0", false],
  ["127.0.0.1", false],
  ["169.254.169.254", false],
  ["172.15.255.255", true],
  ["172.16.0.0", false],
  ["172.31.255.255", false],
  ["172.32.0.0", true],
  ["192.168.0.1", false],
  ["0.0.0.0", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["2606:4700:4700::1111", true],
  ["::", false],
  ["::1", false],
  ["::ffff:8.8.8.8", false],
  ["::ffff:127.0.0.1", false],
  ["fe80::1", false],
  ["fc00::1", false],
  ["fd12::1", false],
  ["ff02::1", false],
  ["64:ff9b::7f00:1", false],
  ["2002:7f00:1::", false],
  ["2001:db8::1", false],
  ["host", false],
])("the address %s is public: %s", (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});

test("HEIC goes out as it is for models that take it, and is not measured (V24)", async () => {
  const heic = Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1");
  const model = { id: "apple-pie", type: "video" as const, videoFeatures: ["heic" as const] };
  const { transport, upstream } = await transportFor(() => ({ json: { id: "t" } }), { models: [model] });
  for (const format of ["heic", "heif"]) {
    const content = [{ type: "image_url" as const, image_url: { url: dataUrl(`image/${format}`, heic) } }];
    expect(await transport.createVideoTask({ model: model.id, content })).toMatchObject({ id: "t" });
  }
  const written = [{ type: "image_url" as const, image_url: { url: dataUrl("image/png", heic) } }];
  const error = await failure(transport.createVideoTask({ model: model.id, content: written }));
  expect(String(error)).toMatch(/written as png, its bytes are heic/);
  expect(upstream.requests).toHaveLength(2);
  // An address does not tell the format.
  const files = await scriptedUpstream(() => ({ chunks: [heic], headers: { "content-length": String(heic.length) } }));
  const far = [{ type: "image_url" as const, image_url: { url: `${files.baseUrl}/a.png` } }];
  const media = { check: "all" as const, allowPrivateAddresses: true };
  expect(await transport.createVideoTask({ model: model.id, content: far }, { media })).toMatchObject({ id: "t" });
  const plain = { ...catVideo, content: far };
  expect(String(await failure(transport.createVideoTask(plain, { media })))).toMatch(
    /format is heic, it must be one of/,
  );
});
