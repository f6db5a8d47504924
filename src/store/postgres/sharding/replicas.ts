import { StoreError } from "../../../core/errors.js";
import type { CallOptions } from "../../../core/ports.js";
import { Server, type ServerOptions, type Work } from "../connection/server.js";

/** A server that is written to. */
export interface Primary {
  /** Id of what is stored there, which its replicas have too. */
  readonly id: string;
  readonly server: Server;
}

export interface ReplicasOptions extends Omit<ServerOptions, "url"> {
  readonly urls: readonly string[];
  readonly primaries: readonly Primary[];
  readonly maxLagMs: number;
  readonly onWarning: (message: string) => void;
}

/** How far a server's log had come at a moment of this process's clock. */
interface Position {
  readonly log: number;
  readonly at: number;
}

interface Replica {
  readonly server: Server;
  /** Id of what it stores; undefined while it is not known. */
  id?: string;
  /** It has all that its primary had committed by this moment. */
  freshAt: number;
  /** The position of its primary that it is next seen to have reached. */
  awaited?: Position | undefined;
  isRefused?: boolean;
}

/**
 * Streaming replicas of a store's servers, read in place of them as long as they are not too far behind. How far they are is
 * asked again and again, and not with each reading: a replica never goes back.
 */
export class Replicas {
  readonly #options: ReplicasOptions;
  readonly #replicas: readonly Replica[];
  readonly #timer: NodeJS.Timeout;
  #checking: Promise<void> | undefined;
  #committedAt = -Infinity;
  #turn = 0;

  private constructor(options: ReplicasOptions, servers: readonly Server[]) {
    this.#options = options;
    this.#replicas = servers.map((server) => ({ server, freshAt: -Infinity }));
    this.#timer = setInterval(() => this.#startCheck(), options.maxLagMs / 4).unref();
    this.#startCheck();
  }

  static async open(options: ReplicasOptions): Promise<Replicas> {
    const servers = options.urls.map((url) => Server.open({ ...options, url }));
    return new Replicas(options, await Promise.all(servers));
  }

  /** From now on a replica is read only once it has what was just committed, so that a process finds what it wrote. */
  committed(): void {
    this.#committedAt = performance.now();
  }

  /** Reads from a replica that is fresh enough, or else, or when it fails, from its primary. */
  async read<Result>({ id, server }: Primary, work: Work<Result>, call: CallOptions = {}): Promise<Result> {
    const startedAt = performance.now();
    const isFresh = ({ freshAt }: Replica) =>
      freshAt > this.#committedAt && startedAt - freshAt <= this.#options.maxLagMs;
    const fresh = this.#replicas.filter((replica) => replica.id === id && isFresh(replica));
    const replica = fresh[this.#turn++ % fresh.length];
    if (!replica) return server.read(work, call);
    const { deadlineMs = this.#options.deadlineMs, signal } = call;
    try {
      // The other half is for the primary.
      return await replica.server.read(work, { ...call, deadlineMs: deadlineMs / 2, once: true });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      replica.freshAt = -Infinity;
      return server.read(work, { ...call, deadlineMs: deadlineMs - (performance.now() - startedAt) });
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#checking;
    await Promise.all(this.#replicas.map(({ server }) => server.close()));
  }

  #startCheck(): void {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
  }

  async #check(): Promise<void> {
    const call = { deadlineMs: this.#options.maxLagMs };
    const positions = new Map<string, Position>();
    const observe = async ({ id, server }: Primary) => {
      const at = performance.now();
      const [row] = await server.read(
        (session) => session.query<{ log: number }>("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint AS log"),
        call,
      );
      positions.set(id, { log: row!.log, at });
    };
    // Whom nobody answers for is not fresh for longer than the maximum lag.
    await Promise.all(this.#options.primaries.map((primary) => observe(primary).catch(() => {})));
    await Promise.all(
      this.#replicas.map((replica) =>
        this.#checkOne(replica, positions, call).catch(() => {
          replica.freshAt = -Infinity;
        }),
      ),
    );
  }

  async #checkOne(replica: Replica, positions: ReadonlyMap<string, Position>, call: CallOptions): Promise<void> {
    const [row] = await replica.server.read(
      (session) =>
        session.query<{ id: string; isReplica: boolean; log: number }>(
          `SELECT value AS id, pg_is_in_recovery() AS "isReplica", (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint AS log
           FROM meta WHERE name = 'store'`,
        ),
      call,
    );
    if (!row!.isReplica || !this.#options.primaries.some(({ id }) => id === row!.id)) return this.#refuse(replica);
    replica.id = row!.id;
    const now = positions.get(row!.id);
    const reached = [now, replica.awaited].find((position) => position && row!.log >= position.log);
    if (reached) replica.freshAt = reached.at;
    if (reached || !replica.awaited) replica.awaited = now;
  }

  #refuse(replica: Replica): void {
    replica.freshAt = -Infinity;
    if (!replica.isRefused) {
      this.#options.onWarning(`${replica.server.location} is no replica of a server of this store, and is not read`);
    }
    replica.isRefused = true;
  }
}
