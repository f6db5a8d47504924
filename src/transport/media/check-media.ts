import { z } from "zod";
import type { ModelInfo } from "../../contract/catalogue.js";
import { type MediaFacts, type MediaKind, mediaViolations, totalDurationViolations } from "../../contract/media.js";
import type { Violation } from "../../contract/operation.js";
import { type MediaItem, type VideoContentItem, extraImageFormats, itemMedium } from "../../contract/video-content.js";
import { OptionsError, TransportError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import { headerProbe } from "./header-probe.js";
import { type MediaProbe, mediumOf } from "./media-probe.js";
import { isPublicAddress } from "../../network/addresses.js";
import { openRemoteMedium } from "./remote-medium.js";

export interface MediaCheck {
  /**
   * `inline`: data that the request carries. `all`: also media at public addresses, by fetching their first bytes.
   * `none`: nothing. Assets cannot be looked at, and are only counted. Default: `inline`.
   */
  readonly check?: "none" | "inline" | "all";
  /** Reads headers. Default: the built-in readers. */
  readonly probe?: MediaProbe;
  /** With `all`: also fetch from this machine and its network. Unsafe for addresses that others wrote. Default: false. */
  readonly allowPrivateAddresses?: boolean;
  /** With `all`: maximum time for one request, in milliseconds. 1 to 600,000, default 15,000. */
  readonly timeoutMs?: number;
}

const mediaCheck = optionsOf<MediaCheck>()({
  check: z.enum(["none", "inline", "all"]).default("inline"),
  probe: z
    .custom<MediaProbe>(
      (value) => typeof (value as MediaProbe | null)?.probe === "function",
      "must have a method probe",
    )
    .default(headerProbe),
  allowPrivateAddresses: z.boolean().default(false),
  timeoutMs: z.int().min(1).max(600_000).default(15_000),
});

type Settings = z.output<typeof mediaCheck>;

/** Maximum bytes of one remote medium that are fetched to read its header. */
const maxRemoteBytes = 32 * 1024 * 1024;

/**
 * Checks the media of a request before it is paid for.
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
  const settings = resolve("media", mediaCheck, options);
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

const kinds = { image_url: "image", video_url: "video", audio_url: "audio" } as const;

type Looked = { readonly facts: MediaFacts } | { readonly problem: string };

/** Reads the facts of an item, or the problem with it; `undefined` when it is not to be looked at. */
async function look(
  item: MediaItem,
  kind: MediaKind,
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<Looked | undefined> {
  const { url } = itemMedium(item);
  if (url.startsWith("data:")) {
    const inline = decodeDataUrl(url);
    if (!inline) return { problem: "is not Base64" };
    const read = async () => ({
      facts: { ...(await settings.probe.probe(kind, mediumOf(inline.bytes))), declaredFormat: inline.format },
    });
    return problemOr("cannot be read", read, signal);
  }
  if (settings.check !== "all" || !/^https?:/.test(url)) return undefined;
  const { allowPrivateAddresses, timeoutMs } = settings;
  const mayReach = allowPrivateAddresses ? () => true : isPublicAddress;
  return problemOr(
    "could not be fetched",
    async () => {
      const medium = await openRemoteMedium(url, { mayReach, maxBytes: maxRemoteBytes, timeoutMs, signal });
      try {
        const read = async () => ({ facts: await settings.probe.probe(kind, medium) });
        return await problemOr("cannot be read", read, signal);
      } finally {
        await medium.close();
      }
    },
    signal,
  );
}

/** Returns an error of the medium as a problem; the signal's reason and errors of the options are thrown. */
async function problemOr<T>(
  what: string,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | { readonly problem: string }> {
  signal?.throwIfAborted();
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof OptionsError) throw error;
    return { problem: `${what}: ${(error as Error).message}` };
  }
}

/** Decodes `data:<kind>/<format>;base64,…`, whose shape the contract has checked. */
function decodeDataUrl(url: string): { readonly format: string; readonly bytes: Buffer } | undefined {
  const comma = url.indexOf(",");
  const format = url.slice(url.indexOf("/") + 1, url.indexOf(";"));
  const text = url.slice(comma + 1);
  const bytes = Buffer.from(text, "base64");
  // The decoder skips characters that are not Base64, which leaves fewer bytes than the length promises.
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return bytes.length === Math.floor(((text.length - padding) * 3) / 4) ? { format, bytes } : undefined;
}
