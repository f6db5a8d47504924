import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { keyFile } from "../../server/callers/key-file.js";
import { type StoreKeys, storeKeys } from "../../server/callers/store-keys.js";
import { isDatabaseAddress } from "../../store/store-address.js";
import { type CommandIo, readSettings, type StoreFlags, storePath } from "../command-context.js";

/** Folder of what a server keeps beside the documents: that of the store, or the default one for a store in a database. */
export function serverFolder(io: CommandIo, flags: StoreFlags): string {
  const place = storePath(io, readSettings(io, flags));
  return isDatabaseAddress(place) ? storePath(io, {}) : place;
}

interface KeyFlags extends StoreFlags {
  readonly keysFile?: string;
}

/** Where the keys of callers are: a file, or a table of a store in a database. The caller closes it. */
export async function openKeys(io: CommandIo, flags: KeyFlags): Promise<StoreKeys> {
  const { keysFile, ...store } = flags;
  if (keysFile === undefined) {
    const place = storePath(io, readSettings(io, store));
    if (isDatabaseAddress(place)) return storeKeys(place);
  }
  const path = keysFile === undefined ? join(serverFolder(io, store), "keys.json") : resolve(io.directory, keysFile);
  const { list, change } = keyFile(path);
  return {
    list,
    change: async (how) => {
      await mkdir(dirname(path), { recursive: true });
      await change(how);
    },
    close: async () => {},
  };
}

/** Does something with the keys, and closes them. */
export async function withKeys<Result>(
  io: CommandIo,
  flags: KeyFlags,
  work: (keys: StoreKeys) => Promise<Result>,
): Promise<Result> {
  const keys = await openKeys(io, flags);
  try {
    return await work(keys);
  } finally {
    await keys.close();
  }
}
