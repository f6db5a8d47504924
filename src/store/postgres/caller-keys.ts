import { StoreError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import { columnText, originalText } from "../../postgres/column-text.js";
import { withSettings } from "../../postgres/local-settings.js";
import type { Session } from "../../postgres/server.js";
import { existingServer } from "./prepared-server.js";
import { keysSetting } from "./row-level-security.js";

/** A key of a caller as a store keeps it. The rooms above know what stands in it. */
export interface CallerKeyRow {
  readonly id: string;
  /** JSON. */
  readonly record: string;
}

/** The keys of callers in the database of a store, for all servers of the store. */
export interface CallerKeyTable {
  /** The address without its password. */
  readonly location: string;
  /** @throws StoreError `scope` for others than the owner of the tables. */
  readonly list: () => Promise<readonly CallerKeyRow[]>;
  /** The keys of these ids. All who were granted SELECT on the table may ask. @param ids letters and digits alone */
  readonly find: (ids: readonly string[]) => Promise<readonly CallerKeyRow[]>;
  /**
   * Replaces the rows by what `change` makes of them, while nobody else can. It is called again where the transaction is.
   *
   * @throws StoreError `scope` for others than the owner of the tables.
   */
  readonly change: (change: (rows: readonly CallerKeyRow[]) => readonly CallerKeyRow[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the keys of the store at an address; the store must exist. */
export async function openCallerKeys(url: string, schema: string | undefined): Promise<CallerKeyTable> {
  const { server } = await existingServer(url, given({ schema }));
  const { location } = server;
  const readAll = async (session: Session): Promise<readonly CallerKeyRow[]> => {
    const [found] = await session.query<{ restricted: boolean }>(
      "SELECT row_security_active('caller_keys') AS restricted",
    );
    if (found!.restricted) {
      const message = `${location}: only the owner of the store's tables makes, lists and revokes keys. Name an address with that user`;
      throw new StoreError("scope", message, { path: location });
    }
    return (await session.query<CallerKeyRow>("SELECT id, record FROM caller_keys")).map(originalRow);
  };
  return {
    location,
    list: () => server.read(readAll),
    find: (ids) =>
      server.read(
        withSettings({ [keysSetting]: ids.join(",") }, async (session) => {
          const found = await session.query<CallerKeyRow>("SELECT id, record FROM caller_keys WHERE id = ANY ($1)", [
            ids,
          ]);
          return found.map(originalRow);
        }),
      ),
    change: (change) =>
      server.transaction(async (session) => {
        await session.query("LOCK TABLE caller_keys IN SHARE ROW EXCLUSIVE MODE");
        const before = await readAll(session);
        const known = new Map(before.map(({ id, record }) => [id, record]));
        const after = change(before);
        const kept = new Set(after.map(({ id }) => id));
        const gone = before.filter(({ id }) => !kept.has(id));
        if (gone.length > 0) {
          await session.query("DELETE FROM caller_keys WHERE id = ANY ($1)", [gone.map(({ id }) => id)]);
        }
        for (const { id, record } of after.filter((row) => known.get(row.id) !== row.record)) {
          await session.query(
            "INSERT INTO caller_keys VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
            [id, columnText(record)],
          );
        }
      }),
    close: () => server.close(),
  };
}

function originalRow({ id, record }: CallerKeyRow): CallerKeyRow {
  return { id, record: originalText(record) };
}
