import type { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { resolve } from "../../core/options.js";
import type {
  CloseOptions,
  DocumentWrite,
  Retriever,
  Searchable,
  Store,
  StoreCounts,
  StoreSettings,
  StoreWrite,
  Verification,
  VerifyOptions,
  WrittenDocument,
} from "../../core/ports.js";
import type { Metadata } from "../../core/types.js";
import { closeOptions, verifyOptions } from "../call-options.js";
import type { Conversations, KeepsConversations } from "../conversations/conversations.js";
import { ScopeRules } from "../scope-rules.js";
import { verifyServer } from "./checking/verifying.js";
import { columnText } from "./columns/column-text.js";
import type { Server, Session } from "./connection/server.js";
import { distinctVectors, firstVectorKeys } from "./distinct-vectors.js";
import type { ResolvedPostgresOptions } from "./options.js";
import { postgresConversations } from "./postgres-conversations.js";
import { readCounts, readDocumentWithChunks, readNotes } from "./reading.js";
import { withinScope } from "./row-level-security.js";
import type { MetaName } from "./schema.js";
import { searchingWithin, type SearchingParts } from "./searching/scoped-searching.js";
import { WordCounts } from "./searching/word-statistics.js";
import type { Shards } from "./sharding/shards.js";
import { StoreFacts } from "./store-facts.js";
import { DocumentWriter } from "./writing/document-writer.js";
import { storedVectors } from "./writing/writing.js";

export interface PostgresStoreParts<Space extends string> {
  readonly shards: Shards;
  /** Address of the first server. */
  readonly url: string;
  /** Facts of the first server as they were when it was opened. */
  readonly meta: ReadonlyMap<MetaName, string>;
  readonly space: Space;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension: number | undefined;
  readonly options: ResolvedPostgresOptions;
}

/** A store in one schema of one or several PostgreSQL databases. Any number of processes read and write at the same time. */
export class PostgresStore<const Space extends string> implements Store<Space>, KeepsConversations {
  readonly space: Space;
  readonly location: string;
  readonly metadataSchema?: z.ZodType<Metadata>;
  readonly dense: Retriever;
  readonly lexical: Retriever;
  readonly document: Store["document"];
  readonly documentInfo: Store["documentInfo"];
  readonly documents: Store["documents"];
  readonly hits: Store["hits"];
  readonly #shards: Shards;
  readonly #url: string;
  readonly #schema: string;
  readonly #facts: StoreFacts;
  readonly #writer: DocumentWriter;
  readonly #rules: ScopeRules;
  readonly #searching: SearchingParts;
  readonly #isSecured: boolean;

  constructor({ shards, url, space, meta, dimension, options }: PostgresStoreParts<Space>) {
    const { schema, precision, metadata, rowLevelSecurity } = options;
    const requireScope = options.requireScope || rowLevelSecurity;
    this.#shards = shards;
    this.#url = url;
    this.#schema = schema;
    this.space = space;
    this.location = shards.first.location;
    if (metadata) this.metadataSchema = metadata as unknown as z.ZodType<Metadata>;
    const facts = new StoreFacts({ shards, schema: `"${schema}"`, meta, space, precision });
    this.#facts = facts;
    this.#writer = new DocumentWriter({ shards, facts, dimension, options });
    this.#rules = new ScopeRules({ location: this.location, requireScope, metadataSchema: metadata });
    this.#isSecured = rowLevelSecurity;
    const counts = rowLevelSecurity ? undefined : new WordCounts();
    this.#searching = { shards: shards.reading(), facts, rules: this.#rules, dimension, counts };
    const { dense, lexical, document, documentInfo, documents, hits } = searchingWithin(undefined, this.#searching);
    [this.dense, this.lexical, this.hits] = [dense, lexical, hits];
    [this.document, this.documentInfo, this.documents] = [document, documentInfo, documents];
  }

  /** Its first server, for what else is kept in the same schema there. */
  get database(): { readonly server: Server; readonly url: string; readonly schema: string } {
    return { server: this.#shards.first, url: this.#url, schema: this.#schema };
  }

  conversations(): Conversations {
    return postgresConversations(this.#shards.first, this.#schema, this.#isSecured);
  }

  get tokenMargin(): number {
    return this.#facts.tokenMargin;
  }

  get settings(): StoreSettings {
    return this.#facts.settings;
  }

  get dimension(): number | undefined {
    return this.#facts.dimension;
  }

  scoped(filter: Filter): Searchable<Space> {
    return this.#scoped(this.#rules.checked(filter));
  }

  write(given: StoreWrite): Promise<readonly WrittenDocument[]> {
    return this.#writer.write(given, async () => {});
  }

  /** Writes, and does `also` in the same transaction, which is repeated with it. */
  writeWith(
    given: StoreWrite,
    also: (session: Session, written: readonly WrittenDocument[]) => Promise<void>,
  ): Promise<readonly WrittenDocument[]> {
    return this.#writer.write(given, also);
  }

  deleteDocuments(uris: readonly string[]): Promise<{ readonly documents: number; readonly chunks: number }> {
    return this.#writer.delete(uris);
  }

  async knownVectors(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> {
    const found = merged(await this.#shards.each((session) => storedVectors(session, keys)));
    return new Map(keys.flatMap((key) => (found.has(columnText(key)) ? [[key, found.get(columnText(key))!]] : [])));
  }

  async notes(uris: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return merged(await this.#shards.each((session) => readNotes(session, uris)));
  }

  async documentWithChunks(uri: string): Promise<DocumentWrite | undefined> {
    this.#rules.effective(undefined, undefined);
    return (await this.#shards.each((session) => readDocumentWithChunks(session, uri))).find((found) => found);
  }

  async counts(): Promise<StoreCounts> {
    const counts = await this.#shards.each(readCounts);
    const sum = (name: keyof StoreCounts) => counts.reduce((total, each) => total + each[name], 0);
    if (this.#shards.count === 1) return counts[0]!;
    const samples = await this.#shards.each(firstVectorKeys);
    const vectors = distinctVectors(counts.map(({ vectors: count }, at) => ({ count, keys: samples[at]! })));
    return { documents: sum("documents"), chunks: sum("chunks"), vectors };
  }

  async verify(options: VerifyOptions = {}): Promise<Verification> {
    const { sample, repair, dropUnusedVectors, signal } = resolve("verify", verifyOptions, options);
    if (dropUnusedVectors && !repair) {
      throw new OptionsError("options", "verify: dropUnusedVectors changes the store, so it needs repair: true");
    }
    const { dimension, precision } = this.#facts;
    const checks = { sample, repair, dropUnusedVectors, precision, dimension };
    const call = { deadlineMs: Infinity, ...(signal && { signal }) };
    const shards = await this.#shards.onEach((server) => verifyServer(server, checks, call));
    const recalls = shards.flatMap(({ recall }) => (recall === undefined ? [] : [recall]));
    return {
      ok: shards.every(({ ok }) => ok),
      problems: shards.flatMap(({ problems }) => problems),
      recall: recalls.length > 0 ? recalls.reduce((sum, each) => sum + each, 0) / recalls.length : undefined,
      repaired: shards.every(({ repaired }) => repaired),
      ...(dropUnusedVectors && {
        droppedVectors: shards.reduce((sum, { droppedVectors = 0 }) => sum + droppedVectors, 0),
      }),
    };
  }

  async close(options: CloseOptions = {}): Promise<void> {
    const { signal } = resolve("close", closeOptions, options);
    await this.#writer.finish(signal);
    return this.#shards.close();
  }

  #scoped(scope: Filter): Searchable<Space> {
    const { space, location, metadataSchema } = this;
    const facts = this.#facts;
    const shards = this.#isSecured ? this.#shards.reading(withinScope(scope)) : this.#searching.shards;
    return {
      space,
      location,
      get dimension() {
        return facts.dimension;
      },
      ...(metadataSchema && { metadataSchema }),
      ...searchingWithin(scope, { ...this.#searching, shards }),
      scoped: (filter) => this.#scoped({ all: [scope, this.#rules.checked(filter)] }),
    };
  }
}

function merged<Key, Value>(maps: readonly ReadonlyMap<Key, Value>[]): Map<Key, Value> {
  return new Map(maps.flatMap((map) => [...map]));
}
