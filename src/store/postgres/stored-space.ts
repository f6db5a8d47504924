import { StoreError } from "../../core/errors.js";
import { postgresStoreOptions } from "./options.js";
import { readMeta } from "./schema.js";
import { Server } from "./server.js";

/**
 * The vector space of the store in a database, for work that needs no model. Undefined for one that was never written to.
 *
 * @throws StoreError `missing` when there is no store, `unavailable` without the server.
 */
export async function storedPostgresSpace(url: string): Promise<string | undefined> {
  const options = postgresStoreOptions.parse({});
  const schema = `"${options.schema}"`;
  const server = await Server.open({ ...options, url, schema, settings: {}, maxConnections: 1 });
  try {
    const meta = await server.read((session) => readMeta(session, schema));
    if (!meta) {
      throw new StoreError("missing", `There is no store at ${server.location}`, { path: server.location });
    }
    return meta.get("space");
  } finally {
    await server.close();
  }
}
