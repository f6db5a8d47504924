/** Shapes of a video, widest last of the table's order. */
export const fixedRatios = ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9"] as const;
export type FixedRatio = (typeof fixedRatios)[number];

export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** Pixels of a video, in the order of `fixedRatios`. */
const sizes: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  "480p": [
    [864, 496],
    [752, 560],
    [640, 640],
    [560, 752],
    [496, 864],
    [992, 432],
  ],
  "720p": [
    [1280, 720],
    [1112, 834],
    [960, 960],
    [834, 1112],
    [720, 1280],
    [1470, 630],
  ],
  "1080p": [
    [1920, 1080],
    [1664, 1248],
    [1440, 1440],
    [1248, 1664],
    [1080, 1920],
    [2206, 946],
  ],
};

export function frameSize(resolution: string, ratio: FixedRatio): FrameSize {
  const [width, height] = sizes[resolution]?.[fixedRatios.indexOf(ratio)] ?? [1280, 720];
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
