import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { StoreError } from "../errors.js";
import { sealed, unsealed } from "./sealed-json.js";
import { databasePathIn } from "./store-folder.js";

// The folder itself, where every store begins, or a folder in it that a migration made.
const Name = z.string().regex(/^(\.|generation-\d+)$/);

const Pointer = z.strictObject({
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
 * Which store in a folder is in use. One that was never migrated has no pointer: its store lies in it.
 *
 * @throws StoreError `damaged` when the pointer is not what was written, is missing, or names a store that is: what is
 * guessed at may be an old store, or an empty one.
 */
export function readPointer(folder: string): StorePointer {
  const path = join(folder, fileName);
  const stores = migrated(folder);
  if (!existsSync(path)) {
    if (stores.length === 0) return { current: "." };
    throw damaged(path, `${path} is missing, which says which store in ${folder} is in use`, stores);
  }
  let pointer: StorePointer;
  try {
    pointer = pointerIn(readFileSync(path, "utf8"));
  } catch (cause) {
    throw damaged(
      path,
      `${path} does not say which store in ${folder} is in use, as this version of citewell writes it`,
      stores,
      cause,
    );
  }
  if (!existsSync(databasePathIn(generationFolder(folder, pointer.current)))) {
    throw damaged(path, `${path} says that ${pointer.current} is in use, and there is no store`, stores);
  }
  return pointer;
}

/** @throws Error when it is not whole. One without a checksum was written by hand, as the message of a damaged one says. */
function pointerIn(text: string): StorePointer {
  const parsed: unknown = JSON.parse(text);
  const byHand = typeof parsed === "object" && parsed !== null && !("checksum" in parsed);
  const { format: _, ...pointer } = Pointer.parse(byHand ? parsed : unsealed(text));
  return pointer;
}

function damaged(path: string, problem: string, stores: readonly string[], cause?: unknown): StoreError {
  const choice = stores.length === 0 ? "" : `, write {"format":1,"current":"NAME"} into it with ${stores.join(" or ")}`;
  const wayOut = `Restore it from a backup, update citewell${choice}, or delete it with the generation folders beside it and index again`;
  return new StoreError("damaged", `${problem}. ${wayOut}`, {
    path,
    ...(cause !== undefined && { cause }),
  });
}

/** Stores that migrations made in a folder. */
function migrated(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter(
    (name) => /^generation-\d+$/.test(name) && existsSync(databasePathIn(generationFolder(folder, name))),
  );
}

/** Takes the place of the old one in one step: whoever opens the store finds the old one or the new one. */
export function writePointer(folder: string, pointer: StorePointer): void {
  const temporary = join(folder, `${fileName}.tmp`);
  writeFileSync(temporary, sealed({ format: 1, ...pointer }), { flush: true });
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
