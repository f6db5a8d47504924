import { z } from "zod";
import { optionsOf } from "../core/options.js";
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
export type ServiceTier = (typeof serviceTiers)[number];
const resolutions = ["480p", "720p", "1080p", "480P", "720P", "1080P"] as const;

export interface VideoRequest {
  /** Id of a video model. */
  readonly model: string;
  /** Text alone, a first frame, first and last frame, or references; `videoContent` makes the items. */
  readonly content: readonly VideoContentItem[];
  /** An http(s) address, which is called for every change of status; see `videoCallbacks`. */
  readonly callback_url?: string;
  /** Whether the result has a PNG of the last frame, to begin a following video with. Default: false. */
  readonly return_last_frame?: boolean;
  /** `flex` runs when there is capacity. Default: `default`. */
  readonly service_tier?: ServiceTier;
  /** Seconds from creation until an unfinished task ends as `expired`. 3,600 to 259,200, default 172,800: two days. */
  readonly execution_expires_after?: number;
  /** Whether the video has sound. Default: true. */
  readonly generate_audio?: boolean;
  /** Tools that the model may use; it decides whether to search. Default: none. */
  readonly tools?: readonly {
    readonly type: "web_search";
  }[];
  /** Hash of at most 64 characters that identifies the end user without naming them. */
  readonly safety_identifier?: string;
  /** Capital letters are accepted and sent in lower case. Default: 720p. */
  readonly resolution?: (typeof resolutions)[number];
  /** `adaptive`, the default: chosen from the prompt or the first frame; the result says which. */
  readonly ratio?: (typeof videoRatios)[number];
  /** Whole seconds, 4 to 15; -1 lets the model choose. Default: 5. */
  readonly duration?: number;
  /** Number of frames, 1 or more, for models that take it. Wins over `duration`. */
  readonly frames?: number;
  /** 0 to 4,294,967,295, or -1, the default, for a random one. The same request and seed give similar videos, not the same. */
  readonly seed?: number;
  /** Whether the camera stands still, for models that take it. Default: false. */
  readonly camera_fixed?: boolean;
  /** Whether the video carries the service's watermark. Default: false. */
  readonly watermark?: boolean;
}

const Resolution = z
  .enum(resolutions, { error: "must be 480p, 720p or 1080p" })
  .transform((resolution) => resolution.toLowerCase());

export const VideoRequest = optionsOf<VideoRequest>()({
  model: z.string().min(1),
  content: z.array(VideoContentItem, 'must be a list of items such as { type: "text", text }').min(1),
  callback_url: z
    .string()
    .regex(/^https?:\/\/\S+$/, "must be an http(s) address")
    .optional(),
  return_last_frame: z.boolean().optional(),
  service_tier: z.enum(serviceTiers).optional(),
  execution_expires_after: z.int().min(3600).max(259_200).optional(),
  generate_audio: z.boolean().optional(),
  tools: z.array(z.strictObject({ type: z.literal("web_search") })).optional(),
  safety_identifier: z.string().min(1).max(64).optional(),
  resolution: Resolution.optional(),
  ratio: z.enum(videoRatios).optional(),
  duration: z
    .number()
    .refine((seconds) => seconds === -1 || (Number.isInteger(seconds) && seconds >= 4 && seconds <= 15), {
      error: "must be a whole number from 4 to 15, or -1",
    })
    .optional(),
  frames: z.int().min(1).optional(),
  seed: z
    .int()
    .min(-1)
    .max(2 ** 32 - 1)
    .optional(),
  camera_fixed: z.boolean().optional(),
  watermark: z.boolean().optional(),
});

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

/** @internal */
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

/** @internal */
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
