import { StoreError } from "../../core/errors.js";
import type { Store } from "../../core/ports.js";
import { openStore } from "../../store/open-store.js";
import { storedSpace } from "../../store/stored-space.js";
import { type CommandIo, explainSlowClose, storePath } from "../command-context.js";

/**
 * Opens the store in a folder or at a `postgres://` address for the vector space that it has, without its model, and closes
 * it after `use`.
 *
 * @param space makes a store of this space where there is none. Default: there must be one.
 */
export async function withStoreAt<Result>(
  io: CommandIo,
  place: string,
  space: string | undefined,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await (/^postgres(ql)?:\/\//.test(place) ? openDatabase(place, space) : openFolder(io, place, space));
  try {
    return await use(store);
  } finally {
    await explainSlowClose(io, () => store.close({ signal: io.signal }));
  }
}

async function openFolder(io: CommandIo, place: string, wanted: string | undefined): Promise<Store> {
  const path = storePath(io, { store: place });
  const space = wanted ?? storedSpace(path) ?? refuseEmpty(path);
  const onWarning = (message: string) => io.stderr.write(`citewell: ${message}\n`);
  return openStore(path, { space }, { create: wanted !== undefined, onWarning });
}

async function openDatabase(url: string, wanted: string | undefined): Promise<Store> {
  const { openPostgresStore, storedPostgresSpace } = await import("../../store/postgres/open-postgres-store.js");
  const space = wanted ?? (await storedPostgresSpace(url)) ?? refuseEmpty(new URL(url).host);
  return openPostgresStore(url, { space }, { create: wanted !== undefined });
}

function refuseEmpty(place: string): never {
  throw new StoreError("missing", `The store at ${place} is empty. Run \`citewell index <folder>\` first`, {
    path: place,
  });
}
