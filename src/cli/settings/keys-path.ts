import { join, resolve } from "node:path";
import { isDatabaseAddress } from "../../store/store-address.js";
import { type CommandIo, readSettings, type StoreFlags, storePath } from "../command-context.js";

/** Folder of what a server keeps beside the documents: that of the store, or the default one for a store in a database. */
export function serverFolder(io: CommandIo, flags: StoreFlags): string {
  const place = storePath(io, readSettings(io, flags));
  return isDatabaseAddress(place) ? storePath(io, {}) : place;
}

/** File of the keys of callers. */
export function keysPath(io: CommandIo, { keysFile, ...flags }: StoreFlags & { readonly keysFile?: string }): string {
  return keysFile === undefined ? join(serverFolder(io, flags), "keys.json") : resolve(io.directory, keysFile);
}
