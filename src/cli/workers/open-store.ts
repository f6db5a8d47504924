import { OptionsError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import type { Embedder, Store } from "../../core/ports.js";
import { connectModels } from "../../knowledge-base/connect-models.js";
import { openStoreAt } from "../../store/open-store-at.js";
import { isDatabaseAddress } from "../../store/store-address.js";
import {
  configuredTransport,
  distributedOf,
  embeddingModelOf,
  readSettings,
  type CommandIo,
  type StoreFlags,
} from "../command-context.js";
import type { Configuration } from "../settings/configuration.js";

/** Opens the store on PostgreSQL that `--store` names, with the embedding model of the settings, and closes both after `use`. */
export async function withPostgresStore<Result>(
  io: CommandIo,
  flags: StoreFlags,
  create: boolean,
  use: (opened: {
    readonly store: Store;
    readonly embedder: Embedder;
    readonly settings: Configuration;
  }) => Promise<Result>,
): Promise<Result> {
  const settings = readSettings(io, flags);
  const url = settings.store ?? "";
  if (!isDatabaseAddress(url)) {
    const hint = "name its database, as in --store postgres://user@host/name";
    throw new OptionsError("options", `The queue for workers is in a PostgreSQL database: ${hint}`);
  }
  const transport = configuredTransport(io, settings);
  const models = await connectModels({ transport, models: given({ embedding: embeddingModelOf(io, settings) }) });
  try {
    const store = await openStoreAt(url, models.embedder, { create, ...given({ distributed: distributedOf(flags) }) });
    try {
      return await use({ store, embedder: models.embedder, settings });
    } finally {
      await store.close({ signal: io.signal });
    }
  } finally {
    await models.close();
    await transport?.close();
  }
}
