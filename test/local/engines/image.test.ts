import { deflateSync } from "node:zlib";
import fc from "fast-check";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { coloursOf, dominantColours } from "../../../src/local/engines/image/vision-engine.js";
import { pngPixels } from "../../../src/local/engines/image/png-pixels.js";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { pngFile, toRgb, type Colour } from "../../../src/local/video/file/picture.js";
import { paths, post } from "../conformance.js";

/** Writes a PNG of red, green and blue with one filter for all rows, by the definition of the filters. */
function encode(width: number, rgb: Uint8Array, filter: number): Buffer {
  const rowBytes = width * 3;
  const height = rgb.length / rowBytes;
  const at = (row: number, index: number) => (row < 0 || index < 0 ? 0 : (rgb[row * rowBytes + index] ?? 0));
  const rows = Buffer.alloc((rowBytes + 1) * height);
  for (let row = 0; row < height; row++) {
    rows[row * (rowBytes + 1)] = filter;
    for (let index = 0; index < rowBytes; index++) {
      const [left, above, corner] = [at(row, index - 3), at(row - 1, index), index < 3 ? 0 : at(row - 1, index - 3)];
      const estimate = left + above - corner;
      const paeth = [left, above, corner].reduce((best, one) =>
        Math.abs(estimate - one) < Math.abs(estimate - best) ? one : best,
      );
      const expected = [0, left, above, Math.floor((left + above) / 2), paeth][filter] ?? 0;
      rows[row * (rowBytes + 1) + 1 + index] = at(row, index) - expected;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const chunk = (name: string, content: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([length, Buffer.from(name), content, Buffer.alloc(4)]);
  };
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

describe("reading the pixels of a PNG", () => {
  test("gives the pixels that were written, for every row filter", () => {
    const image = fc
      .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 4 }))
      .chain(([width, height, filter]) =>
        fc.tuple(
          fc.constant(width),
          fc.uint8Array({ minLength: 3 * width * height, maxLength: 3 * width * height }),
          fc.constant(filter),
        ),
      );
    fc.assert(
      fc.property(image, ([width, rgb, filter]) => {
        expect(Array.from(pngPixels(encode(width, rgb, filter))?.rgb ?? [])).toEqual(Array.from(rgb));
      }),
    );
  });

  test("reads the last frame of a video through its palette", () => {
    const bands: readonly Colour[] = [
      [60, 100, 200],
      [200, 128, 128],
    ];
    const pixels = pngPixels(pngFile({ width: 32, height: 64 }, bands));
    expect(Array.from(pixels?.rgb.slice(0, 3) ?? [])).toEqual(toRgb(bands[0]!));
    expect(Array.from(pixels?.rgb.slice(-3) ?? [])).toEqual(toRgb(bands[1]!));
  });

  test("a damaged file yields no pixels and throws nothing", () => {
    const whole = encode(3, new Uint8Array(27), 0);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: whole.length - 1 }), fc.integer({ min: 0, max: 255 }), (at, value) => {
        const bent = Buffer.from(whole);
        bent[at] = value;
        pngPixels(bent);
        expect(pngPixels(whole.subarray(0, Math.min(at, whole.length - 30)))).toBeUndefined();
      }),
    );
  });
});

test("the colours of an image are named in order of their shares", () => {
  const pixel = (colour: readonly number[], count: number) => Array.from({ length: count }, () => colour).flat();
  const rgb = Uint8Array.from([...pixel([250, 250, 250], 55), ...pixel([20, 60, 200], 40), ...pixel([0, 0, 0], 5)]);
  expect(dominantColours({ width: 10, height: 10, rgb })).toEqual(["white", "blue"]);
});

describe("a vision model", () => {
  let service: LocalService;
  beforeAll(async () => {
    service = await startLocalService();
  });
  afterAll(() => service.close());

  async function said(mediaType: string, file: Buffer): Promise<string> {
    const url = `data:${mediaType};base64,${file.toString("base64")}`;
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
    const { body } = await post(service, paths.chat, { model: "citewell/local-look", messages });
    const { choices } = body as { readonly choices: readonly { readonly message: { readonly content: string } }[] };
    return choices[0]?.message.content ?? "";
  }

  test("describes the format, size and colours of a PNG", async () => {
    const red = encode(
      4,
      Uint8Array.from({ length: 48 }, (_, at) => (at % 3 === 0 ? 230 : 20)),
      1,
    );
    expect(await said("image/png", red)).toMatch(/PNG file of 4 by 4 pixels.*mostly red/);
  });

  const picture = (background: string) => sharp({ create: { width: 640, height: 480, channels: 3, background } });

  test.each([
    ["JPEG", "image/jpeg", "blue", (colour: string) => picture(colour).jpeg()],
    ["GIF", "image/gif", "yellow", (colour: string) => picture(colour).gif()],
    ["WebP", "image/webp", "orange", (colour: string) => picture(colour).webp()],
    ["PNG", "image/png", "cyan", (colour: string) => picture(colour).toColourspace("rgb16").png()],
  ])("tells format, size and colours of a %s with sharp, %s in %s", async (format, mediaType, colour, encoded) => {
    const answer = await said(mediaType, await encoded(colour).toBuffer());
    expect(answer).toMatch(new RegExp(`${format} file of 640 by 480 pixels.*mostly ${colour}`));
  });

  test("describes a damaged JPEG as far as it can be read", async () => {
    const whole = await picture("red").jpeg().toBuffer();
    const damaged = Buffer.concat([whole.subarray(0, whole.length - 200), Buffer.alloc(200, 0xff)]);
    expect(await said("image/jpeg", damaged)).toMatch(/JPEG file of 640 by 480 pixels/);
  });

  test("names the package to install when colours cannot be read", () => {
    expect(coloursOf("missing")).toContain("npm install sharp");
    expect(coloursOf(undefined)).toBe("");
  });
});
