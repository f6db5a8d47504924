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
import { StoreError } from "../../core/errors.js";
import { readChecksummed, withChecksum } from "./checksummed-json.js";
import { databasePathIn } from "./store-folder.js";

/**
 * Which of the stores in a folder is in use, by the name of its generation. A store begins in the folder itself (`.`). Each
 * migration creates a generation: another store in a folder below.
 */
export interface StorePointer {
  /** The generation in use. */
  readonly current: string;
  /** The generation that was in use before, to go back to. */
  readonly previous?: string | undefined;
  /** The generation that an unfinished migration is building. */
  readonly building?: string | undefined;
}

const fileName = "current.json";

/**
 * Reads which store in a folder is in use. A folder that was never migrated has no pointer: its store lies in it.
 *
 * @throws StoreError `damaged` when the pointer was changed, is missing, or names a store that is missing. Guessing could
 * open an old store, or an empty one.
 */
export function readPointer(folder: string): StorePointer {
  const path = join(folder, fileName);
  const stores = generationsIn(folder);
  if (!existsSync(path)) {
    if (stores.length === 0) return { current: "." };
    throw damaged(path, `${path} is missing, so it is unknown which store in ${folder} is in use`, stores);
  }
  const text = readFileSync(path, "utf8");
  let pointer: StorePointer;
  try {
    pointer = parsePointer(text);
  } catch (cause) {
    const problem = `${path} does not say which store in ${folder} is in use, as this version of citewell writes it`;
    throw damaged(path, problem, stores, cause);
  }
  if (!existsSync(databasePathIn(generationFolder(folder, pointer.current)))) {
    throw damaged(path, `${path} says that ${pointer.current} is in use, but there is no store`, stores);
  }
  return pointer;
}

/** A pointer without a checksum is accepted: people write one by hand when `damaged` tells them to. */
function parsePointer(text: string): StorePointer {
  const parsed: unknown = JSON.parse(text);
  const byHand = typeof parsed === "object" && parsed !== null && !("checksum" in parsed);
  // Parse by hand: the writer's thread starts sooner without a schema library.
  const { format, ...pointer } = (byHand ? parsed : readChecksummed(text)) as Readonly<Record<string, unknown>>;
  const named = Object.entries({ current: undefined, ...pointer });
  if (format !== 1 || !named.every(([role, name]) => isRole(role) && isName(name)))
    throw new Error("it has other fields");
  return pointer as unknown as StorePointer;
}

const isRole = (role: string): boolean => ["current", "previous", "building"].includes(role);
const isName = (name: unknown): boolean => typeof name === "string" && /^(\.|generation-\d+)$/.test(name);

function damaged(path: string, problem: string, stores: readonly string[], cause?: unknown): StoreError {
  const choice = stores.length === 0 ? "" : `, write {"format":1,"current":"NAME"} into it with ${stores.join(" or ")}`;
  const hint = `Restore it from a backup, update citewell${choice}, or delete it with the generation folders beside it and index again`;
  return new StoreError("damaged", `${problem}. ${hint}`, { path, ...(cause !== undefined && { cause }) });
}

/** The stores that migrations created in a folder. */
function generationsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter(
    (name) => /^generation-\d+$/.test(name) && existsSync(databasePathIn(generationFolder(folder, name))),
  );
}

/** Replaces the pointer by a rename, so that an opener and a crash see the old pointer or the new one. */
export function writePointer(folder: string, pointer: StorePointer): void {
  const temporary = join(folder, `${fileName}.tmp`);
  writeFileSync(temporary, withChecksum({ format: 1, ...pointer }), { flush: true });
  renameSync(temporary, join(folder, fileName));
  flushFolder(folder);
}

export function generationFolder(folder: string, name: string): string {
  return join(folder, name);
}

/** A name that no generation in the folder has. */
export function newGeneration(folder: string): string {
  const numbers = readdirSync(folder).map((name) => Number(/^generation-(\d+)$/.exec(name)?.[1] ?? 0));
  return `generation-${Math.max(0, ...numbers) + 1}`;
}

/** Deletes the stores that the pointer does not name. Other files in the folder are not ours and stay. */
export function removeOtherGenerations(folder: string, { current, previous, building }: StorePointer): void {
  const named = new Set([current, previous, building]);
  for (const name of readdirSync(folder)) {
    const isOldGeneration = /^generation-\d+$/.test(name) && !named.has(name);
    if (isOldGeneration || (!named.has(".") && isStoreFile(name))) {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** Whether a file belongs to a store that lies in the folder itself. */
function isStoreFile(name: string): boolean {
  return /^(store\.sqlite(-wal|-shm)?|writer\.lock|(lexical|graph|flat|latent)(\.json|-[\w-]+\.(bin|tmp)))$/.test(name);
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
