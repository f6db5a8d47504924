import { StoreError } from "../core/errors.js";
import type { CallOptions } from "../core/ports.js";
import { Server, type ServerOptions, type Work } from "./server.js";

export interface ReplicasOptions extends Omit<ServerOptions, "url"> {
  readonly urls: readonly string[];
  /** The server that takes the writes. */
  readonly primary: Server;
  /** Id of the stored data, which its replicas share. */
  readonly id: string;
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
  /** Moment up to which it has every commit of its primary. */
  freshAt: number;
  /** Position of the primary that it is next checked against. */
  awaited?: Position | undefined;
  isRefused?: boolean;
}

/**
 * Streaming replicas of a store's server, read in place of it as long as they are not too far behind. How far they are is
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
  async read<Result>(work: Work<Result>, call: CallOptions = {}): Promise<Result> {
    const { primary } = this.#options;
    const startedAt = performance.now();
    const isFresh = ({ freshAt }: Replica) =>
      freshAt > this.#committedAt && startedAt - freshAt <= this.#options.maxLagMs;
    const fresh = this.#replicas.filter(isFresh);
    const replica = fresh[this.#turn++ % fresh.length];
    if (!replica) return primary.read(work, call);
    const { deadlineMs = this.#options.deadlineMs, signal } = call;
    try {
      // The other half of the time is left for the primary.
      return await replica.server.read(work, { ...call, deadlineMs: deadlineMs / 2, once: true });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      replica.freshAt = -Infinity;
      return primary.read(work, { ...call, deadlineMs: deadlineMs - (performance.now() - startedAt) });
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
    const askedAtMs = performance.now();
    // A replica whose primary does not answer counts as fresh for the maximum lag at most.
    const log = await this.#options.primary
      .read(
        (session) => session.query<{ log: number }>("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint AS log"),
        call,
      )
      .then(([row]) => row!.log)
      .catch(() => undefined);
    const now = log === undefined ? undefined : { log, at: askedAtMs };
    await Promise.all(
      this.#replicas.map((replica) =>
        this.#checkOne(replica, now, call).catch(() => {
          replica.freshAt = -Infinity;
        }),
      ),
    );
  }

  async #checkOne(replica: Replica, now: Position | undefined, call: CallOptions): Promise<void> {
    const [row] = await replica.server.read(
      (session) =>
        session.query<{ id: string; isReplica: boolean; log: number }>(
          `SELECT value AS id, pg_is_in_recovery() AS "isReplica", (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint AS log
           FROM meta WHERE name = 'store'`,
        ),
      call,
    );
    if (!row!.isReplica || row!.id !== this.#options.id) return this.#refuse(replica);
    const reached = [now, replica.awaited].find((position) => position && row!.log >= position.log);
    if (reached) replica.freshAt = reached.at;
    if (reached || !replica.awaited) replica.awaited = now;
  }

  #refuse(replica: Replica): void {
    replica.freshAt = -Infinity;
    if (!replica.isRefused) {
      this.#options.onWarning(`${replica.server.location} is no replica of the server of this store, and is not read`);
    }
    replica.isRefused = true;
  }
}
