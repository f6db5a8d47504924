import type * as Mediabunny from "mediabunny";
import type { MediaFacts, MediaKind } from "../../contract/media.js";
import { OptionsError } from "../../errors.js";
import type { ReadableMedium } from "./media-probe.js";

/** Format, duration and, for a video, size and frame rate, from as few reads as the file allows. */
export async function readClipHeader(
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
    throw new OptionsError(
      "missing-package",
      `To check ${kind} before it is sent, install the package mediabunny (npm install mediabunny); or leave the check out with media: { check: "none" }, or give a media.probe of your own`,
      { cause },
    );
  }
}
