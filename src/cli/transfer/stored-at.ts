import { StoreError } from "../../core/errors.js";
import type { Store } from "../../core/ports.js";
import { openStore } from "../../store/open-store.js";
import { storedSpace } from "../../store/stored-space.js";
import { type CommandIo, explainSlowClose, storePath } from "../command-context.js";

/**
 * Opens the store in a folder for the vector space that it has, without its model, and closes it after `use`.
 *
 * @param space makes a store of this space where there is none. Default: there must be one.
 */
export async function withStoreAt<Result>(
  io: CommandIo,
  place: string,
  space: string | undefined,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const path = storePath(io, { store: place });
  const found = space ?? storedSpace(path);
  if (found === undefined) {
    throw new StoreError("missing", `The store at ${path} is empty. Run \`citewell index <folder>\` first`, { path });
  }
  const onWarning = (message: string) => io.stderr.write(`citewell: ${message}\n`);
  const store = await openStore(path, { space: found }, { create: space !== undefined, onWarning });
  try {
    return await use(store);
  } finally {
    await explainSlowClose(io, () => store.close({ signal: io.signal }));
  }
}
