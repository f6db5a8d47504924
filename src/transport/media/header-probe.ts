import type * as Mediabunny from "mediabunny";
import { imageLimits, type MediaFacts, type MediaKind } from "../../contract/media.js";
import { OptionsError } from "../../core/errors.js";
import type { MediaProbe, ReadableMedium } from "./media-probe.js";

/** Reads headers: images by the package image-size, audio and video by mediabunny, which is installed on demand. */
export const headerProbe: MediaProbe = {
  probe: async (kind, medium) => {
    const { sizeBytes } = medium;
    if (sizeBytes === 0) throw new Error("it is empty");
    if (kind !== "image") return { ...(await readClipHeader(kind, medium)), sizeBytes };
    const { imageHeaderBytes, readImageHeader } = await import("../../media/image-header.js");
    const start = await medium.read(0, Math.min(sizeBytes, imageHeaderBytes));
    try {
      return { ...readImageHeader(start), sizeBytes };
    } catch (error) {
      // The directory of a TIFF may be at its end. A file that is too large anyway is not read for it.
      if (start.length >= sizeBytes || sizeBytes >= imageLimits.belowBytes) throw error;
      return { ...readImageHeader(await medium.read(0, sizeBytes)), sizeBytes };
    }
  },
};

/** Reads format, duration and, for a video, size and frame rate, with as few reads as the file allows. */
async function readClipHeader(
  kind: Exclude<MediaKind, "image">,
  { sizeBytes, read }: ReadableMedium,
): Promise<MediaFacts> {
  const { CustomSource, Input, MP3, MP4, QTFF, WAVE } = await loadMediabunny(kind);
  const source = new CustomSource({ getSize: () => sizeBytes, read, handleUnhandledError: () => {} });
  const input = new Input({ formats: [MP4, QTFF, WAVE, MP3], source });
  try {
    if (!(await input.canRead())) return { format: "unknown" };
    const found = await input.getFormat();
    const names = new Map<Mediabunny.InputFormat, string>([
      [MP4, "mp4"],
      [QTFF, "mov"],
      [WAVE, "wav"],
      [MP3, "mp3"],
    ]);
    const format = names.get(found) ?? found.name.toLowerCase();
    const durationSeconds = await input.computeDuration();
    if (kind === "audio") return { format, durationSeconds };
    const track = await input.getPrimaryVideoTrack();
    if (!track) throw new Error("it has no picture");
    const { averagePacketRate } = await track.computePacketStats();
    return {
      format,
      durationSeconds,
      width: await track.getDisplayWidth(),
      height: await track.getDisplayHeight(),
      framesPerSecond: averagePacketRate,
    };
  } finally {
    input.dispose();
  }
}

async function loadMediabunny(kind: MediaKind): Promise<typeof Mediabunny> {
  try {
    return await import("mediabunny");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const advice = `install the package mediabunny (npm install mediabunny); or leave the check out with media: { check: "none" }, or give a media.probe of your own`;
    throw new OptionsError("missing-package", `To check ${kind} before it is sent, ${advice}`, { cause });
  }
}
