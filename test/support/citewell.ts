import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNode, type Finished, type RunProcessOptions } from "./run-process.js";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const handbook = join(root, "test/fixtures/handbook");
export const commandFile = join(root, "dist/bin/citewell.js");

/** Runs the command as a person would, in a process of its own. */
export function citewell(words: readonly string[], options: RunProcessOptions = {}): Promise<Finished> {
  return runNode(commandFile, words, options);
}

/** Runs the command with `--json` and reads its one object. */
export async function citewellJson<T>(words: readonly string[], options: RunProcessOptions = {}): Promise<T> {
  return oneObject(await citewell([...words, "--json"], options)) as T;
}

/** The one object that a command with `--json` prints. */
export function oneObject({ exitCode, stdout, stderr }: Finished): unknown {
  if (stdout.trim().split("\n").length !== 1)
    throw new Error(`not one line of JSON (exit ${exitCode}): ${stdout}${stderr}`);
  return JSON.parse(stdout);
}

export interface IndexJson {
  readonly documents: Record<"added" | "updated" | "unchanged" | "deleted" | "failed", number>;
  readonly chunks: Record<"total" | "embedded" | "reused" | "deleted", number>;
  readonly tokens: number;
  readonly requests: number;
  readonly failures: readonly { readonly uri: string; readonly error: string }[];
}

export interface SearchJson {
  readonly hits: readonly {
    readonly chunkId: string;
    readonly uri: string;
    readonly start: number;
    readonly end: number;
    readonly score: number;
    readonly text: string;
  }[];
}

export interface AskJson {
  readonly answer: string;
  readonly answered: boolean;
  readonly citations: readonly {
    readonly number: number;
    readonly uri: string;
    readonly start: number;
    readonly end: number;
    readonly quote: string;
    readonly line?: number;
    readonly supported: boolean;
  }[];
  readonly hits: SearchJson["hits"];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}
