import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { OptionsError, StoreError } from "../../core/errors.js";
import type { Embedder } from "../../core/ports.js";
import { isBusy } from "../../postgres/failures.js";
import type { Server, Session } from "../../postgres/server.js";
import type { StoreMigration } from "../migration.js";
import { storeAddress } from "./address.js";
import type { SecuredFields } from "./filters/facts.js";
import { openPostgresStore } from "./open-postgres-store.js";
import type { PostgresStoreOptions } from "./options.js";
import { existingServer } from "./prepared-server.js";
import { secureTables } from "./row-level-security.js";
import { writeMeta } from "./schema.js";

/** Tables that change places. Those of conversations, of commits and of the queue stay where they are. */
const exchanged = ["documents", "texts", "chunks", "postings", "fields", "notes", "vectors", "totals", "embeddings"];

/** Facts that stay, too. */
const keptFacts = ["queue", "secured", "roles"];

/** PostgreSQL cuts longer names than 63 bytes, and takes them for others; they end in `_previous_replaced`. */
const maxNameLength = 45;

/** The schemas of a store, quoted: where it is, where the next one is built, and where the one before is kept. */
function schemasOf(url: string): { readonly schema: string; readonly next: string; readonly previous: string } {
  const { schema } = storeAddress(url);
  if (schema.length > maxNameLength) {
    const message = `migrate: the name of the schema ${schema} is longer than ${maxNameLength} characters, so that none beside it can be named`;
    throw new OptionsError("options", message, { call: "migrate", option: "path" });
  }
  return { schema: `"${schema}"`, next: `"${schema}_next"`, previous: `"${schema}_previous"` };
}

/**
 * Begins to rebuild the store at an address for another embedder, in a schema beside it, or continues an earlier attempt. The current
 * store can be searched meanwhile, and writes wait for the end. A crash at any moment leaves the current store in use.
 *
 * @throws OptionsError; StoreError as `openPostgresStore` does, `locked` while another migration runs, `scope` for others than the owner of the tables.
 */
export async function beginMigration<const Space extends string>(
  url: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options: Pick<PostgresStoreOptions, "metadata" | "onWarning"> = {},
): Promise<StoreMigration<Space>> {
  const { address, schema: name } = storeAddress(url);
  const schemas = schemasOf(url);
  const { server, meta } = await existingServer(url);
  const from = meta.get("space");
  const closing: (() => Promise<unknown>)[] = [() => server.close()];
  const close = async () => {
    for (const closeOne of closing.toReversed()) await closeOne();
  };
  try {
    const column = from === embedder.space ? undefined : `embedding_${randomUUID().slice(0, 8)}`;
    const hold = await holdWrites(server, (session) => exchange(session, schemas, schemas.next, column));
    closing.push(() => hold.end(false).catch(() => {}));
    await dropOther(server, schemas.next, embedder.space);
    const old = await openPostgresStore(url, { space: from ?? embedder.space }, { create: false });
    closing.push(() => old.close());
    const [shards, precision, secured] = [meta.get("distributed"), meta.get("precision"), meta.get("secured")];
    const target = await openPostgresStore(address, embedder, {
      ...(options as Pick<PostgresStoreOptions, "onWarning">),
      schema: `${name}_next`,
      ...(shards !== undefined && { distributed: { shards: Number(shards) } }),
      ...(precision !== undefined && { precision: precision as "vector" | "halfvec" }),
      ...(secured !== undefined && { rowLevelSecurity: fieldNames(JSON.parse(secured) as SecuredFields) }),
    });
    closing.push(() => target.close());
    if (Object.keys(target.settings ?? {}).length === 0) {
      const { batchTexts, ...settings } = old.settings ?? {};
      const isSame = from === embedder.space;
      await target.write({
        settings: { ...settings, ...(isSame && batchTexts !== undefined && { batchTexts }) },
        ...(isSame && { tokenMargin: old.tokenMargin ?? 1 }),
      });
    }
    return {
      from,
      documentCount: (await old.counts()).documents,
      documents: async function* () {
        for (let after: string | undefined; ;) {
          const infos = await old.documents({ limit: 1000, ...(after !== undefined && { after }) });
          if (infos.length === 0) return;
          for (const { uri } of infos) yield (await old.document(uri))!;
          after = infos.at(-1)!.uri;
        }
      },
      target,
      oldVectors: {
        knownVectors: async (keys) => (from === embedder.space ? old.knownVectors(keys) : new Map()),
      },
      finish: async () => {
        await target.close();
        await hold.end(true);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Switches a store in a database back to what it was before the last migration. A second call switches forward again.
 *
 * @param url address of the database, as `openPostgresStore` takes it.
 * @throws OptionsError for a malformed address; StoreError `missing` when it was not migrated, `locked` while another process writes for long.
 * @example
 * ```ts
 * import { migratePostgresBack } from "citewell/postgres";
 * await migratePostgresBack("postgres://localhost/manuals");
 * ```
 */
export async function migratePostgresBack(url: string): Promise<void> {
  const schemas = schemasOf(url);
  const { server, meta } = await existingServer(url);
  const { location } = server;
  try {
    const hold = await holdWrites(server, async (session) => {
      const [found] = await session.query<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [
        `${schemas.previous}.documents`,
      ]);
      const problem = `${location} has no earlier store of this format to go back to`;
      if (!found!.exists) throw new StoreError("missing", problem, { path: location });
      const [before] = await session.query<{ value: string }>(
        `SELECT value FROM ${schemas.previous}.meta WHERE name = 'version'`,
      );
      if (before?.value !== meta.get("version")) throw new StoreError("missing", problem, { path: location });
      await exchange(session, schemas, schemas.previous);
      // The fields by which rows are secured, and the roles, may have changed since.
      const secured = meta.get("secured");
      if (secured !== undefined) await secureTables(session, schemas.schema, JSON.parse(secured) as SecuredFields);
    });
    await hold.end(true);
  } finally {
    await server.close();
  }
}

const fieldNames = (secured: SecuredFields) => (secured === "all" ? true : secured.map((name) => name.slice(1)));

/**
 * Keeps writers out from now on by a transaction, in which the exchange is made at the end: whatever happens to this process or to its
 * connection, nothing is written in between that the new store lacks.
 */
async function holdWrites(
  server: Server,
  exchanging: (session: Session) => Promise<void>,
): Promise<{ readonly end: (isExchanged: boolean) => Promise<void> }> {
  let decide!: (isExchanged: boolean) => void;
  const decided = new Promise<boolean>((resolve) => (decide = resolve));
  const { location } = server;
  let begin!: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const ended = server.transaction(
    async (session) => {
      const [found] = await session.query<{ isOwner: boolean }>(
        `SELECT pg_has_role(relowner, 'USAGE') AS "isOwner" FROM pg_class WHERE oid = 'documents'::regclass`,
      );
      if (!(await isAlone(session))) {
        const message = `${location}: another process migrates the store. Wait for it, or end it, and call this again`;
        throw new StoreError("locked", message, { path: location });
      }
      if (!found!.isOwner) {
        const message = `${location}: only the owner of the tables can migrate the store: use the owner's address`;
        throw new StoreError("scope", message, { path: location });
      }
      await session.query(
        `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '10s';
         SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
      );
      await session.query("LOCK TABLE meta, vectors, documents, notes IN SHARE ROW EXCLUSIVE MODE");
      begin();
      if (await decided) await exchanging(session);
    },
    { deadlineMs: Infinity, once: true },
  );
  ended.catch(() => {});
  await Promise.race([begun, ended]);
  return {
    end: (isExchanged) => {
      decide(isExchanged);
      return ended;
    },
  };
}

/** Maximum time, in milliseconds, for which a server works on for a process that was killed: `exchange` waits for locks for a second. */
const maxLeftMs = 3000;

/** Whether no other process migrates the store from now on until the transaction ends. */
async function isAlone(session: Session): Promise<boolean> {
  for (const endsAt = performance.now() + maxLeftMs; ; await sleep(100)) {
    const [found] = await session.query<{ isAlone: boolean }>(
      `SELECT pg_try_advisory_xact_lock(hashtextextended('citewell migration ' || relnamespace, 0)) AS "isAlone"
       FROM pg_class WHERE oid = 'documents'::regclass`,
    );
    if (found!.isAlone || performance.now() > endsAt) return found!.isAlone;
  }
}

/** Attempts at the exchange, each of which waits for the searches under way for a second. */
const maxAttempts = 30;

/**
 * Puts the store in the schema `from` in the place of the current one, which goes to `previous`.
 *
 * @param column new name of the column with the vectors, by which programs that know the former model fail, and mix no vectors of two.
 */
async function exchange(
  session: Session,
  { schema, previous }: ReturnType<typeof schemasOf>,
  from: string,
  column?: string,
): Promise<void> {
  const replaced = previous.replace(/"$/, '_replaced"');
  await session.query("SET LOCAL lock_timeout = '1s'");
  for (let attempt = 1; ; attempt++) {
    await session.query("SAVEPOINT exchange");
    try {
      const grants = await grantsIn(session, schema);
      await session.query(`CREATE SCHEMA ${replaced}`);
      await moveTables(session, schema, replaced);
      await moveTables(session, from, schema);
      for (const grant of grants) await session.query(grant);
      await session.query(`DROP SCHEMA ${from} CASCADE`);
      await session.query(`DROP SCHEMA IF EXISTS ${previous} CASCADE`);
      await session.query(`ALTER SCHEMA ${replaced} RENAME TO ${previous}`);
      break;
    } catch (error) {
      if (attempt === maxAttempts || !isBusy(error)) throw error;
      await session.query("ROLLBACK TO SAVEPOINT exchange");
      await sleep(100);
    }
  }
  const [searched] = await session.query<{ exists: boolean }>(`SELECT to_regclass($1) IS NOT NULL AS exists`, [
    `${schema}.embeddings`,
  ]);
  if (column !== undefined && searched!.exists) {
    await session.query(`ALTER TABLE ${schema}.embeddings RENAME COLUMN embedding TO ${column}`);
    await writeMeta(session, "column", column);
  }
  const [secured] = await session.query<{ exists: boolean }>(
    "SELECT EXISTS (SELECT FROM meta WHERE name = 'secured') AS exists",
  );
  if (secured!.exists) await secureTables(session, schema);
}

async function moveTables(session: Session, from: string, to: string): Promise<void> {
  const found = await session.query<{ name: string }>(
    "SELECT name FROM unnest($2::text[]) AS t (name) WHERE to_regclass($1 || '.' || name) IS NOT NULL",
    [from, exchanged],
  );
  for (const { name } of found) await session.query(`ALTER TABLE ${from}.${name} SET SCHEMA ${to}`);
  await session.query(`CREATE TABLE IF NOT EXISTS ${to}.meta (LIKE ${from}.meta INCLUDING ALL)`);
  await session.query(
    `WITH moved AS (DELETE FROM ${from}.meta WHERE name <> ALL($1::text[]) RETURNING *)
     INSERT INTO ${to}.meta SELECT * FROM moved`,
    [keptFacts],
  );
}

/** Statements that give others than the owner their rights on the tables again. */
async function grantsIn(session: Session, schema: string): Promise<string[]> {
  const rows = await session.query<{ grant: string }>(
    `SELECT format('GRANT %s ON %s TO %s', privilege_type, '${schema}.' || relname,
       CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END) AS grant
     FROM pg_class, aclexplode(relacl) WHERE relnamespace = to_regnamespace($1) AND relname = ANY($2::text[]) AND grantee <> relowner`,
    [schema, exchanged],
  );
  return rows.map(({ grant }) => grant);
}

/** Deletes what an attempt for another model has built. */
async function dropOther(server: Server, next: string, space: string): Promise<void> {
  await server.transaction(
    async (session) => {
      const [found] = await session.query<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [
        `${next}.meta`,
      ]);
      if (!found!.exists) return;
      const [built] = await session.query<{ value: string }>(`SELECT value FROM ${next}.meta WHERE name = 'space'`);
      await session.query("SET LOCAL citus.multi_shard_modify_mode = 'sequential'");
      if (built && built.value !== space) await session.query(`DROP SCHEMA ${next} CASCADE`);
    },
    { deadlineMs: Infinity },
  );
}
