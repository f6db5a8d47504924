import { intraPicture, parameterSets, repeatedPicture } from "./h264.js";
import { mp4File } from "./mp4.js";
import { bandColours, type Colour, pngFile } from "./picture.js";
import { framesPerSecond, type VideoPlan } from "../video-task.js";

const white: Colour = [235, 128, 128];

/** The video of a plan: bands that move once a second, silent, of exactly the size and length that were planned. Pure. */
export function videoFile({ size, seed, contentHash, watermark, generateAudio, ...plan }: VideoPlan): Buffer {
  const count = pictureCount(plan);
  const pictures = Array.from({ length: count }, (_, index) => {
    const second = Math.floor(index / framesPerSecond);
    const within = index % framesPerSecond;
    if (within > 0) return { bytes: repeatedPicture(size, within), intra: false };
    const mark = watermark ? { mark: white } : {};
    return {
      bytes: intraPicture({ size, bands: bandColours(contentHash, seed, second), id: second % 2, ...mark }),
      intra: true,
    };
  });
  return mp4File({ size, framesPerSecond, parameterSets: parameterSets(size), pictures, sound: generateAudio });
}

/** The last picture of that video, without its watermark. Pure. */
export function lastFrameFile({ size, seed, contentHash, ...plan }: VideoPlan): Buffer {
  const second = Math.floor((pictureCount(plan) - 1) / framesPerSecond);
  return pngFile(size, bandColours(contentHash, seed, second));
}

function pictureCount({ durationSeconds }: Pick<VideoPlan, "durationSeconds">): number {
  return Math.max(1, Math.round(durationSeconds * framesPerSecond));
}
