import type { Violation } from "./operation.js";

const megabyte = 1024 * 1024;

/** Images: every bound of size and shape is exclusive. Ratios are width to height, as fractions so that they are exact. */
export const imageLimits = {
  formats: ["jpeg", "png", "webp", "bmp", "tiff", "gif"],
  /** Beyond the contract: only for models with the feature `heic`. */
  extraFormats: ["heic", "heif"],
  aboveRatio: [2, 5],
  belowRatio: [5, 2],
  abovePixels: 300,
  belowPixels: 6000,
  belowBytes: 30 * megabyte,
  maxCount: 9,
} as const;

/** Videos: every bound is inclusive. */
export const videoLimits = {
  formats: ["mp4", "mov"],
  minRatio: [2, 5],
  maxRatio: [5, 2],
  minPixels: 300,
  maxPixels: 6000,
  minArea: 409_600,
  maxArea: 2_086_876,
  minFramesPerSecond: 24,
  maxFramesPerSecond: 60,
  minSeconds: 2,
  maxSeconds: 15,
  maxTotalSeconds: 15,
  maxBytes: 50 * megabyte,
  maxCount: 3,
} as const;

/** Audio clips: every bound is inclusive. */
export const audioLimits = {
  formats: ["wav", "mp3"],
  minSeconds: 2,
  maxSeconds: 15,
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
  /** In the words of the limits above, such as `jpeg`; `unknown` for anything else. */
  readonly format: string;
  /** Size of the whole file. */
  readonly sizeBytes?: number;
  /** In pixels, as stored or as displayed: the bounds of the two ratios are each other's inverse, so turning changes nothing. */
  readonly width?: number;
  readonly height?: number;
  readonly durationSeconds?: number;
  readonly framesPerSecond?: number;
}

export type MediaKind = "image" | "video" | "audio";

/** Lists every bound that a medium breaks. `field` is its place in the request. Pure. */
export function mediaViolations(
  kind: MediaKind,
  facts: MediaFacts,
  field: string,
  /** Formats of pictures beyond the contract's. */
  extraFormats: readonly string[] = [],
): readonly Violation[] {
  const problems =
    kind === "image"
      ? imageProblems(facts, extraFormats)
      : kind === "video"
        ? videoProblems(facts)
        : audioProblems(facts);
  return problems.map((message) => ({ field, message }));
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

function imageProblems({ format, sizeBytes, width, height }: MediaFacts, extraFormats: readonly string[]): string[] {
  const { formats, aboveRatio, belowRatio, abovePixels, belowPixels, belowBytes } = imageLimits;
  const found = formatProblems("image", format, [...formats, ...extraFormats]);
  if (sizeBytes !== undefined && sizeBytes >= belowBytes) {
    found.push(`the image has ${sizeBytes} bytes, it must have fewer than ${belowBytes}`);
  }
  if (width === undefined || height === undefined) return found;
  for (const [name, pixels] of [["width", width] as const, ["height", height] as const]) {
    if (pixels > abovePixels && pixels < belowPixels) continue;
    found.push(`the image's ${name} is ${pixels} px, it must be above ${abovePixels} and below ${belowPixels}`);
  }
  if (compareRatio(width, height, aboveRatio) <= 0 || compareRatio(width, height, belowRatio) >= 0) {
    found.push(`the image's ratio ${ratioText(width, height)} must be above 0.4 and below 2.5`);
  }
  return found;
}

function videoProblems(facts: MediaFacts): string[] {
  const { format, sizeBytes, width, height, framesPerSecond } = facts;
  const limits = videoLimits;
  const found = formatProblems("video", format, limits.formats);
  found.push(...sizeProblems("video", sizeBytes, limits.maxBytes), ...durationProblems("video", facts));
  if (
    framesPerSecond !== undefined &&
    (rounded(framesPerSecond) < limits.minFramesPerSecond || rounded(framesPerSecond) > limits.maxFramesPerSecond)
  ) {
    const film =
      Math.abs(framesPerSecond - 23.976) < 0.01 ? " (23.976, the rate of films on television, is too slow)" : "";
    found.push(
      `the video has ${rounded(framesPerSecond)} frames a second, ${limits.minFramesPerSecond} to ${limits.maxFramesPerSecond} are allowed${film}`,
    );
  }
  if (width === undefined || height === undefined) return found;
  for (const [name, pixels] of [["width", width] as const, ["height", height] as const]) {
    if (pixels >= limits.minPixels && pixels <= limits.maxPixels) continue;
    found.push(`the video's ${name} is ${pixels} px, ${limits.minPixels} to ${limits.maxPixels} are allowed`);
  }
  const area = width * height;
  if (area < limits.minArea || area > limits.maxArea) {
    found.push(`the video has ${area} pixels (${width}×${height}), ${limits.minArea} to ${limits.maxArea} are allowed`);
  }
  if (compareRatio(width, height, limits.minRatio) < 0 || compareRatio(width, height, limits.maxRatio) > 0) {
    found.push(`the video's ratio ${ratioText(width, height)} must be 0.4 to 2.5`);
  }
  return found;
}

function audioProblems(facts: MediaFacts): string[] {
  return [
    ...formatProblems("audio", facts.format, audioLimits.formats),
    ...sizeProblems("audio", facts.sizeBytes, audioLimits.maxBytes),
    ...durationProblems("audio", facts),
  ];
}

function formatProblems(kind: MediaKind, format: string, formats: readonly string[]): string[] {
  if (formats.includes(format)) return [];
  return [`the ${kind}'s format is ${format}, it must be one of ${formats.join(", ")}`];
}

function sizeProblems(kind: MediaKind, sizeBytes: number | undefined, maxBytes: number): string[] {
  if (sizeBytes === undefined || sizeBytes <= maxBytes) return [];
  return [`the ${kind} has ${sizeBytes} bytes, at most ${maxBytes} are allowed`];
}

function durationProblems(kind: "video" | "audio", { durationSeconds }: MediaFacts): string[] {
  const { minSeconds, maxSeconds } = kind === "video" ? videoLimits : audioLimits;
  if (durationSeconds === undefined) return [];
  const within =
    durationSeconds >= minSeconds - durationToleranceSeconds &&
    durationSeconds <= maxSeconds + durationToleranceSeconds;
  return within
    ? []
    : [`the ${kind} lasts ${rounded(durationSeconds)} s, ${minSeconds} to ${maxSeconds} s are allowed`];
}

/** Negative, zero or positive when the ratio is below, at or above the fraction. Exact, while a quotient would round. */
function compareRatio(width: number, height: number, [over, under]: readonly [number, number]): number {
  return width * under - height * over;
}

function ratioText(width: number, height: number): string {
  return `${rounded(width / height)} (${width}×${height})`;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
