import { isDatabaseAddress } from "../store/store-address.js";
import { OptionsError } from "../core/errors.js";
import type { CallerKeyTable } from "../store/postgres/caller-keys.js";

/** Opens the keys of callers beside the documents of a store, whose program is loaded only then. */
export async function callerKeysAt(place: string, schema: string | undefined): Promise<CallerKeyTable> {
  if (!isDatabaseAddress(place)) {
    // The place may be an address with a password, and is not shown.
    const message =
      "storeKeys takes the address of a store in a database, postgres://user@host/name. Keys of a store in a folder are in a file: keyFile()";
    throw new OptionsError("options", message, { call: "storeKeys" });
  }
  const { openCallerKeys } = await import("../store/postgres/caller-keys.js");
  return openCallerKeys(place, schema);
}
