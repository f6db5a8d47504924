import { imageLimits } from "../../contract/media.js";
import { readClipHeader } from "./clip-header.js";
import type { MediaProbe } from "./media-probe.js";

/** Reads headers: images by the package image-size, audio and video by mediabunny, which is installed on demand. */
export const headerProbe: MediaProbe = {
  probe: async (kind, medium) => {
    const { sizeBytes } = medium;
    if (sizeBytes === 0) throw new Error("it is empty");
    if (kind !== "image") return { ...(await readClipHeader(kind, medium)), sizeBytes };
    const { imageHeaderBytes, readImageHeader } = await import("./image-header.js");
    const start = await medium.read(0, Math.min(sizeBytes, imageHeaderBytes));
    try {
      return { ...readImageHeader(start), sizeBytes };
    } catch (error) {
      // The directory of a TIFF may be at its end. What is too large anyway is not read for it.
      if (start.length >= sizeBytes || sizeBytes >= imageLimits.belowBytes) throw error;
      return { ...readImageHeader(await medium.read(0, sizeBytes)), sizeBytes };
    }
  },
};
