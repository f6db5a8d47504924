import type { CallOptions, StoreSettings, StoreWrite } from "../../core/ports.js";
import type { Session, Work } from "./connection/server.js";
import { createEmbeddings, type MetaName, type Precision, readMeta, writeMeta } from "./schema.js";
import type { Shards } from "./sharding/shards.js";

export interface StoreFactsParts {
  readonly shards: Shards;
  /** Quoted. */
  readonly schema: string;
  /** As they were on the first server when it was opened. */
  readonly meta: ReadonlyMap<MetaName, string>;
  readonly space: string;
  /** How the vectors of a new store are kept. Default: `vector`. */
  readonly precision: Precision | undefined;
}

/** What holds for the whole of a store, such as the length of its vectors, as this process last read or wrote it. */
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

  /** Reads them again: another process may have written. */
  async refresh(call?: CallOptions): Promise<void> {
    const { shards, schema } = this.#parts;
    this.#meta = (await shards.onFirst((first) => readMeta(first, schema), call))!;
  }

  /** Makes the tables that need to know the length of vectors, on every server. */
  async setDimension(dimension: number): Promise<void> {
    const { shards, schema } = this.#parts;
    const precision = this.precision;
    const make: Work<ReadonlyMap<MetaName, string>> = async (session) => {
      await createEmbeddings(session, schema, dimension, precision);
      return (await readMeta(session, schema))!;
    };
    const [first] = await shards.onEach((server) => server.transaction(make));
    this.#meta = first!;
  }

  /** Writes those of a write that are new, in its transaction on the first server. Returns all, if there were any. */
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

  /** Takes over what `write` returned, once it is committed. */
  adopt(meta: ReadonlyMap<MetaName, string>): void {
    this.#meta = meta;
  }
}
