import type { ChatModel } from "../../core/ports.js";
import type { Hit, PictureOrigin } from "../../core/types.js";
import type { Passage } from "../../text/prompt/pack.js";
import type { ResolvedAnswerOptions } from "./answer-options.js";

/** Maximum number of pictures of passages in one request: more would cost more than the passages themselves. */
const maxPictures = 4;

/** Formats that models take beyond doubt. */
const takenTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

export interface SourcePictures {
  /** Data addresses, in the order of the sources. */
  readonly pictures: readonly string[];
  /** Tells the model which source each belongs to; empty without pictures. */
  readonly note: string;
}

/** Number of pictures that the sources of these hits may bring, to keep room for them. */
export function expectedPictures(model: ChatModel, { pictures }: ResolvedAnswerOptions, hits: readonly Hit[]): number {
  if (!pictures || !model.seesPictures) return 0;
  const hashes = hits.flatMap((hit) => originsOf(hit).map(({ sha256 }) => sha256));
  return Math.min(maxPictures, new Set(hashes).size);
}

/** The stored pictures that the first sources describe, each once; one that is not stored any more is left out. */
export async function sourcePictures(
  model: ChatModel,
  { pictures: read }: ResolvedAnswerOptions,
  sources: readonly Passage[],
): Promise<SourcePictures> {
  const found = new Map<string, { readonly address: string; readonly source: number }>();
  if (read && model.seesPictures) {
    for (const [index, { hits }] of sources.entries()) {
      for (const origin of hits.flatMap(originsOf)) {
        if (found.size === maxPictures) break;
        if (found.has(origin.sha256) || !takenTypes.has(origin.mediaType)) continue;
        const bytes = await read(origin);
        if (!bytes) continue;
        const address = `data:${origin.mediaType};base64,${Buffer.from(bytes).toString("base64")}`;
        found.set(origin.sha256, { address, source: index + 1 });
      }
    }
  }
  const shown = [...found.values()];
  return {
    pictures: shown.map(({ address }) => address),
    note: shown.length === 0 ? "" : `\n\n${noteOf(shown.map(({ source }) => `[${source}]`))}`,
  };
}

function noteOf(sources: readonly string[]): string {
  if (sources.length === 1) return `The last picture is the one that source ${sources[0]} describes.`;
  return `The last ${sources.length} pictures are those that the sources ${sources.join(", ")} describe, in this order.`;
}

/** The pictures that words of a hit describe. */
function originsOf({ picture, anchors = [] }: Hit): readonly PictureOrigin[] {
  return [...(picture ? [picture] : []), ...anchors.flatMap((anchor) => anchor.picture || [])];
}
