import { z } from "zod";
import { optionsOf } from "../../core/options.js";
import type { Embedder, Store, StoreWrite, TokenCounter } from "../../core/ports.js";
import { chunkLimit, chunkOptions, type ChunkOptions, type ChunkTarget } from "../../stages/indexing/chunk.js";
import { version } from "../../core/version.js";

/** Chunk settings that a store keeps; only those that a caller gave. */
export const ChunkSettings = z.object({
  maxTokens: z.int().min(16).optional(),
  overlapTokens: z.int().min(0).optional(),
  parentTokens: z.int().min(0).optional(),
  contextLine: z.boolean().optional(),
  strategy: chunkOptions.shape.strategy.unwrap().optional(),
});
export type ChunkSettings = z.output<typeof ChunkSettings>;

/** Chunk options that the caller gives. Omitted ones keep their stored values, so the schema fills in no defaults. */
export type GivenChunkOptions = Omit<ChunkOptions, "for" | "payments">;

export const givenChunkOptions = optionsOf<GivenChunkOptions>()({
  ...ChunkSettings.shape,
  embedder: chunkOptions.shape.embedder,
});

/** Settings that a store keeps of the run that filled it, so that the next run continues in the same way. */
const KeptSettings = z.object({
  chunk: ChunkSettings.default({}).catch({}),
  /** Maximum number of texts in one embedding request, if the service turned out to accept fewer than it was sent. */
  batchTexts: z.int().min(1).optional().catch(undefined),
});
export type KeptSettings = z.output<typeof KeptSettings>;

export function keptSettings({ settings = {} }: Pick<Store, "settings">): KeptSettings {
  return KeptSettings.parse(settings);
}

/**
 * Combines the caller's chunk settings with the stored ones. A stored size is lowered for a model that takes less; one
 * that the caller gives is not.
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
 * Names how documents are cut now: a document that was cut under the same name need not be cut again.
 *
 * @param comparing compares sentences for `semantic`.
 */
export function cutName(settings: ChunkSettings, target: ChunkTarget, comparing: Pick<Embedder, "space">): string {
  // Cutting by meaning costs money: another version, or a limit that was learned since, is no reason to do it again.
  const by =
    settings.strategy === "semantic"
      ? comparing.space
      : `${version} ${target.tokens.name} ${chunkLimit(settings.maxTokens, target)}`;
  return `${by} ${inOrder(settings)}`;
}

function inOrder(settings: ChunkSettings): string {
  return JSON.stringify(Object.entries(settings).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Settings that one run learns about its service and leaves in the store for the next; chunks are cut for them. */
export class LearnedSettings implements ChunkTarget {
  readonly maxInputTokens: number;
  readonly tokens: TokenCounter;
  readonly #store: Pick<Store, "settings" | "tokenMargin">;
  readonly #embedder: Pick<Embedder, "tokenMargin" | "maxBatchTexts">;
  readonly #chunk: ChunkSettings;
  /** Maximum number of texts in one request, as far as is known. */
  batchTexts: number | undefined;
  /** Tokens that the service counts for one of ours: the most that this run or an earlier one has seen. */
  tokenMargin = 1;

  constructor(
    store: Pick<Store, "settings" | "tokenMargin">,
    embedder: Pick<Embedder, "tokenMargin" | "maxBatchTexts" | "maxInputTokens" | "tokens">,
    chunk: ChunkSettings,
  ) {
    this.maxInputTokens = embedder.maxInputTokens;
    this.tokens = embedder.tokens;
    this.#store = store;
    this.#embedder = embedder;
    this.#chunk = chunk;
    this.batchTexts = keptSettings(store).batchTexts;
    this.noteReply();
  }

  /** Called after a reply of the embedder, which may have raised its margin. */
  noteReply(): void {
    this.tokenMargin = Math.max(this.#store.tokenMargin ?? 1, this.#embedder.tokenMargin ?? 1);
  }

  readonly noteBatchTexts = (count: number): void => {
    this.batchTexts = count < this.#embedder.maxBatchTexts ? count : undefined;
  };

  /** Settings that the store does not hold yet. */
  unsaved(): Pick<StoreWrite, "settings" | "tokenMargin"> {
    const { tokenMargin } = this;
    const known = this.batchTexts === keptSettings(this.#store).batchTexts;
    return {
      ...(tokenMargin > (this.#store.tokenMargin ?? 1) && { tokenMargin }),
      ...(!known && { settings: { batchTexts: this.batchTexts ?? null } }),
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
