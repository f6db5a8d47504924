import { z } from "zod";
import type { ModelInfo } from "../../contract/catalogue.js";
import { type MediaFacts, type MediaKind, mediaViolations, totalDurationViolations } from "../../contract/media.js";
import type { Violation } from "../../contract/operation.js";
import { type VideoContentItem, extraImageFormats } from "../../contract/video-content.js";
import { OptionsError, TransportError } from "../../errors.js";
import { resolve } from "../../options.js";
import { headerProbe } from "./header-probe.js";
import { type MediaProbe, type ReadableMedium, mediumOf } from "./media-probe.js";
import { isPublicAddress } from "../../network/public-address.js";
import { openRemoteMedium } from "./remote-medium.js";

export const MediaCheck = z.strictObject({
  /**
   * `inline`: data that the request carries. `all`: also what stands at public addresses, by fetching its first bytes.
   * `none`: nothing. Assets cannot be looked at, and are only counted. Default: `inline`.
   */
  check: z.enum(["none", "inline", "all"]).default("inline"),
  /** Reads headers. Default: the built-in readers. */
  probe: z
    .custom<MediaProbe>(
      (value) => typeof (value as MediaProbe | null)?.probe === "function",
      "must have a method probe",
    )
    .default(headerProbe),
  /** With `all`: also fetch from this machine and its network. Never for addresses that others wrote. Default: false. */
  allowPrivateAddresses: z.boolean().default(false),
  /** With `all`: most time for one request. 1 to 600,000, default 15,000. */
  timeoutMs: z.int().min(1).max(600_000).default(15_000),
});
export type MediaCheck = z.input<typeof MediaCheck>;

type Settings = z.output<typeof MediaCheck>;

/** Bytes of one remote medium that may be fetched to read its header. */
const maxRemoteBytes = 32 * 1024 * 1024;

/**
 * Looks at the media of a request before it is paid for.
 *
 * @throws TransportError `request` naming every bound that a medium breaks; OptionsError `missing-package` when audio or
 *   video is to be read and the reader is not installed.
 */
export async function checkMedia(
  content: readonly VideoContentItem[],
  options: MediaCheck,
  model: ModelInfo,
  signal?: AbortSignal,
): Promise<void> {
  const settings = resolve("media", MediaCheck, options);
  if (settings.check === "none") return;
  const found: Violation[] = [];
  const durations = { video: [] as number[], audio: [] as number[] };
  for (const [index, item] of content.entries()) {
    if (item.type === "text") continue;
    const kind = kinds[item.type];
    const field = `content.${index}.${item.type}.url`;
    const looked = await look(item, kind, settings, signal);
    if (!looked) continue;
    if ("problem" in looked) {
      found.push({ field, message: `the ${kind} ${looked.problem}` });
      continue;
    }
    found.push(...mediaViolations(kind, looked.facts, field, extraImageFormats(model)));
    if (looked.declared !== undefined && !sameFormat(looked.declared, looked.facts.format)) {
      found.push({
        field,
        message: `the ${kind} is written as ${looked.declared}, its bytes are ${looked.facts.format}`,
      });
    }
    if (kind !== "image" && looked.facts.durationSeconds !== undefined)
      durations[kind].push(looked.facts.durationSeconds);
  }
  found.push(
    ...totalDurationViolations("video", durations.video),
    ...totalDurationViolations("audio", durations.audio),
  );
  if (found.length === 0) return;
  const listed = found.map(({ field, message }) => `${field}: ${message}`).join("; ");
  throw new TransportError("request", `createVideoTask: ${listed}`, { operation: "createVideoTask" });
}

/** HEIF is the container, HEIC its usual contents: their first bytes do not tell them apart. */
function sameFormat(declared: string, found: string): boolean {
  return declared === found || (declared === "heif" && found === "heic");
}

const kinds = { image_url: "image", video_url: "video", audio_url: "audio" } as const;

type Looked = { readonly facts: MediaFacts; readonly declared?: string } | { readonly problem: string };

async function look(
  item: Exclude<VideoContentItem, { type: "text" }>,
  kind: MediaKind,
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<Looked | undefined> {
  const url = urlOf(item);
  if (url.startsWith("data:")) {
    const inline = decodeDataUrl(url);
    if (!inline) return { problem: "is not Base64" };
    const probed = await probe(kind, mediumOf(inline.bytes), settings.probe, signal);
    return "facts" in probed ? { ...probed, declared: inline.format } : probed;
  }
  if (settings.check !== "all" || !/^https?:/.test(url)) return undefined;
  return lookRemotely(url, kind, settings, signal);
}

async function lookRemotely(
  url: string,
  kind: MediaKind,
  { probe: reader, allowPrivateAddresses, timeoutMs }: Settings,
  signal: AbortSignal | undefined,
): Promise<Looked> {
  const mayReach = allowPrivateAddresses ? () => true : isPublicAddress;
  try {
    const medium = await openRemoteMedium(url, { mayReach, maxBytes: maxRemoteBytes, timeoutMs, signal });
    try {
      return await probe(kind, medium, reader, signal);
    } finally {
      await medium.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof OptionsError) throw error;
    return { problem: `could not be fetched: ${(error as Error).message}` };
  }
}

async function probe(
  kind: MediaKind,
  medium: ReadableMedium,
  reader: MediaProbe,
  signal: AbortSignal | undefined,
): Promise<Looked> {
  signal?.throwIfAborted();
  try {
    return { facts: await reader.probe(kind, medium) };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof OptionsError) throw error;
    return { problem: `cannot be read: ${(error as Error).message}` };
  }
}

function urlOf(item: Exclude<VideoContentItem, { type: "text" }>): string {
  if (item.type === "image_url") return item.image_url.url;
  return item.type === "video_url" ? item.video_url.url : item.audio_url.url;
}

/** The bytes of `data:<kind>/<format>;base64,…`, which the contract has checked to look so. */
function decodeDataUrl(url: string): { readonly format: string; readonly bytes: Buffer } | undefined {
  const comma = url.indexOf(",");
  const format = url.slice(url.indexOf("/") + 1, url.indexOf(";"));
  const text = url.slice(comma + 1);
  const bytes = Buffer.from(text, "base64");
  // Characters that are no Base64 are skipped by the decoder, and leave fewer bytes than the text is long.
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return bytes.length === Math.floor(((text.length - padding) * 3) / 4) ? { format, bytes } : undefined;
}
