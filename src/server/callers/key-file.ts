import { open, readFile, rename, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { OptionsError, systemMessage } from "../../core/errors.js";
import { type KeyBook, type KeyRecord, recordsOf } from "./key.js";

/** Time that a command waits for another one that changes the keys. */
const maxWaitMs = 5000;

/**
 * Keys in a JSON file, which holds no key but digests that recognise them. It is replaced as a whole, so that a server reads
 * the keys of before or of after a change, and a file that is not there holds no keys.
 *
 * @param path of the file; its folder exists.
 * @throws OptionsError (`config`) from `list` and `change` when the file was altered so that it cannot be read.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { createServer, keyFile, makeKey } from "citewell/server";
 * const keys = keyFile("./.citewell/keys.json");
 * const { key } = await makeKey(keys, { name: "Ada's notebook", role: "ask" });
 * const server = await createServer(await openKnowledgeBase({ path: "./.citewell" }), { keys });
 * ```
 */
export function keyFile(path: string): KeyBook {
  const list = () => readKeys(path);
  return {
    list,
    async change(change) {
      // The new file is the lock: who creates it changes the keys.
      const next = `${path}.new`;
      const file = await createWithin(next, maxWaitMs);
      try {
        await file.writeFile(`${JSON.stringify({ keys: change(await list()) }, undefined, 2)}\n`);
        await file.sync();
        await rename(next, path);
      } catch (error) {
        await rm(next, { force: true });
        throw error;
      } finally {
        await file.close();
      }
    },
  };
}

async function readKeys(path: string): Promise<readonly KeyRecord[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new OptionsError("config", `Cannot read the keys in ${path}: ${systemMessage(cause as Error)}`, { cause });
  }
  return recordsOf(path, () => (JSON.parse(text) as { readonly keys: unknown }).keys);
}

async function createWithin(path: string, ms: number) {
  for (const untilMs = Date.now() + ms; ;) {
    try {
      return await open(path, "wx", 0o600);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const isTaken = code === "EEXIST";
      if (!isTaken) {
        throw new OptionsError("config", `Cannot write the keys: ${systemMessage(cause as Error)}`, { cause });
      }
      if (Date.now() > untilMs) {
        throw new OptionsError("config", `Another program is changing the keys. If none is, delete ${path}`, { cause });
      }
    }
    await sleep(50);
  }
}
