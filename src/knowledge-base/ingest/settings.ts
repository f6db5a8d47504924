import { z } from "zod";
import { optionsOf } from "../../core/options.js";
import type { Embedder, Store, StoreWrite } from "../../core/ports.js";
import { chunkLimit, chunkOptions, type ChunkOptions, type ChunkTarget } from "../../stages/indexing/chunk.js";
import { version } from "./run-memory.js";

/** The settings of chunks that a store keeps, as far as somebody named them. */
export const ChunkSettings = z.object({
  maxTokens: z.int().min(16).optional(),
  overlapTokens: z.int().min(0).optional(),
  parentTokens: z.int().min(0).optional(),
  strategy: chunkOptions.shape.strategy.unwrap().optional(),
});
export type ChunkSettings = z.output<typeof ChunkSettings>;

/** How documents are cut, as far as the caller says. What is left out stays as it was, so the schema fills in nothing. */
export type GivenChunkOptions = Omit<ChunkOptions, "for">;

export const givenChunkOptions = optionsOf<GivenChunkOptions>()({
  ...ChunkSettings.shape,
  embedder: chunkOptions.shape.embedder,
});

/** What a store keeps of how it was filled, so that the next run goes on in the same way. */
const KeptSettings = z.object({
  chunk: ChunkSettings.default({}).catch({}),
  /** Maximum number of texts in one embedding request, where the service was seen to take fewer than it was asked to. */
  batchTexts: z.int().min(1).optional().catch(undefined),
});
export type KeptSettings = z.output<typeof KeptSettings>;

export function keptSettings({ settings = {} }: Pick<Store, "settings">): KeptSettings {
  return KeptSettings.parse(settings);
}

/**
 * Chunks are made as the caller says, else as before. A size from before gives way to a model that takes less; one that
 * the caller names does not.
 */
export function chosenChunkSettings(
  given: GivenChunkOptions,
  { chunk }: KeptSettings,
  maxInputTokens: number,
): ChunkSettings {
  const before = { ...chunk, ...(chunk.maxTokens && { maxTokens: Math.min(chunk.maxTokens, maxInputTokens) }) };
  const named = Object.entries(given).filter(([name, value]) => name in ChunkSettings.shape && value !== undefined);
  return { ...before, ...Object.fromEntries(named) };
}

/**
 * Names how documents are cut now: what was cut under the same name need not be cut again.
 *
 * @param comparing compares sentences for `semantic`.
 */
export function cutName(settings: ChunkSettings, target: ChunkTarget, comparing: Pick<Embedder, "space">): string {
  // Cutting by meaning costs money: another version, or a limit that was learned meanwhile, is no reason to do it again.
  const by =
    settings.strategy === "semantic"
      ? comparing.space
      : `${version} ${target.tokens.name} ${chunkLimit(settings.maxTokens, target)}`;
  return `${by} ${inOrder(settings)}`;
}

function inOrder(settings: ChunkSettings): string {
  return JSON.stringify(Object.entries(settings).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** What one run learns about its service, and has to leave in the store for the next. */
export class LearnedSettings {
  readonly #store: Pick<Store, "settings" | "tokenMargin">;
  readonly #embedder: Pick<Embedder, "tokenMargin" | "maxBatchTexts">;
  readonly #chunk: ChunkSettings;
  #batchTexts: number | undefined;

  constructor(
    store: Pick<Store, "settings" | "tokenMargin">,
    embedder: Pick<Embedder, "tokenMargin" | "maxBatchTexts">,
    chunk: ChunkSettings,
  ) {
    this.#store = store;
    this.#embedder = embedder;
    this.#chunk = chunk;
    this.#batchTexts = keptSettings(store).batchTexts;
  }

  /** Maximum number of texts in one request, as far as is known. */
  get batchTexts(): number | undefined {
    return this.#batchTexts;
  }

  /** Tokens that the service counts for one of ours: the most that this run or an earlier one has seen. */
  get tokenMargin(): number {
    return Math.max(this.#store.tokenMargin ?? 1, this.#embedder.tokenMargin ?? 1);
  }

  readonly noteBatchTexts = (count: number): void => {
    this.#batchTexts = count < this.#embedder.maxBatchTexts ? count : undefined;
  };

  /** What the store does not hold yet. */
  unsaved(): Pick<StoreWrite, "settings" | "tokenMargin"> {
    const { tokenMargin } = this;
    const known = this.#batchTexts === keptSettings(this.#store).batchTexts;
    return {
      ...(tokenMargin > (this.#store.tokenMargin ?? 1) && { tokenMargin }),
      ...(!known && { settings: { batchTexts: this.#batchTexts ?? null } }),
    };
  }

  /** The same with how chunks were made, which belongs to a store that holds some. */
  unsavedWithChunks(): Pick<StoreWrite, "settings" | "tokenMargin"> {
    const { settings, ...rest } = this.unsaved();
    if (inOrder(this.#chunk) === inOrder(keptSettings(this.#store).chunk))
      return { ...rest, ...(settings && { settings }) };
    return { ...rest, settings: { ...settings, chunk: { ...this.#chunk } } };
  }
}
