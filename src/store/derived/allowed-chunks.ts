import type { Filter } from "../../core/filter.js";
import type { Database } from "../../sqlite/database.js";
import { type Expression, expressionOf, matchingDocuments } from "../database/filters.js";
import { AllowedLabels, labelBits } from "./allowed-labels.js";
import { Changes, type Position } from "./changes.js";

const maxCachedFilters = 16;

/** Chunks read at once. Hundreds of thousands in one text would take megabytes, and again as numbers. */
const chunksPerRead = 8192;

interface ChunksRow {
  /** Two JSON arrays with a comma between them: labels, and the document of each. */
  readonly found: string;
}

// Return all rows as one text: fetching hundreds of thousands one by one takes several times as long.
const asJson = "SELECT json_group_array(label) || ',' || json_group_array(document) AS found";

const statements = (database: Database) => ({
  dataVersion: database.prepare<[], { readonly data_version: number }>("PRAGMA data_version"),
  chunksAfter: database.prepare<[number], ChunksRow>(`${asJson} FROM chunks WHERE label > ?`),
  // The index by document has both columns and no texts: a fiftieth of the pages.
  chunksByDocument: database.prepare<[document: number, label: number, limit: number], ChunksRow>(`
    ${asJson} FROM (
      SELECT label, document FROM chunks INDEXED BY chunks_by_document
      WHERE (document, label) > (?, ?) ORDER BY document, label LIMIT ?)`),
  lastDocument: database.prepare<[], { readonly id: number | null }>("SELECT max(id) AS id FROM documents"),
});

/** The chunks that filters allow, as of the last commit. Cached between searches while nothing changes. */
export class AllowedChunks {
  readonly #database: Database;
  readonly #changes: Changes;
  readonly #sql: ReturnType<typeof statements>;
  /** Allowed labels of each filter, the least recently used first. */
  readonly #cache = new Map<string, AllowedLabels>();
  /** Document by label; 0 for a deleted chunk. */
  #documents = new Uint32Array(0);
  #position: Position = { label: 0, removal: 0 };
  #version = 0;

  /** `database` must only read: SQLite's data version does not count a connection's own writes. */
  constructor(database: Database) {
    this.#database = database;
    this.#changes = new Changes(database);
    this.#sql = statements(database);
  }

  by(filter: Filter): AllowedLabels {
    const key = JSON.stringify(filter);
    const { data_version: version } = this.#sql.dataVersion.get()!;
    if (version !== this.#version) this.#cache.clear();
    this.#version = version;
    // In one transaction, so that documents and chunks belong to one snapshot.
    const allowed = this.#cache.get(key) ?? this.#database.transaction(() => this.#read(filter)).deferred();
    this.#cache.delete(key);
    this.#cache.set(key, allowed);
    if (this.#cache.size > maxCachedFilters) this.#cache.delete(this.#cache.keys().next().value!);
    return allowed;
  }

  #read(filter: Filter): AllowedLabels {
    this.#catchUp();
    const lastDocument = this.#sql.lastDocument.get()!.id ?? 0;
    const matching = this.#matching(expressionOf(filter), lastDocument);
    const documents = this.#documents;
    // No document has the id 0, so deleted chunks match nothing.
    matching[0] = 0;
    return new AllowedLabels(labelBits(this.#position.label, (label) => matching[documents[label]!] === 1));
  }

  /** 1 for each document that matches the expression, by id. */
  #matching(expression: Expression, lastDocument: number): Uint8Array {
    if ("field" in expression) {
      const { sql, parameters } = matchingDocuments(expression.field);
      const { ids } = this.#database.prepare<unknown[], { ids: string }>(sql).get(...parameters)!;
      const matching = new Uint8Array(lastDocument + 1);
      for (const id of JSON.parse(ids) as number[]) matching[id] = 1;
      return matching;
    }
    if ("not" in expression) return this.#matching(expression.not, lastDocument).map((match) => 1 - match);
    const isAnd = "all" in expression;
    const matching = new Uint8Array(lastDocument + 1).fill(isAnd ? 1 : 0);
    for (const part of isAnd ? expression.all : expression.any) {
      const also = this.#matching(part, lastDocument);
      for (let id = 0; id <= lastDocument; id++) {
        matching[id] = isAnd ? matching[id]! & also[id]! : matching[id]! | also[id]!;
      }
    }
    return matching;
  }

  /** Reads the chunks that were added and deleted since the last call. */
  #catchUp(): void {
    const head = this.#changes.head();
    if (head.label >= this.#documents.length) {
      const longer = new Uint32Array(Math.max(1024, Math.ceil(head.label * 1.25) + 1));
      longer.set(this.#documents);
      this.#documents = longer;
    }
    if (this.#position.label === 0) {
      let last: readonly [document: number, label: number] | undefined = [0, 0];
      while (last) last = this.#add(this.#sql.chunksByDocument.get(...last, chunksPerRead)!);
    } else if (head.label > this.#position.label) this.#add(this.#sql.chunksAfter.get(this.#position.label)!);
    for (const { label } of this.#changes.removalsAfter(this.#position.removal)) this.#documents[label] = 0;
    this.#position = head;
  }

  /** Returns the last chunk of the row; `undefined` when it has none. */
  #add({ found }: ChunksRow): readonly [document: number, label: number] | undefined {
    const [labels, documents] = JSON.parse(`[${found}]`) as readonly [readonly number[], readonly number[]];
    // Loop by index: it runs once, and an iterator allocates a pair for each entry until the loop is compiled.
    for (let index = 0; index < labels.length; index++) this.#documents[labels[index]!] = documents[index]!;
    return labels.length > 0 ? [documents.at(-1)!, labels.at(-1)!] : undefined;
  }
}
