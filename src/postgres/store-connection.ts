import { StoreError } from "../core/errors.js";
import type { CallOptions } from "../core/ports.js";
import type { Replicas } from "./replicas.js";
import type { Server, Session, Work, WorkCall } from "./server.js";

/** Reads, where it may, from a replica. */
export type Reader = <Result>(work: Work<Result>, call?: CallOptions) => Promise<Result>;

/** The server of a store, or the coordinator of its cluster, with replicas to read from; until the store is closed. */
export class StoreConnection {
  readonly server: Server;
  readonly #replicas: Replicas | undefined;
  #closed: Promise<unknown> | undefined;

  constructor(server: Server, replicas: Replicas | undefined) {
    this.server = server;
    this.#replicas = replicas;
  }

  /** @throws StoreError `closed`. */
  refuseClosed(): void {
    if (!this.#closed) return;
    const { location } = this.server;
    const message = `The store at ${location} was closed. Open it again with openPostgresStore()`;
    throw new StoreError("closed", message, { path: location });
  }

  /** Reads from the server itself, for callers that must see the latest writes. */
  async read<Result>(work: Work<Result>, call?: CallOptions): Promise<Result> {
    this.refuseClosed();
    return this.server.read(work, call);
  }

  /** For searching and reading documents, which replicas may do, within what `around` does. */
  reader(around: <Result>(work: Work<Result>) => Work<Result> = (work) => work): Reader {
    return async (work, call) => {
      this.refuseClosed();
      return this.#replicas ? this.#replicas.read(around(work), call) : this.server.read(around(work), call);
    };
  }

  async transaction<Result>(work: (session: Session) => Promise<Result>, call?: WorkCall): Promise<Result> {
    this.refuseClosed();
    // Also after a failure: a commit that was cut off may have taken place.
    return this.server.transaction(work, call).finally(() => this.#replicas?.committed());
  }

  async close(): Promise<void> {
    this.#closed ??= Promise.all([this.#replicas?.close(), this.server.close()]);
    await this.#closed;
  }
}
