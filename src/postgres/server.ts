import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { missingPeer } from "../core/errors.js";
import type { CallOptions } from "../core/ports.js";
import { unlessAborted } from "../core/stream.js";
import { asStoreError, isOverfull, isTransient, isUnreachable, pastDeadline, retryDelayMs } from "./failures.js";
import { faultyNodes } from "./faulty-nodes.js";

/** A connection while it is used for one piece of work. */
export interface Session {
  /** Whether a transaction is open, in which the work is done. */
  readonly isInTransaction: boolean;
  readonly query: <Row extends object>(
    text: string,
    values?: readonly unknown[],
    options?: {
      /** True: the server keeps the statement and its plan for the next time. For texts of which there are few. */
      readonly prepared?: boolean;
    },
  ) => Promise<Row[]>;
  /** Object id of the type `vector`, which has another one in every database. */
  readonly vectorType: () => Promise<number>;
}

export interface ServerOptions {
  readonly url: string;
  /** Quoted where needed: it becomes part of statements. */
  readonly schema: string;
  /** Settings of each connection, by name. */
  readonly settings: Readonly<Record<string, string | number>>;
  readonly maxConnections: number;
  /** Maximum time of a piece of work with all its repetitions, in milliseconds. */
  readonly deadlineMs: number;
}

export type Work<Result> = (session: Session) => Promise<Result>;

/** An integer of 64 bits as a number, if one holds it. */
export function safeInteger(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** Object id of `bigint`. */
const int8 = 20;

/** Counts stay far below 2^53; ids of documents have 64 bits. */
const integerOf = (text: string) => (text.length < 16 ? Number(text) : safeInteger(BigInt(text)));

/** The limits of a piece of work. */
export interface WorkCall extends CallOptions {
  /** True: it is not repeated, because it is part of a larger work that is. */
  readonly once?: boolean;
  /** True: a transaction of which no record is kept, because the tables may be missing; it is done again where its end is unknown. */
  readonly unrecorded?: boolean;
}

/** One PostgreSQL server: a pool of connections, and work on them that survives a restart of the server. */
export class Server {
  /** The address without its password. */
  readonly location: string;
  /** True: the coordinator of a cluster. What waits for one of its nodes fails a little before its deadline, and the error names them. */
  isCoordinator = false;
  readonly #connect: (timeoutMs: number) => pg.Client;
  readonly #pool: pg.Pool;
  readonly #deadlineMs: number;
  /** In the names of prepared statements: where connections share a session, as those to PGlite do, names meet. */
  readonly #id = randomUUID().replaceAll("-", "");
  /** Names of prepared statements by their texts. */
  readonly #prepared = new Map<string, string>();
  /** The statement by which each connection's transactions get the settings of the store: none where the session keeps them. */
  readonly #settings = new WeakMap<pg.PoolClient, Promise<string>>();
  #vectorType: number | undefined;
  /** Records of transactions whose end is known, to be deleted. */
  #ended: readonly string[] = [];
  /** Whether the records that ended processes left were deleted, which takes a look at all. */
  #hasSwept = false;

  private constructor(
    { Pool, Client, types }: typeof pg,
    { url, schema, settings, maxConnections, deadlineMs }: ServerOptions,
  ) {
    this.location = withoutPassword(url);
    this.#deadlineMs = deadlineMs;
    this.#connect = (timeoutMs) =>
      new Client({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
    const parserOf = (oid: number, format?: "text") =>
      oid === int8 ? integerOf : (types.getTypeParser(oid, format) as (value: string) => unknown);
    this.#pool = new Pool({
      connectionString: url,
      max: maxConnections,
      fallback_application_name: "citewell",
      keepAlive: true,
      allowExitOnIdle: true,
      types: { getTypeParser: parserOf as typeof types.getTypeParser },
    });
    // A cluster hands the settings of a transaction on to its nodes; other servers ignore the name.
    const toNodes = { "citus.propagate_set_commands": "local" };
    const everySetting = { statement_timeout: Math.ceil(deadlineMs), jit: "off", ...toNodes, ...settings };
    const settingWithin = (isLocal: string) =>
      [
        ...Object.entries(everySetting).map(([name, value]) => `set_config('${name}', '${value}', ${isLocal})`),
        // The rest of the path is where the extension stands.
        `set_config('search_path', '${schema}, ' || current_setting('search_path'), ${isLocal})`,
      ].join(", ");
    // A pooler answers in the name of a server process that it does not have. What its sessions kept would meet other clients.
    const prepare = async (client: pg.PoolClient): Promise<string> => {
      const { processID } = client as unknown as { readonly processID: number | null };
      const isPooled = `pg_backend_pid() <> ${processID ?? 0}`;
      const { rows } = await client.query<{ pooled: boolean }>(
        `SELECT ${isPooled} AS pooled, ${settingWithin(isPooled)}`,
      );
      return rows[0]!.pooled ? `SELECT ${settingWithin("true")};` : "";
    };
    this.#pool.on("connect", (client) => {
      // Without a listener, a broken connection would end the process. Its user gets an error anyway.
      client.on("error", () => {});
      const prepared = prepare(client);
      prepared.catch(() => {});
      this.#settings.set(client, prepared);
    });
    this.#pool.on("error", () => {});
  }

  /** Connects when it is first used. */
  static async open(options: ServerOptions): Promise<Server> {
    return new Server(await loadPg(), options);
  }

  /** Runs work that changes nothing, again where the connection was lost or the server restarted. */
  async read<Result>(work: Work<Result>, call?: WorkCall): Promise<Result> {
    return this.#repeated(async (client) => {
      const settings = await this.#settings.get(client)!;
      return settings === ""
        ? work(this.#sessionOn(client, settings, false))
        : this.#within(client, "BEGIN", "COMMIT", work);
    }, call);
  }

  /** Repeats, like a reading, work on connections of its own. */
  async repeat<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#repeated(work);
  }

  /** Whether a pooler is between, which gives each transaction the session that is free, such as PgBouncer in transaction mode. */
  async isPooled(): Promise<boolean> {
    return this.#repeated(async (client) => (await this.#settings.get(client)) !== "");
  }

  /** Reads like `read`, but from one snapshot of the tables while others write. */
  async snapshot<Result>(work: Work<Result>, call?: CallOptions): Promise<Result> {
    const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    return this.#repeated((client) => this.#within(client, begin, "ROLLBACK", work), call);
  }

  /** Runs work between two statements that begin and end its transaction. */
  async #within<Result>(
    client: pg.PoolClient,
    begin: string,
    end: "COMMIT" | "ROLLBACK",
    work: Work<Result>,
  ): Promise<Result> {
    const settings = await this.#settings.get(client)!;
    await client.query(`${begin};${settings}`);
    try {
      const result = await work(this.#sessionOn(client, settings));
      await client.query(end);
      return result;
    } catch (error) {
      if (!isUnreachable(error)) await client.query("ROLLBACK").catch(() => {});
      throw error;
    }
  }

  /**
   * Runs work in one transaction, again where another was in its way or the connection was lost. When it was lost during
   * the commit, the record that the transaction leaves says what became of it, so that nothing is done twice. (The number of a
   * transaction would not do: after a crash the server gives numbers that never reached its log to others.)
   */
  async transaction<Result>(work: Work<Result>, call: WorkCall = {}): Promise<Result> {
    const record = randomUUID();
    let committing: { readonly result: Result } | undefined;
    const result = await this.#repeated(async (client) => {
      const settings = await this.#settings.get(client)!;
      const session = this.#sessionOn(client, settings);
      const ended = this.#ended;
      const begin = call.unrecorded ? "SELECT" : this.#recordSql(record, ended);
      try {
        // All in one message, for which `pg` returns the results of each. It waits for an earlier attempt that is still ending.
        const results = (await client.query(`BEGIN;${settings}${begin}`)) as unknown as readonly pg.QueryResult[];
        if (committing && results.at(-1)!.rowCount === 0) {
          await session.query("ROLLBACK");
          return committing.result;
        }
        committing = { result: await work(session) };
        await session.query("COMMIT");
        if (!call.unrecorded) this.#forget(ended);
        return committing.result;
      } catch (error) {
        if (!isUnreachable(error)) await session.query("ROLLBACK").catch(() => {});
        throw error;
      }
    }, call);
    if (!call.unrecorded) this.#ended = [...this.#ended, record];
    return result;
  }

  /** Leaves a record of a transaction, and deletes those of this process that are over; at first also those that ended processes left. */
  #recordSql(record: string, ended: readonly string[]): string {
    const ids = ended.map((id) => `'${id}'::uuid`);
    const left = this.#hasSwept ? "" : "OR made < current_date - 7";
    return `WITH ended AS (DELETE FROM commits WHERE id IN (
        SELECT id FROM commits WHERE id = ANY(ARRAY[${ids.join(", ")}]::uuid[]) ${left} FOR UPDATE SKIP LOCKED))
      INSERT INTO commits (id) VALUES ('${record}') ON CONFLICT DO NOTHING`;
  }

  #forget(ended: readonly string[]): void {
    this.#hasSwept = true;
    this.#ended = this.#ended.filter((id) => !ended.includes(id));
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #sessionOn(client: pg.PoolClient, settings: string, isInTransaction = true): Session {
    const query: Session["query"] = async <Row extends object>(
      text: string,
      values?: readonly unknown[],
      { prepared = false } = {},
    ) => {
      const name = prepared && settings === "" ? this.#preparedName(text) : undefined;
      const statement = { text, ...(values && { values: [...values] }), ...(name && { name }) };
      return (await client.query<Row>(statement)).rows;
    };
    const vectorType = async () => {
      if (this.#vectorType === undefined) {
        const [type] = await query<{ oid: number }>("SELECT 'vector'::regtype::oid::integer AS oid");
        this.#vectorType = type!.oid;
      }
      return this.#vectorType;
    };
    return { isInTransaction, query, vectorType };
  }

  #preparedName(text: string): string | undefined {
    if (!this.#prepared.has(text) && this.#prepared.size < maxPrepared) {
      this.#prepared.set(text, `citewell_${this.#id}_${this.#prepared.size}`);
    }
    return this.#prepared.get(text);
  }

  async #repeated<Result>(
    work: (client: pg.PoolClient) => Promise<Result>,
    { deadlineMs = this.#deadlineMs, signal, once = false }: WorkCall = {},
  ): Promise<Result> {
    const namingMs = this.isCoordinator && deadlineMs !== Infinity ? Math.min(1000, deadlineMs / 5) : 0;
    const endsAt = performance.now() + deadlineMs - namingMs;
    for (let attempt = 1; ; attempt++) {
      try {
        const limit =
          deadlineMs === Infinity ? [] : [AbortSignal.timeout(Math.max(0, Math.ceil(endsAt - performance.now())))];
        return await this.#attempt(work, AbortSignal.any([...(signal ? [signal] : []), ...limit]));
      } catch (error) {
        signal?.throwIfAborted();
        if (performance.now() >= endsAt) {
          throw pastDeadline(this.location, deadlineMs, error, await this.#faultyNodes(namingMs));
        }
        const delayMs = retryDelayMs(attempt);
        if (once || !isTransient(error) || performance.now() + delayMs >= endsAt) {
          throw asStoreError(this.location, error, isOverfull(error) ? await this.#faultyNodes(1000) : []);
        }
        await sleep(delayMs, undefined, { signal });
      }
    }
  }

  async #faultyNodes(withinMs: number): Promise<string[]> {
    return this.isCoordinator && withinMs > 0 ? faultyNodes(this.#connect(withinMs), withinMs) : [];
  }

  async #attempt<Result>(work: (client: pg.PoolClient) => Promise<Result>, until: AbortSignal): Promise<Result> {
    const connecting = this.#pool.connect();
    const client = await unlessAborted(connecting, until).catch((error: unknown) => {
      connecting.then((late) => late.release()).catch(() => {});
      throw error;
    });
    try {
      const result = await unlessAborted(work(client), until);
      client.release();
      return result;
    } catch (error) {
      // Abandoned work ends with its connection.
      client.release(until.aborted || isUnreachable(error));
      throw error;
    }
  }
}

/** A connection keeps each prepared statement until it ends, so that there must be a limit; the others are sent whole. */
const maxPrepared = 100;

/** The address as it may be shown. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "***";
  if (shown.searchParams.has("password")) shown.searchParams.set("password", "***");
  return shown.href;
}

/** @throws OptionsError `missing-package` when `pg` is not installed. */
async function loadPg(): Promise<typeof pg> {
  return (await import("pg").catch(missingPeer("A store on PostgreSQL", "pg", "8"))).default;
}
