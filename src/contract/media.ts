import type { Violation } from "./operation.js";

const megabyte = 1024 * 1024;

/** Images: every bound of size and shape is exclusive. Ratios are width to height. */
export const imageLimits = {
  formats: ["jpeg", "png", "webp", "bmp", "tiff", "gif"],
  /** Beyond the contract: only for models with the feature `heic`. */
  extraFormats: ["heic", "heif"],
  ratio: { low: 0.4, high: 2.5 },
  pixels: { low: 300, high: 6000 },
  belowBytes: 30 * megabyte,
  maxCount: 9,
} as const;

/** Videos: every bound is inclusive. */
export const videoLimits = {
  formats: ["mp4", "mov"],
  ratio: { low: 0.4, high: 2.5 },
  pixels: { low: 300, high: 6000 },
  area: { low: 409_600, high: 2_086_876 },
  framesPerSecond: { low: 24, high: 60 },
  seconds: { low: 2, high: 15 },
  maxTotalSeconds: 15,
  maxBytes: 50 * megabyte,
  maxCount: 3,
} as const;

/** Audio clips: every bound is inclusive. */
export const audioLimits = {
  formats: ["wav", "mp3"],
  seconds: { low: 2, high: 15 },
  maxTotalSeconds: 15,
  maxBytes: 15 * megabyte,
  maxCount: 3,
} as const;

/**
 * Seconds by which a duration may exceed its bounds: encoders pad, so that a tone of 3.500 s reads 3.527 s as MP3 at
 * 44.1 kHz and 3.553 s at 22.05 kHz.
 */
const durationToleranceSeconds = 0.1;

/** The facts that a medium's header states; those that could not be read are left out, and not judged. */
export interface MediaFacts {
  /** Format in the words of the limits above, such as `jpeg`; `unknown` for anything else. */
  readonly format: string;
  /** The format that a `data:` address names. */
  readonly declaredFormat?: string;
  /** Size of the whole file. */
  readonly sizeBytes?: number;
  /** Width in pixels, stored or displayed: rotation does not matter, since the bounds of the two ratios are inverse. */
  readonly width?: number;
  /** Height in pixels, as it is displayed. */
  readonly height?: number;
  /** Length of a clip or video. Left out for images. */
  readonly durationSeconds?: number;
  /** Mean rate of a video's frames. */
  readonly framesPerSecond?: number;
}

/** Kinds of media that a video is made from. */
export type MediaKind = "image" | "video" | "audio";

/** Lists every bound that a medium breaks. `field` is its place in the request. Pure. */
export function mediaViolations(
  kind: MediaKind,
  facts: MediaFacts,
  field: string,
  /** Formats of pictures beyond the contract's. */
  extraFormats: readonly string[] = [],
): readonly Violation[] {
  const formats = [...{ image: imageLimits, video: videoLimits, audio: audioLimits }[kind].formats, ...extraFormats];
  const broken = measures(kind, facts).filter((measure) => isBroken(kind, measure));
  const { format, declaredFormat: declared = format } = facts;
  const problems = [
    ...(formats.includes(format) ? [] : [`'s format is ${format}, it must be one of ${formats.join(", ")}`]),
    ...(isNamedRightly(declared, format) ? [] : [` is written as ${declared}, its bytes are ${format}`]),
    ...broken.map(({ says, low, high, unit = "" }) => {
      if (kind === "image") return `${says}, it must be ${low === undefined ? "" : `above ${low} and `}below ${high}`;
      return `${says}, ${low === undefined ? "at most" : `${low} to`} ${high}${unit} are allowed`;
    }),
  ];
  return problems.map((problem) => ({ field, message: `the ${kind}${problem}` }));
}

/** HEIF is the container, HEIC its usual contents: their first bytes do not tell them apart. */
function isNamedRightly(declared: string, found: string): boolean {
  return declared === found || (declared === "heif" && found === "heic");
}

/** A measured property, with the bounds that it must keep. */
interface Measure {
  /** Text of the limit, which follows the kind of medium in the message. */
  readonly says: string;
  /** `undefined` when it could not be read. */
  readonly value: number | undefined;
  readonly low?: number;
  readonly high: number;
  readonly unit?: string;
  readonly tolerance?: number;
}

function isBroken(kind: MediaKind, { value, low = Number.NEGATIVE_INFINITY, high, tolerance = 0 }: Measure): boolean {
  if (value === undefined) return false;
  if (kind === "image") return value <= low || value >= high;
  return value < low - tolerance || value > high + tolerance;
}

function measures(kind: MediaKind, facts: MediaFacts): readonly Measure[] {
  const { sizeBytes, durationSeconds, framesPerSecond } = facts;
  const bytes = { says: ` has ${sizeBytes} bytes`, value: sizeBytes };
  if (kind === "image") return [{ ...bytes, high: imageLimits.belowBytes }, ...frameMeasures(imageLimits, facts)];
  const { maxBytes, seconds } = kind === "video" ? videoLimits : audioLimits;
  const lasts = ` lasts ${rounded(durationSeconds ?? 0)} s`;
  const duration = { says: lasts, value: durationSeconds, ...seconds, unit: " s", tolerance: durationToleranceSeconds };
  if (kind === "audio") return [{ ...bytes, high: maxBytes }, duration];
  const { width, height } = facts;
  const rate = framesPerSecond === undefined ? undefined : rounded(framesPerSecond);
  return [
    { ...bytes, high: maxBytes },
    duration,
    { says: ` has ${rate} frames a second`, value: rate, ...videoLimits.framesPerSecond },
    ...frameMeasures(videoLimits, facts),
    {
      says: ` has ${width}×${height} pixels`,
      value: width === undefined || height === undefined ? undefined : width * height,
      ...videoLimits.area,
    },
  ];
}

function frameMeasures(
  { pixels, ratio }: typeof imageLimits | typeof videoLimits,
  { width, height }: MediaFacts,
): readonly Measure[] {
  if (width === undefined || height === undefined) return [];
  return [
    { says: `'s width is ${width} px`, value: width, ...pixels },
    { says: `'s height is ${height} px`, value: height, ...pixels },
    { says: `'s ratio is ${rounded(width / height)} (${width}×${height})`, value: width / height, ...ratio },
  ];
}

/** Checks the durations of all reference videos, or of all reference clips, together. */
export function totalDurationViolations(
  kind: "video" | "audio",
  durationsSeconds: readonly number[],
): readonly Violation[] {
  const { maxTotalSeconds } = kind === "video" ? videoLimits : audioLimits;
  const total = rounded(durationsSeconds.reduce((sum, seconds) => sum + seconds, 0));
  if (total <= maxTotalSeconds + durationToleranceSeconds) return [];
  const message = `the reference ${kind} items last ${total} s together, at most ${maxTotalSeconds} s are allowed`;
  return [{ field: "content", message }];
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
