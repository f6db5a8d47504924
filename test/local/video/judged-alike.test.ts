import { expect, onTestFinished, test } from "vitest";
import { startLocalService } from "../../../src/local/service.js";
import { createTransport } from "../../../src/transport/transport.js";
import { paths, post } from "../conformance.js";
import { gifUrl, jpegUrl, mp3Url, pngUrl } from "./media-samples.js";

const image = (url: string) => ({ type: "image_url" as const, image_url: { url, role: "reference_image" as const } });
const clip = (url: string) => ({ type: "audio_url" as const, audio_url: { url, role: "reference_audio" as const } });

test.each([
  [
    "PNG bytes under the name of JPEG",
    image(pngUrl(400, 500).replace("png", "jpeg")),
    "written as jpeg, its bytes are png",
  ],
  [
    "GIF bytes under the name of PNG",
    image(gifUrl(400, 500).replace("gif", "png")),
    "written as png, its bytes are gif",
  ],
  ["MP3 bytes under the name of WAV", clip(mp3Url(3).replace("mp3", "wav")), "written as wav, its bytes are mp3"],
  ["JPEG bytes under their own name", image(jpegUrl(400, 500)), undefined],
])("%s are judged alike by client and service", async (_, item, problem) => {
  const service = await startLocalService();
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  onTestFinished(async () => {
    await transport.close();
    await service.close();
  });
  const content = [image(pngUrl(600, 600)), item];
  const request = { model: "vendor/vendor-video-2.0", content };
  const served = await post(service, paths.createVideoTask, request);
  const sent = transport.createVideoTask(request);
  if (problem === undefined) {
    expect(served.status).toBe(200);
    expect((await sent).id).toMatch(/^cgt-/);
  } else {
    expect(served.status).toBe(400);
    expect(served.text).toContain(problem);
    await expect(sent).rejects.toThrow(problem);
  }
});
