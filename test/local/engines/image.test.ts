import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { pngFile } from "../../../src/local/video/file/picture.js";
import { paths, post } from "../conformance.js";

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

  test("names the colours in order of their shares, without those that are rare", async () => {
    const pixel = (colour: readonly number[], count: number) => Array.from({ length: count }, () => colour).flat();
    const rgb = Uint8Array.from([...pixel([250, 250, 250], 55), ...pixel([20, 60, 200], 40), ...pixel([0, 0, 0], 5)]);
    const file = await sharp(rgb, { raw: { width: 10, height: 10, channels: 3 } })
      .png()
      .toBuffer();
    expect(await said("image/png", file)).toMatch(/10 by 10 pixels .*, mostly white and blue\./);
  });

  test("reads the last frame of a video, which has a palette", async () => {
    const file = pngFile({ width: 32, height: 64 }, [
      [180, 60, 60],
      [81, 90, 240],
    ]);
    expect(await said("image/png", file)).toMatch(/32 by 64 pixels .*mostly (?:green and red|red and green)/);
  });
});
