import { z } from "zod";
import type { ModelInfo, VideoFeature } from "./catalogue.js";
import type { Operation, Violation } from "./operation.js";
import { VideoContentItem, contentViolations } from "./video-content.js";

/** The values that the service assumes for fields that a request leaves out. */
export const videoDefaults = {
  return_last_frame: false,
  service_tier: "default",
  execution_expires_after: 172_800,
  generate_audio: true,
  resolution: "720p",
  ratio: "adaptive",
  duration: 5,
  seed: -1,
  camera_fixed: false,
  watermark: false,
} as const;

const videoRatios = ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"] as const;
export const serviceTiers = ["default", "flex"] as const;

/** Capital letters are accepted and sent in lower case. */
const Resolution = z
  .enum(["480p", "720p", "1080p", "480P", "720P", "1080P"], { error: "must be 480p, 720p or 1080p" })
  .transform((resolution) => resolution.toLowerCase());

export const VideoRequest = z.strictObject({
  model: z.string().min(1),
  /** Text alone, a first frame, first and last frame, or references: see `contentViolations`. */
  content: z.array(VideoContentItem, 'must be a list of items such as { type: "text", text }').min(1),
  /** Hears of every change of status. */
  callback_url: z
    .string()
    .regex(/^https?:\/\/\S+$/, "must be an http(s) address")
    .optional(),
  /** Whether the result has a PNG of the last frame, to begin a following video with. */
  return_last_frame: z.boolean().optional(),
  /** `flex` runs when there is capacity. */
  service_tier: z.enum(serviceTiers).optional(),
  /** Seconds from creation until an unfinished task ends as `expired`. */
  execution_expires_after: z.int().min(3600).max(259_200).optional(),
  generate_audio: z.boolean().optional(),
  /** The model decides whether to search. */
  tools: z.array(z.strictObject({ type: z.literal("web_search") })).optional(),
  /** Identifies the end user without naming them: a hash. */
  safety_identifier: z.string().min(1).max(64).optional(),
  resolution: Resolution.optional(),
  /** `adaptive`: chosen from the prompt or the first frame; the result says which. */
  ratio: z.enum(videoRatios).optional(),
  /** Seconds; -1 lets the model choose. */
  duration: z
    .number()
    .refine((seconds) => seconds === -1 || (Number.isInteger(seconds) && seconds >= 4 && seconds <= 15), {
      error: "must be a whole number from 4 to 15, or -1",
    })
    .optional(),
  /** Wins over `duration`. */
  frames: z.int().min(1).optional(),
  /** -1: random. The same request and seed give similar videos, not the same. */
  seed: z
    .int()
    .min(-1)
    .max(2 ** 32 - 1)
    .optional(),
  camera_fixed: z.boolean().optional(),
  watermark: z.boolean().optional(),
});
export type VideoRequest = z.input<typeof VideoRequest>;

export const VideoCreated = z.object({ id: z.string().min(1) });

/** Values that need a feature of the model. For a model that nobody described, the service decides. */
const featureValues: readonly {
  readonly feature: VideoFeature;
  readonly field: keyof VideoRequest;
  readonly uses: (request: z.output<typeof VideoRequest>) => boolean;
}[] = [
  { feature: "flex", field: "service_tier", uses: ({ service_tier }) => service_tier === "flex" },
  { feature: "1080p", field: "resolution", uses: ({ resolution }) => resolution === "1080p" },
  { feature: "frames", field: "frames", uses: ({ frames }) => frames !== undefined },
  { feature: "camera-fixed", field: "camera_fixed", uses: ({ camera_fixed }) => camera_fixed === true },
];

function videoRules(request: z.output<typeof VideoRequest>, model: ModelInfo): readonly Violation[] {
  const found: Violation[] = [];
  if (model.type !== "video") found.push({ field: "model", message: `is of type ${model.type}, not a video model` });
  for (const { feature, field, uses } of featureValues) {
    if (model.videoFeatures && !model.videoFeatures.includes(feature) && uses(request)) {
      const instead = field in videoDefaults ? "leave it out for the default" : "use duration instead";
      found.push({ field, message: `${model.id} does not take it: ${instead}` });
    }
  }
  return [...found, ...contentViolations(request.content, model)];
}

export const createVideoTask = {
  name: "createVideoTask",
  method: "POST",
  path: "/llm/v1/contents/generations/tasks",
  request: VideoRequest,
  reply: VideoCreated,
  rules: videoRules,
  repeat: "undelivered",
  readTimeoutMs: 900_000,
} as const satisfies Operation<typeof VideoRequest, typeof VideoCreated>;
