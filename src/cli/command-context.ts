import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { OptionsError } from "../errors.js";
import type { KnowledgeBase } from "../knowledge-base-options.js";
import { openKnowledgeBase } from "../knowledge-base.js";
import { createTransport, type Transport } from "../transport/transport.js";
import { type ChunkFlags, chunkSettingsOf } from "./chunk-flags.js";
import { proxySettings } from "./proxy-settings.js";
import { sayWhenSlow } from "./slow-end.js";
import { readConfiguration, type Configuration } from "./configuration.js";

/** What a command sees of the world. Given in, so that tests can run commands in their own. */
export interface World {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WritableStream & Partial<Pick<NodeJS.WriteStream, "isTTY" | "columns">>;
  readonly stderr: Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Current folder. */
  readonly directory: string;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Flags that every command with a store takes. */
export interface StoreFlags extends Omit<Configuration, "chunk">, ChunkFlags {
  readonly config?: string;
  readonly json?: boolean;
}

/** What flags, variables and configuration file say. */
export function settingsOf(world: World, flags: StoreFlags): Configuration {
  const { config, baseUrl, apiKey, embeddingModel, rerankModel, chatModel, price, store, rows } = flags;
  const settings = readConfiguration({
    flags: { config, baseUrl, apiKey, embeddingModel, rerankModel, chatModel, price, store, rows },
    environment: world.environment,
    directory: world.directory,
  });
  return { ...settings, chunk: { ...settings.chunk, ...chunkSettingsOf(flags) } };
}

/**
 * Folder of the store that the settings mean.
 *
 * @throws OptionsError when there can be none, because a file is in its way.
 */
export function storePath({ directory }: Pick<World, "directory">, { store = ".citewell" }: Configuration): string {
  const path = resolve(directory, store);
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (statSync(at, { throwIfNoEntry: false })?.isFile()) {
      throw new OptionsError(
        "options",
        `There can be no store at ${path}: ${at} is a file. Name a folder with --store`,
      );
    }
  }
  return path;
}

/** To the service that the settings name, if they name one. To be closed by the caller. */
export function configuredTransport(
  { baseUrl, apiKey }: Configuration,
  environment: World["environment"],
): Transport | undefined {
  if (baseUrl === undefined) return undefined;
  return createTransport({ baseUrl, ...(apiKey !== undefined && { apiKey }), ...proxySettings(baseUrl, environment) });
}

/** Opens the store and the upstream that flags, variables and configuration file name; closes both when `use` is done. */
export async function withKnowledgeBase<T>(
  world: World,
  flags: StoreFlags,
  create: boolean,
  use: (kb: KnowledgeBase, settings: Configuration) => Promise<T>,
): Promise<T> {
  const settings = settingsOf(world, flags);
  const transport = configuredTransport(settings, world.environment);
  const kb = await openKnowledgeBase({
    path: storePath(world, settings),
    create,
    transport,
    chunk: settings.chunk,
    models: { embedding: settings.embeddingModel, rerank: settings.rerankModel, chat: settings.chatModel },
    onWarning: (message) => world.stderr.write(`citewell: ${message}\n`),
  });
  try {
    return await use(kb, settings);
  } finally {
    await sayWhenSlow(world, () => kb.close({ signal: world.signal }));
    await transport?.close();
  }
}
