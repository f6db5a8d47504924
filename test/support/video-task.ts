import type { VideoRequest } from "../../src/contract/video.js";

/** A small request for a video. */
export const catVideo: VideoRequest = {
  model: "vendor/vendor-video-2.0",
  content: [{ type: "text", text: "A cat" }],
};

/** A task as the service writes it; by default it succeeded a minute ago. */
export function taskBody(more: object = {}): object {
  const now = Math.floor(Date.now() / 1000);
  return {
    id: "cgt-1",
    status: "succeeded",
    model: "vendor-video-2.0-250115",
    created_at: now - 120,
    updated_at: now - 60,
    ...more,
  };
}
