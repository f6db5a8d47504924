import type { Embedder, Store } from "../core/ports.js";
import { OptionsError } from "../core/errors.js";
import { isDatabaseAddress } from "./store-address.js";
import { openStore } from "./open-store.js";
import type { PostgresStoreOptions } from "./postgres/options.js";
import type { StoreOptions } from "./store-options.js";

/** Opens the store at a place: the folder, or the PostgreSQL database, whose program is loaded only then. */
export async function openStoreAt<const Space extends string>(
  place: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  {
    metadata,
    latent,
    ...options
  }: Pick<StoreOptions, "create" | "requireScope" | "metadata" | "onWarning" | "latent"> &
    Pick<PostgresStoreOptions, "distributed" | "formerShard"> = {},
): Promise<Store<Space>> {
  const { distributed, formerShard, ...shared } = options;
  const given = { ...shared, ...(metadata && { metadata }) };
  if (!isDatabaseAddress(place)) {
    if (distributed)
      throw new OptionsError("options", "A store in a folder cannot be distributed: leave out distributed");
    return openStore(place, embedder, { ...given, ...(latent && { latent }) });
  }
  if (latent === true) throw new OptionsError("options", "A store in PostgreSQL has no latent model: leave out latent");
  const { openPostgresStore } = await import("./postgres/open-postgres-store.js");
  const ofPostgres = { ...(distributed && { distributed }), ...(formerShard && { formerShard }) };
  return openPostgresStore(place, embedder, { ...given, ...ofPostgres });
}
