import type { Embedder, Store } from "../core/ports.js";
import { OptionsError } from "../core/errors.js";
import { openStore } from "./open-store.js";
import type { StoreOptions } from "./store-options.js";

/** Whether a store's place is the address of a database, and not a folder. */
export function isDatabaseAddress(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/** The addresses in a place: that of the first server, and those of the others that a store is spread over, behind commas. */
export function databaseAddresses(place: string): readonly [first: string, ...shards: string[]] {
  const [first = place, ...shards] = place.split(/,(?=postgres(?:ql)?:\/\/)/);
  return [first, ...shards];
}

/** Opens the store at a place: the folder, or the PostgreSQL databases, whose program is loaded only then. */
export async function openStoreAt<const Space extends string>(
  place: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  {
    metadata,
    latent,
    ...options
  }: Pick<StoreOptions, "create" | "requireScope" | "metadata" | "onWarning" | "latent"> = {},
): Promise<Store<Space>> {
  const given = { ...options, ...(metadata && { metadata }) };
  if (!isDatabaseAddress(place)) return openStore(place, embedder, { ...given, ...(latent && { latent }) });
  if (latent === true) throw new OptionsError("options", "A store in PostgreSQL has no latent model: leave out latent");
  const { openPostgresStore } = await import("./postgres/open-postgres-store.js");
  const [url, ...shards] = databaseAddresses(place);
  return openPostgresStore(url, embedder, { ...given, shards });
}
