import { expect, test } from "vitest";
import { failure, transportFor } from "../../support/transport-for.js";
import { catVideo } from "../../support/video-task.js";

test.each(["vendor/vendor-video-2.0-fats", "vendor/vendor-video-2.5", "gpt-4.1-mini", "sora-2"])(
  "a video by %s, a model that nobody described, is not ordered, and the models are named",
  async (model) => {
    const { transport, upstream } = await transportFor([{ json: { id: "cgt-1" } }]);
    const error = await failure(transport.createVideoTask({ ...catVideo, model }));
    expect(error).toMatchObject({ code: "request" });
    expect(String(error)).toContain("vendor/vendor-video-2.0, vendor/vendor-video-2.0-fast");
    expect(String(error)).toContain(`createTransport({ models: [{ id: "${model}", type: "video" }] })`);
    expect(upstream.requests).toHaveLength(0);
  },
);

test("a video by a model that `models` describes is ordered", async () => {
  const { transport, upstream } = await transportFor([{ json: { id: "cgt-1" } }], {
    models: [{ id: "own/video", type: "video" }],
  });
  expect(await transport.createVideoTask({ ...catVideo, model: "own/video" })).toMatchObject({ id: "cgt-1" });
  expect(upstream.requests).toHaveLength(1);
});
