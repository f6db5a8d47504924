import { createHash, randomInt } from "node:crypto";
import type { z } from "zod";
import { videoDefaults, type VideoRequest } from "../../contract/video.js";
import { contentRoles } from "../../contract/video-content.js";
import { dataFacts } from "./media-facts.js";
import { framesPerSecond, type VideoPlan } from "./video-task.js";
import { fixedRatios, frameSize, nearestRatio, type FixedRatio } from "./file/frame-size.js";

export type CheckedVideoRequest = z.output<typeof VideoRequest>;

/** Addresses are not fetched, so a reference video counts as this long: three of them are the most that is allowed. */
const assumedReferenceSeconds = 5;

const askingForNews = /latest|today|current|news|recent|最新|今天|今日|现在|新闻/i;

/** Makes a plan of a request that keeps the rules. Only the seed is left to chance, and only when none was given. */
export function planVideo(request: CheckedVideoRequest): VideoPlan {
  const { model, content, frames } = request;
  const prompt = content.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
  const hash = createHash("sha256")
    .update(JSON.stringify([model, content]))
    .digest();
  const resolution = request.resolution ?? videoDefaults.resolution;
  const asked = request.ratio ?? videoDefaults.ratio;
  const ratio = asked === "adaptive" ? adaptiveRatio(content) : asked;
  const seed = request.seed ?? videoDefaults.seed;
  return {
    model,
    resolution,
    ratio,
    size: frameSize(resolution, ratio),
    durationSeconds: frames === undefined ? chosenDuration(request, hash) : frames / framesPerSecond,
    ...(frames !== undefined && { frames }),
    seed: seed === -1 ? randomInt(2 ** 32) : seed,
    generateAudio: request.generate_audio ?? videoDefaults.generate_audio,
    returnLastFrame: request.return_last_frame ?? videoDefaults.return_last_frame,
    serviceTier: request.service_tier ?? videoDefaults.service_tier,
    expiresAfterSeconds: request.execution_expires_after ?? videoDefaults.execution_expires_after,
    watermark: request.watermark ?? videoDefaults.watermark,
    ...(request.safety_identifier !== undefined && { safetyIdentifier: request.safety_identifier }),
    ...(request.tools !== undefined && request.tools.length > 0 && { searches: askingForNews.test(prompt) ? 1 : 0 }),
    referenceSeconds: assumedReferenceSeconds * content.filter(({ type }) => type === "video_url").length,
    contentHash: hash.readUInt32BE(0),
  };
}

const minSeconds = 4;
const maxSeconds = 15;

function chosenDuration({ duration = videoDefaults.duration }: CheckedVideoRequest, hash: Buffer): number {
  return duration === -1 ? minSeconds + (hash.readUInt8(4) % (maxSeconds - minSeconds + 1)) : duration;
}

/**
 * The first frame's ratio, or that of the first reference, videos before images; 16:9 for text alone. Of media at an
 * address nothing is known, since none is fetched: they count as 16:9.
 */
function adaptiveRatio(content: CheckedVideoRequest["content"]): FixedRatio {
  const roles = contentRoles(content);
  const first = (role: string) => content.find((_, index) => roles[index] === role);
  const leading = first("first_frame") ?? first("reference_video") ?? first("reference_image");
  if (leading?.type !== "image_url") return fixedRatios[0];
  const facts = dataFacts("image", leading.image_url.url);
  return facts?.width === undefined || facts.height === undefined || facts.height === 0
    ? fixedRatios[0]
    : nearestRatio({ width: facts.width, height: facts.height });
}
