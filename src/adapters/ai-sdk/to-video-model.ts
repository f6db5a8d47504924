import { OptionsError } from "../../core/errors.js";
import { videoContent, type MediaSource } from "../../models/video-content.js";
import type { Transport } from "../../transport/transport.js";
import type { AiSdkVideoModel, Warning } from "./specification.js";

type VideoCall = Parameters<AiSdkVideoModel["doGenerate"]>[0];
type VideoFile = NonNullable<VideoCall["image"]>;
type VideoRequest = Parameters<Transport["createVideoTask"]>[0];

/** The service's video tasks as a video model of the AI SDK: each call creates one task, and waits for it. */
export function videoModelOf(transport: Transport, model: string): AiSdkVideoModel {
  return {
    specificationVersion: "v3",
    provider: "citewell",
    modelId: model,
    maxVideosPerCall: 1,
    doGenerate: async (settings) => {
      const { aspectRatio, duration, seed, generateAudio, resolution, abortSignal } = settings;
      const call = abortSignal ? { signal: abortSignal } : {};
      const request = {
        model,
        content: await contentOf(settings),
        ...(aspectRatio !== undefined && { ratio: aspectRatio as NonNullable<VideoRequest["ratio"]> }),
        ...(duration !== undefined && { duration }),
        ...(seed !== undefined && { seed }),
        ...(generateAudio !== undefined && { generate_audio: generateAudio }),
        ...(resolution !== undefined && { resolution: resolutionOf(resolution) }),
      };
      const { id } = await transport.createVideoTask(request, call);
      const task = await transport.waitForVideo(id, call);
      const warnings: Warning[] = settings.fps === undefined ? [] : [{ type: "unsupported", feature: "fps" }];
      return {
        videos: task.videoUrl === undefined ? [] : [{ type: "url", url: task.videoUrl, mediaType: "video/mp4" }],
        warnings,
        providerMetadata: { citewell: { taskId: id } },
        response: { timestamp: task.createdAt ?? new Date(), modelId: task.model ?? model, headers: undefined },
      };
    },
  };
}

async function contentOf({
  prompt,
  image,
  frameImages = [],
  inputReferences = [],
}: VideoCall): Promise<VideoRequest["content"]> {
  const frames = frameImages.map(({ image: frame, frameType }) =>
    frameType === "first_frame" ? videoContent.firstFrame(sourceOf(frame)) : videoContent.lastFrame(sourceOf(frame)),
  );
  return [
    ...(prompt === undefined ? [] : [videoContent.text(prompt)]),
    ...(await Promise.all([
      ...(image ? [videoContent.firstFrame(sourceOf(image))] : []),
      ...frames,
      ...inputReferences.map((reference) => videoContent.referenceImage(sourceOf(reference))),
    ])),
  ];
}

function sourceOf(file: VideoFile): MediaSource {
  if (file.type === "url") return { url: file.url };
  return { bytes: typeof file.data === "string" ? Buffer.from(file.data, "base64") : file.data };
}

/** The AI SDK names a resolution by its pixels, the service by its shorter side. */
function resolutionOf(pixels: string): NonNullable<VideoRequest["resolution"]> {
  const shorter = Math.min(...pixels.split("x").map(Number));
  const named = (["480p", "720p", "1080p"] as const).find((name) => name === `${shorter}p`);
  if (named) return named;
  throw new OptionsError("options", `resolution: ${pixels} has a shorter side of ${shorter}, not 480, 720 or 1080`);
}
