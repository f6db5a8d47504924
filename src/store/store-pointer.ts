import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { StoreError } from "../errors.js";

// The folder itself, where every store begins, or a folder in it that a migration made.
const Name = z.string().regex(/^(\.|generation-\d+)$/);

const Pointer = z.object({
  format: z.literal(1),
  /** The one that serves. */
  current: Name,
  /** The one that served before, to go back to. */
  previous: Name.optional(),
  /** The one that a migration is making, or was when it ended. */
  building: Name.optional(),
});

/** Which of the stores in a folder is meant, by the folder they lie in. */
export type StorePointer = Omit<z.output<typeof Pointer>, "format">;

const fileName = "current.json";

/**
 * A folder that was never migrated has no pointer: its store lies in it.
 *
 * @throws StoreError `damaged`, `version` for a pointer of a later version.
 */
export function readPointer(folder: string): StorePointer {
  const path = join(folder, fileName);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { current: "." };
    throw error;
  }
  try {
    const { format: _, ...pointer } = Pointer.parse(JSON.parse(text));
    return pointer;
  } catch (cause) {
    throw new StoreError(
      "damaged",
      `${path} does not say which store in ${folder} is in use, as this version of citewell writes it. Restore it from a backup, or update citewell`,
      { cause, path },
    );
  }
}

/** Takes the place of the old one in one step: whoever opens the store finds the old one or the new one. */
export function writePointer(folder: string, pointer: StorePointer): void {
  const temporary = join(folder, `${fileName}.tmp`);
  writeFileSync(temporary, `${JSON.stringify({ format: 1, ...pointer }, undefined, 2)}\n`, { flush: true });
  renameSync(temporary, join(folder, fileName));
  flushFolder(folder);
}

/** Where the files of a store lie. */
export function generationFolder(folder: string, name: string): string {
  return join(folder, name);
}

/** A name that no store in the folder has. */
export function newGeneration(folder: string): string {
  const numbers = readdirSync(folder).map((name) => Number(/^generation-(\d+)$/.exec(name)?.[1] ?? 0));
  return `generation-${Math.max(0, ...numbers) + 1}`;
}

/** Deletes the stores that the pointer does not name. What lies beside them in the folder is not theirs and stays. */
export function removeOtherGenerations(folder: string, { current, previous, building }: StorePointer): void {
  const named = new Set([current, previous, building]);
  for (const name of readdirSync(folder)) {
    const ofMigration = /^generation-\d+$/.test(name) && !named.has(name);
    if (ofMigration || (!named.has(".") && isOfStore(name)))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** The files of a store that lies in the folder itself. */
function isOfStore(name: string): boolean {
  return /^(store\.sqlite(-wal|-shm)?|writer\.lock|(lexical|graph)(\.json|-[\w-]+\.(bin|tmp)))$/.test(name);
}

function flushFolder(folder: string): void {
  try {
    const handle = openSync(folder, "r");
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch {
    // Windows cannot flush a folder.
  }
}
