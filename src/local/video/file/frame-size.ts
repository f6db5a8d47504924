/** Shapes of a video, widest last of the table's order. */
export const fixedRatios = ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9"] as const;
export type FixedRatio = (typeof fixedRatios)[number];

export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** Pixels of a video, in the order of `fixedRatios`. */
const sizes: Readonly<Record<string, string>> = {
  "480p": "864x496 752x560 640x640 560x752 496x864 992x432",
  "720p": "1280x720 1112x834 960x960 834x1112 720x1280 1470x630",
  "1080p": "1920x1080 1664x1248 1440x1440 1248x1664 1080x1920 2206x946",
};

export function frameSize(resolution: string, ratio: FixedRatio): FrameSize {
  const size = sizes[resolution]?.split(" ")[fixedRatios.indexOf(ratio)];
  const [width = 1280, height = 720] = size?.split("x").map(Number) ?? [];
  return { width, height };
}

/** The ratio nearest to a medium's own; distances are those of logarithms, so that wide and tall count alike. */
export function nearestRatio({ width, height }: FrameSize): FixedRatio {
  const wanted = Math.log(width / height);
  const distance = (ratio: FixedRatio) => {
    const [across = 1, down = 1] = ratio.split(":").map(Number);
    return Math.abs(Math.log(across / down) - wanted);
  };
  return fixedRatios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}
