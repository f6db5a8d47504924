import { StoreError } from "../../core/errors.js";
import type { Store } from "../../core/ports.js";
import { openStoreAt } from "../../store/open-store-at.js";
import { isDatabaseAddress } from "../../store/store-address.js";
import type { PostgresStoreOptions } from "../../store/postgres/options.js";
import { storedSpace } from "../../store/stored-space.js";
import { type CommandIo, explainSlowClose, storePath } from "../command-context.js";

/**
 * Opens the store in a folder or at `postgres://` addresses for the vector space that it has, without its model, and closes
 * it after `use`.
 *
 * @param space makes a store of this space where there is none. Default: there must be one.
 */
export async function withStoreAt<Result>(
  io: CommandIo,
  place: string,
  space: string | undefined,
  use: (store: Store) => Promise<Result>,
  options: Pick<PostgresStoreOptions, "distributed" | "formerShard"> = {},
): Promise<Result> {
  const path = storePath(io, { store: place });
  const found = space ?? (await spaceAt(path, options.formerShard)) ?? refuseEmpty(path);
  const onWarning = (message: string) => io.stderr.write(`citewell: ${message}\n`);
  const store = await openStoreAt(path, { space: found }, { create: space !== undefined, onWarning, ...options });
  try {
    return await use(store);
  } finally {
    await explainSlowClose(io, () => store.close({ signal: io.signal }));
  }
}

async function spaceAt(path: string, formerShard = false): Promise<string | undefined> {
  if (!isDatabaseAddress(path)) return storedSpace(path);
  const { storedPostgresSpace } = await import("../../store/postgres/open-postgres-store.js");
  return storedPostgresSpace(path, { formerShard });
}

function refuseEmpty(place: string): never {
  const shown = isDatabaseAddress(place) ? new URL(place).host : place;
  throw new StoreError("missing", `The store at ${shown} is empty. Run \`citewell index <folder>\` first`, {
    path: shown,
  });
}
