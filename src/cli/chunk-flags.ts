import { type Command, Option } from "commander";
import type { ChunkSettings } from "../stages/kept-settings.js";
import { between } from "./number-option.js";

/** Flags that say how documents are cut. */
export interface ChunkFlags {
  readonly strategy?: NonNullable<ChunkSettings["strategy"]>;
  readonly chunkTokens?: number;
  readonly overlapTokens?: number;
  readonly parentTokens?: number;
}

/** @param size the flag of a chunk's size: where `--max-tokens` is a budget it has another name. */
export function withChunking(command: Command, size: "--max-tokens" | "--chunk-tokens" = "--chunk-tokens"): Command {
  return command
    .addOption(
      new Option("--strategy <name>", "where chunks end; semantic embeds each sentence for it").choices([
        "structure",
        "fixed",
        "sentence-window",
        "semantic",
      ]),
    )
    .option(`${size} <count>`, "longest chunk, in tokens (default: 384)", between(16, 8192))
    .option("--overlap-tokens <count>", "tokens repeated where a block had to be cut (default: 32)", between(0, 4096))
    .option(
      "--parent-tokens <count>",
      "most that is read around a chunk (default: 1024; 0: nothing)",
      between(0, 65_536),
    );
}

/** What the flags say, and nothing of what they do not. */
export function chunkSettingsOf({ strategy, chunkTokens, overlapTokens, parentTokens }: ChunkFlags): ChunkSettings {
  return {
    ...(strategy !== undefined && { strategy }),
    ...(chunkTokens !== undefined && { maxTokens: chunkTokens }),
    ...(overlapTokens !== undefined && { overlapTokens }),
    ...(parentTokens !== undefined && { parentTokens }),
  };
}
