import { z } from "zod";
import type { Store } from "../ports.js";
import { ChunkOptions } from "./chunk.js";

/** Of how documents are cut, what a store keeps: what somebody named. */
export const ChunkSettings = z.object({
  maxTokens: z.int().min(16).optional(),
  overlapTokens: z.int().min(0).optional(),
  parentTokens: z.int().min(0).optional(),
  strategy: ChunkOptions.shape.strategy.unwrap().optional(),
});
export type ChunkSettings = z.output<typeof ChunkSettings>;

/** What a store keeps of how it was filled, so that the next run goes on in the same way. */
const KeptSettings = z.object({
  chunk: ChunkSettings.default({}).catch({}),
  /** Most texts in one embedding request, where the service was seen to take fewer than it was asked to. */
  batchTexts: z.int().min(1).optional().catch(undefined),
});
export type KeptSettings = z.output<typeof KeptSettings>;

export function keptSettings({ settings = {} }: Pick<Store, "settings">): KeptSettings {
  return KeptSettings.parse(settings);
}

/**
 * How documents are cut: as the caller says, else as before. A size from before gives way to a model that takes less; one
 * that the caller names does not.
 */
export function chosenChunkSettings(
  given: Omit<ChunkOptions, "for">,
  { chunk }: KeptSettings,
  maxInputTokens: number,
): ChunkSettings {
  const before = { ...chunk, ...(chunk.maxTokens && { maxTokens: Math.min(chunk.maxTokens, maxInputTokens) }) };
  const named = Object.entries(given).filter(([name, value]) => name in ChunkSettings.shape && value !== undefined);
  return { ...before, ...Object.fromEntries(named) };
}

/** A store as a run fills it: its first write keeps the settings, and each document says how it was cut where that is to be known. */
export function keepingSettings<Space extends string>(
  store: Pick<Store<Space>, "space" | "dimension" | "settings" | "write" | "documentInfo">,
  chunk: ChunkSettings,
): Pick<Store<Space>, "space" | "dimension" | "write" | "documentInfo"> {
  const cutBy = costlyCut(chunk);
  let kept = inOrder(chunk) === inOrder(keptSettings(store).chunk);
  return {
    space: store.space,
    dimension: store.dimension,
    documentInfo: (uri) => store.documentInfo(uri),
    write: async ({ documents = [], ...write }) => {
      const cut = cutBy === undefined ? documents : documents.map((each) => ({ ...each, cutBy }));
      const settings = kept ? {} : { settings: { chunk: { ...chunk } } };
      kept = true;
      return store.write({ ...write, ...settings, documents: cut });
    },
  };
}

/** Names how documents were cut, where it costs something to cut them again. */
export function costlyCut(settings: ChunkSettings): string | undefined {
  return settings.strategy === "semantic" ? inOrder(settings) : undefined;
}

function inOrder(settings: ChunkSettings): string {
  return JSON.stringify(Object.entries(settings).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
