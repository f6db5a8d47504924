import type { CallOptions, StoreSettings, StoreWrite } from "../../core/ports.js";
import type { Settings } from "../../postgres/local-settings.js";
import type { Session } from "../../postgres/server.js";
import type { StoreConnection } from "../../postgres/store-connection.js";
import type { SecuredFields } from "./filters/facts.js";
import { checkSpace } from "../database/schema.js";
import { createEmbeddings, firstColumn, type MetaName, type Precision, readMeta, writeMeta } from "./schema.js";

export interface StoreFactsParts {
  readonly connection: StoreConnection;
  /** Quoted. */
  readonly schema: string;
  /** Facts as they were when it was opened. */
  readonly meta: ReadonlyMap<MetaName, string>;
  readonly space: string;
  /** How the vectors of a new store are kept. Default: `vector`. */
  readonly precision: Precision | undefined;
  /** How each node of a cluster is to search, where that is not what its connections have. */
  readonly nodeSettings: Settings;
}

/** Facts about a whole store, such as the dimension of its vectors, as this process last read or wrote them. */
export class StoreFacts {
  readonly #parts: StoreFactsParts;
  #meta: ReadonlyMap<MetaName, string>;

  constructor(parts: StoreFactsParts) {
    this.#parts = parts;
    this.#meta = parts.meta;
  }

  get tokenMargin(): number {
    return Number(this.#meta.get("token-margin") ?? 1);
  }

  get settings(): StoreSettings {
    return JSON.parse(this.#meta.get("settings") ?? "{}") as StoreSettings;
  }

  /** Length of the vectors; undefined while there are none. */
  get dimension(): number | undefined {
    const stored = this.#meta.get("dimension");
    return stored === undefined ? undefined : Number(stored);
  }

  get precision(): Precision {
    const stored = this.#meta.get("precision") as Precision | undefined;
    return stored ?? this.#parts.precision ?? "vector";
  }

  /** Column of the vectors that searches compare. */
  get column(): string {
    return this.#meta.get("column") ?? firstColumn;
  }

  /** Whether the tables are spread over the nodes of a cluster. */
  get isDistributed(): boolean {
    return this.#meta.has("distributed");
  }

  /** Fields by which row-level security shows documents; undefined without it. */
  get secured(): SecuredFields | undefined {
    return JSON.parse(this.#meta.get("secured") ?? "null") ?? undefined;
  }

  /** Settings of the transactions that search. */
  get nodeSettings(): Settings {
    return this.isDistributed ? this.#parts.nodeSettings : {};
  }

  /**
   * Reads the facts again: another process may have written.
   *
   * @throws StoreError `space` after a migration to another model.
   */
  async refresh(call?: CallOptions): Promise<void> {
    const { connection, schema, space } = this.#parts;
    const meta = (await connection.read((session) => readMeta(session, schema), call))!;
    checkSpace(meta.get("space"), space, connection.server.location);
    this.#meta = meta;
  }

  /** Makes the table that needs to know the length of vectors. */
  async setDimension(dimension: number): Promise<void> {
    const { connection, schema } = this.#parts;
    this.#meta = await connection.transaction(async (session) => {
      await createEmbeddings(session, schema, dimension, this.precision);
      return (await readMeta(session, schema))!;
    });
  }

  /** Stores new facts of a write, in its transaction. Returns all facts, if there were new ones. */
  async write(
    session: Session,
    { tokenMargin = 1, settings = {} }: StoreWrite,
  ): Promise<ReadonlyMap<MetaName, string> | undefined> {
    const { schema, space } = this.#parts;
    const isChanged = tokenMargin > this.tokenMargin || Object.keys(settings).length > 0;
    if (this.#meta.has("space") && !isChanged) return undefined;
    // Another writer may change another fact at this moment.
    await session.query("LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE");
    const stored = (await readMeta(session, schema))!;
    if (!stored.has("space")) await writeMeta(session, "space", space);
    if (tokenMargin > Number(stored.get("token-margin") ?? 1)) {
      await writeMeta(session, "token-margin", String(tokenMargin));
    }
    const all = Object.entries({ ...(JSON.parse(stored.get("settings") ?? "{}") as StoreSettings), ...settings });
    const kept = Object.fromEntries(all.filter(([, value]) => value !== null));
    if (Object.keys(settings).length > 0) await writeMeta(session, "settings", JSON.stringify(kept));
    return (await readMeta(session, schema))!;
  }

  /** Adopts the facts that `write` returned, once they are committed. */
  adopt(meta: ReadonlyMap<MetaName, string>): void {
    this.#meta = meta;
  }
}
