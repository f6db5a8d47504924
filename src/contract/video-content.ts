import { z } from "zod";
import { optionsOf } from "../core/options.js";
import type { ModelInfo } from "./catalogue.js";
import { audioLimits, imageLimits, videoLimits } from "./media.js";
import type { Violation } from "./operation.js";

const assetPattern = "asset://[^\\s/]+";
const webPattern = "https?://\\S+";

/** A public address, an asset id, or Base64 data of these formats, or of further ones that not every model takes. */
function source(kind: "image" | "audio", formats: readonly string[], furtherFormats: readonly string[] = []) {
  const data = `data:${kind}/(${[...formats, ...furtherFormats].join("|")});base64,.`;
  return z
    .string()
    .regex(
      new RegExp(`^(${webPattern}$|${assetPattern}$|${data})`),
      `must be an http(s) address, asset://{asset_id}, or data:${kind}/<format>;base64,<data> with one of the formats ${formats.join(", ")} in lower case`,
    );
}

const ImageSource = source("image", imageLimits.formats, imageLimits.extraFormats);
const extraImage = new RegExp(`^data:image/(${imageLimits.extraFormats.join("|")});`);

const imageRoles = ["first_frame", "last_frame", "reference_image"] as const;
export type ImageRole = (typeof imageRoles)[number];

/** A medium in `content`, with its role. */
interface Medium<Role> {
  /** A public http(s) address, `asset://{asset_id}`, or, unless it is a video, `data:{kind}/{format};base64,{data}`. */
  readonly url: string;
  /** Use of the medium. Default: the only one that its kind has; for a lone image, `first_frame`. */
  readonly role?: Role;
}

interface TextItem {
  readonly type: "text";
  /** The prompt. Recommended: at most 500 Chinese characters or 1000 English words. */
  readonly text: string;
}

interface ImageItem {
  readonly type: "image_url";
  /** The image and its role. */
  readonly image_url: Medium<ImageRole>;
  /** The role, for services that want it here. */
  readonly role?: ImageRole;
}

interface VideoItem {
  readonly type: "video_url";
  /** The video and its role. */
  readonly video_url: Medium<"reference_video">;
  /** The role, for services that want it here. */
  readonly role?: "reference_video";
}

interface AudioItem {
  readonly type: "audio_url";
  /** The clip and its role. */
  readonly audio_url: Medium<"reference_audio">;
  /** The role, for services that want it here. */
  readonly role?: "reference_audio";
}

/**
 * One element of `content`. The contract writes the role inside (`image_url.role`), services of the same shape beside
 * (`role`): both are accepted, and must agree when both are given.
 */
export type VideoContentItem = TextItem | ImageItem | VideoItem | AudioItem;

const ImageRole = z.enum(imageRoles).optional();
const VideoRole = z.literal("reference_video").optional();
const AudioRole = z.literal("reference_audio").optional();

export const VideoContentItem = z.discriminatedUnion("type", [
  optionsOf<TextItem>()({ type: z.literal("text"), text: z.string() }),
  optionsOf<ImageItem>()({
    type: z.literal("image_url"),
    image_url: optionsOf<Medium<ImageRole>>()({ url: ImageSource, role: ImageRole }),
    role: ImageRole,
  }),
  optionsOf<VideoItem>()({
    type: z.literal("video_url"),
    video_url: optionsOf<Medium<"reference_video">>()({
      url: z
        .string()
        .regex(new RegExp(`^(${webPattern}|${assetPattern})$`), "must be an http(s) address or asset://{asset_id}"),
      role: VideoRole,
    }),
    role: VideoRole,
  }),
  optionsOf<AudioItem>()({
    type: z.literal("audio_url"),
    audio_url: optionsOf<Medium<"reference_audio">>()({ url: source("audio", audioLimits.formats), role: AudioRole }),
    role: AudioRole,
  }),
]);
export type VideoContentRole = ImageRole | "reference_video" | "reference_audio";

/** The kinds of content that a video is made from; they exclude each other. */
export type VideoMode = "text" | "first-frame" | "first-and-last-frame" | "reference";

export type MediaItem = Exclude<VideoContentItem, { type: "text" }>;

/** The medium of an item, with the role that is written inside. */
export function itemMedium(item: MediaItem): Medium<VideoContentRole> {
  if (item.type === "image_url") return item.image_url;
  return item.type === "video_url" ? item.video_url : item.audio_url;
}

/**
 * Determines every item's role, in order: a video or clip can only be a reference, and a lone image without a role is the
 * first frame. `undefined` for text, and for an image whose role has to be written.
 */
export function contentRoles(content: readonly VideoContentItem[]): readonly (VideoContentRole | undefined)[] {
  const media = content.filter(({ type }) => type !== "text").length;
  return content.map((item) => {
    if (item.type === "text") return undefined;
    const written = itemMedium(item).role ?? item.role;
    if (written !== undefined) return written;
    if (item.type === "video_url") return "reference_video";
    if (item.type === "audio_url") return "reference_audio";
    return media === 1 ? "first_frame" : undefined;
  });
}

/** Determines the kind of content; for content that breaks no rule. */
export function videoMode(content: readonly VideoContentItem[]): VideoMode {
  const roles = contentRoles(content);
  if (roles.includes("last_frame")) return "first-and-last-frame";
  if (roles.includes("first_frame")) return "first-frame";
  return roles.some((role) => role !== undefined) ? "reference" : "text";
}

/** Maximum items of each role. */
const maxItems: Readonly<Record<VideoContentRole, number>> = {
  first_frame: 1,
  last_frame: 1,
  reference_image: imageLimits.maxCount,
  reference_video: videoLimits.maxCount,
  reference_audio: audioLimits.maxCount,
};

/** Lists the rules between items, and about the model, that the content breaks. Pure. */
export function contentViolations(content: readonly VideoContentItem[], model: ModelInfo): readonly Violation[] {
  const roles = contentRoles(content);
  const has = (...wanted: readonly VideoContentRole[]) =>
    roles.some((role) => role !== undefined && wanted.includes(role));
  const hasReferences = has("reference_image", "reference_video", "reference_audio");
  const found: Violation[] = [...placementViolations(content, roles), ...formatViolations(content, model)];
  const refuse = (message: string) => found.push({ field: "content", message });

  const media = content.filter(({ type }) => type !== "text").length;
  if (media === 0 && !content.some((item) => item.type === "text" && item.text.trim() !== "")) {
    refuse("has neither a text that says something nor an image or video");
  }
  for (const [role, max] of Object.entries(maxItems)) {
    const count = roles.filter((one) => one === role).length;
    if (count > max) refuse(`has ${count} items with role ${role}, at most ${max}`);
  }
  if (has("last_frame") && !has("first_frame")) refuse("has a last_frame, which needs a first_frame beside it");
  if (has("first_frame", "last_frame") && hasReferences) {
    refuse("mixes first_frame or last_frame with references: choose frames or references");
  }
  if (has("reference_audio") && !has("reference_image", "reference_video")) {
    refuse("has reference_audio alone: at least one reference_image or reference_video must accompany it");
  }
  if (hasReferences && !model.videoFeatures?.includes("references")) {
    const message = `has reference images, videos or audio, which ${model.id} is not known to take`;
    found.push({ field: "content", message, rule: "model" });
  }
  return found;
}

/** Formats of pictures that the model accepts beyond the contract's. */
export function extraImageFormats({ videoFeatures }: ModelInfo): readonly string[] {
  return videoFeatures?.includes("heic") ? imageLimits.extraFormats : [];
}

function formatViolations(content: readonly VideoContentItem[], model: ModelInfo): readonly Violation[] {
  if (extraImageFormats(model).length > 0) return [];
  return content.flatMap((item, index) => {
    if (item.type !== "image_url" || !extraImage.test(item.image_url.url)) return [];
    const message = `is a format that ${model.id} is not known to take: convert it to one of ${imageLimits.formats.join(", ")}`;
    return [{ field: `content.${index}.image_url.url`, message, rule: "model" }];
  });
}

function placementViolations(
  content: readonly VideoContentItem[],
  roles: readonly (VideoContentRole | undefined)[],
): readonly Violation[] {
  return content.flatMap((item, index) => {
    if (item.type === "text") return [];
    const inside = itemMedium(item).role;
    if (inside !== undefined && item.role !== undefined && inside !== item.role) {
      const message = `is ${item.role}, but ${item.type}.role is ${inside}: write it once`;
      return [{ field: `content.${index}.role`, message }];
    }
    if (roles[index] !== undefined) return [];
    const message = `is missing: only a lone image is the first frame by itself, beside other media write one of ${imageRoles.join(", ")}`;
    return [{ field: `content.${index}.${item.type}.role`, message }];
  });
}
