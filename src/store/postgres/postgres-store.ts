import type { z } from "zod";
import { OptionsError, StoreError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { resolve } from "../../core/options.js";
import type {
  CloseOptions,
  DocumentWrite,
  Retriever,
  Searchable,
  Store,
  StoreCounts,
  StoreSizes,
  StoreSettings,
  StoreWrite,
  Verification,
  VerifyOptions,
  WrittenDocument,
} from "../../core/ports.js";
import type { Metadata } from "../../core/types.js";
import { closeOptions, verifyOptions } from "../call-options.js";
import type { Conversations } from "../conversations/conversations.js";
import type { KeepsConversations } from "../conversations/keeps-conversations.js";
import { ScopeRules } from "../scope-rules.js";
import { verifyServer } from "./checking/verifying.js";
import { columnText } from "../../postgres/column-text.js";
import type { Server, Session } from "../../postgres/server.js";
import { type Settings, withSettings } from "../../postgres/local-settings.js";
import type { Reader, StoreConnection } from "../../postgres/store-connection.js";
import type { ResolvedPostgresOptions } from "./options.js";
import { postgresConversations } from "./postgres-conversations.js";
import { readSizes } from "./store-sizes.js";
import { readCounts, readDocumentWithChunks, readNotes } from "./reading.js";
import { isEverything, isRestricted, scopeSettings } from "./row-level-security.js";
import type { MetaName } from "./schema.js";
import { searchingWithin, type SearchingParts } from "./searching/scoped-searching.js";
import { FilterSizes } from "./searching/matching-documents.js";
import { WordCounts } from "./searching/word-statistics.js";
import { StoreFacts } from "./store-facts.js";
import { DocumentWriter } from "./writing/document-writer.js";
import { storedVectors } from "./writing/writing.js";

export interface PostgresStoreParts<Space extends string> {
  readonly connection: StoreConnection;
  /** Address of the server. */
  readonly url: string;
  /** Facts as they were when it was opened. */
  readonly meta: ReadonlyMap<MetaName, string>;
  readonly space: Space;
  /** How each node of a cluster is to search, where that is not what its connections have. */
  readonly nodeSettings: Settings;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension: number | undefined;
  /** Whether policies decide which rows its user sees; only looked up with `rowLevelSecurity`. */
  readonly restricted: boolean;
  readonly options: ResolvedPostgresOptions;
}

/** A store in one schema of a PostgreSQL database or a Citus cluster. Any number of processes read and write at the same time. */
export class PostgresStore<const Space extends string> implements Store<Space>, KeepsConversations {
  readonly space: Space;
  readonly location: string;
  readonly metadataSchema?: z.ZodType<Metadata>;
  readonly dense: Retriever;
  readonly lexical: Retriever;
  readonly similarWords: NonNullable<Store["similarWords"]>;
  readonly document: Store["document"];
  readonly documentInfo: Store["documentInfo"];
  readonly documents: Store["documents"];
  readonly hits: Store["hits"];
  readonly #connection: StoreConnection;
  readonly #url: string;
  readonly #schema: string;
  readonly #facts: StoreFacts;
  readonly #writer: DocumentWriter;
  readonly #rules: ScopeRules;
  readonly #searching: SearchingParts;
  readonly #isSecured: boolean;
  readonly #isRestricted: boolean;

  constructor({
    connection,
    url,
    space,
    meta,
    nodeSettings,
    dimension,
    restricted,
    options,
  }: PostgresStoreParts<Space>) {
    const { schema, precision, metadata, rowLevelSecurity } = options;
    const isSecured = rowLevelSecurity !== false;
    const requireScope = options.requireScope || isSecured;
    this.#connection = connection;
    this.#url = url;
    this.#schema = schema;
    this.space = space;
    this.location = connection.server.location;
    if (metadata) this.metadataSchema = metadata as unknown as z.ZodType<Metadata>;
    const facts = new StoreFacts({ connection, schema: `"${schema}"`, meta, space, precision, nodeSettings });
    this.#facts = facts;
    this.#writer = new DocumentWriter({ connection, facts, dimension, options });
    this.#rules = new ScopeRules({ location: this.location, requireScope, metadataSchema: metadata });
    this.#isSecured = isSecured;
    this.#isRestricted = restricted;
    const counts = isSecured ? undefined : new WordCounts();
    const parts = { facts, rules: this.#rules, dimension, counts, sizes: new FilterSizes() };
    this.#searching = { ...parts, read: this.#reader() };
    const searching = searchingWithin(undefined, this.#searching);
    const { dense, lexical, similarWords, document, documentInfo, documents, hits } = searching;
    this.similarWords = similarWords!;
    [this.dense, this.lexical, this.hits] = [dense, lexical, hits];
    [this.document, this.documentInfo, this.documents] = [document, documentInfo, documents];
  }

  /** For other tables in the same schema. */
  get database(): { readonly server: Server; readonly url: string; readonly schema: string } {
    return { server: this.#connection.server, url: this.#url, schema: this.#schema };
  }

  conversations(): Conversations {
    return postgresConversations(this.#connection.server, this.#schema, this.#isSecured);
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
    const found = await this.#connection.read((session) => storedVectors(session, keys));
    return new Map(keys.flatMap((key) => (found.has(columnText(key)) ? [[key, found.get(columnText(key))!]] : [])));
  }

  async notes(uris: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#connection.read((session) => readNotes(session, uris));
  }

  async documentWithChunks(uri: string): Promise<DocumentWrite | undefined> {
    this.#rules.effective(undefined, undefined);
    return this.#connection.read((session) => readDocumentWithChunks(session, uri));
  }

  async counts(): Promise<StoreCounts> {
    return this.#connection.read(readCounts);
  }

  async sizes(): Promise<StoreSizes> {
    return this.#connection.read((session) => readSizes(session, this.#schema, this.#facts.isDistributed));
  }

  async verify(options: VerifyOptions = {}): Promise<Verification> {
    const { sample, repair, dropUnusedVectors, signal } = resolve("verify", verifyOptions, options);
    if (dropUnusedVectors && !repair) {
      throw new OptionsError("options", "verify: dropUnusedVectors changes the store, so it needs repair: true");
    }
    const checks = { sample, repair, dropUnusedVectors, facts: this.#facts };
    const call = { deadlineMs: Infinity, ...(signal && { signal }) };
    if (await this.#connection.read(isRestricted, call)) {
      throw notTheOwner("verify: what is to be checked", this.location);
    }
    const { droppedVectors = 0, ...verified } = await verifyServer(this.#connection.server, checks, call);
    return { ...verified, ...(dropUnusedVectors && { droppedVectors }) };
  }

  async close(options: CloseOptions = {}): Promise<void> {
    const { signal } = resolve("close", closeOptions, options);
    await this.#writer.finish(signal);
    return this.#connection.close();
  }

  #reader(settings: Settings = {}): Reader {
    return this.#connection.reader((work) => withSettings({ ...this.#facts.nodeSettings, ...settings }, work));
  }

  #scoped(scope: Filter): Searchable<Space> {
    const { space, location, metadataSchema } = this;
    const facts = this.#facts;
    const isAll = this.#isSecured && isEverything(scope);
    if (isAll && this.#isRestricted) throw notTheOwner("All documents, as ingesting has to see them,", location);
    const read =
      this.#isSecured && !isAll ? this.#reader(scopeSettings(scope, facts.secured ?? "all")) : this.#searching.read;
    return {
      space,
      location,
      get dimension() {
        return facts.dimension;
      },
      ...(metadataSchema && { metadataSchema }),
      ...searchingWithin(scope, { ...this.#searching, read }),
      scoped: (filter) => this.#scoped({ all: [scope, this.#rules.checked(filter)] }),
    };
  }
}

function notTheOwner(what: string, path: string): StoreError {
  const message =
    `${what} can be seen by the owner of the tables alone, since they have row-level security: open the store with the ` +
    "owner's address";
  return new StoreError("scope", message, { path });
}
