import type { Filter } from "../filter.js";
import { AllowedLabels, labelBits } from "./allowed-labels.js";
import { Changes, type Position } from "./changes.js";
import type { Database, Statement } from "../sqlite/database.js";
import { documentsThatMeet, type Expression, expressionOf } from "./filter-sql.js";

const mostKept = 16;

/** Chunks of one reading: read all at once, hundreds of thousands would take megabytes as text, and again as numbers. */
const chunksPerReading = 8192;

interface ChunksRow {
  /** Two JSON arrays with a comma between them: labels, and the document of each. */
  readonly found: string;
}

/** Which chunks filters let through, as of the last commit. Kept from one search to the next while nothing changes. */
export class AllowedChunks {
  readonly #database: Database;
  readonly #changes: Changes;
  readonly #dataVersion: Statement<[], { readonly data_version: number }>;
  readonly #chunksAfter: Statement<[number], ChunksRow>;
  readonly #chunksByDocument: Statement<[document: number, label: number, limit: number], ChunksRow>;
  readonly #lastDocument: Statement<[], { readonly id: number | null }>;
  /** By filter, the longest unused first. */
  readonly #kept = new Map<string, AllowedLabels>();
  /** Document by label; 0 for a chunk that is gone. */
  #documents = new Uint32Array(0);
  #position: Position = { label: 0, removal: 0 };
  #version = 0;

  /** `database` only reads: what it writes itself would not be noticed. */
  constructor(database: Database) {
    this.#database = database;
    this.#changes = new Changes(database);
    this.#dataVersion = database.prepare("PRAGMA data_version");
    // As one text: handing over hundreds of thousands of rows one by one takes several times as long.
    const found = "SELECT json_group_array(label) || ',' || json_group_array(document) AS found";
    this.#chunksAfter = database.prepare(`${found} FROM chunks WHERE label > ?`);
    // The index by document holds both and no texts: a fiftieth of the pages.
    this.#chunksByDocument = database.prepare(`
      ${found} FROM (
        SELECT label, document FROM chunks INDEXED BY chunks_by_document
        WHERE (document, label) > (?, ?) ORDER BY document, label LIMIT ?)`);
    this.#lastDocument = database.prepare("SELECT max(id) AS id FROM documents");
  }

  by(filter: Filter): AllowedLabels {
    const key = JSON.stringify(filter);
    const { data_version: version } = this.#dataVersion.get()!;
    if (version !== this.#version) this.#kept.clear();
    this.#version = version;
    // In one transaction, so that documents and chunks are those of one moment.
    const allowed = this.#kept.get(key) ?? this.#database.transaction(() => this.#read(filter)).deferred();
    this.#kept.delete(key);
    this.#kept.set(key, allowed);
    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value!);
    return allowed;
  }

  #read(filter: Filter): AllowedLabels {
    this.#follow();
    const lastDocument = this.#lastDocument.get()!.id ?? 0;
    const met = this.#documentsMeeting(expressionOf(filter), lastDocument);
    const documents = this.#documents;
    // No document is 0, so that what is gone meets nothing.
    met[0] = 0;
    return new AllowedLabels(labelBits(this.#position.label, (label) => met[documents[label]!] === 1));
  }

  /** 1 for each document that meets the expression, by id. */
  #documentsMeeting(expression: Expression, lastDocument: number): Uint8Array {
    const inner = (one: Expression) => this.#documentsMeeting(one, lastDocument);
    if ("field" in expression) {
      const { sql, parameters } = documentsThatMeet(expression.field);
      const { ids } = this.#database.prepare<unknown[], { ids: string }>(sql).get(...parameters)!;
      const met = new Uint8Array(lastDocument + 1);
      for (const id of JSON.parse(ids) as number[]) met[id] = 1;
      return met;
    }
    if ("not" in expression) return inner(expression.not).map((met) => 1 - met);
    if ("all" in expression) {
      return expression.all.reduce(
        (met, one) => {
          const also = inner(one);
          return met.map((before, id) => before & also[id]!);
        },
        new Uint8Array(lastDocument + 1).fill(1),
      );
    }
    return expression.any.reduce(
      (met, one) => {
        const also = inner(one);
        return met.map((before, id) => before | also[id]!);
      },
      new Uint8Array(lastDocument + 1),
    );
  }

  /** Takes over what became of the chunks since the last time. */
  #follow(): void {
    const head = this.#changes.head();
    if (head.label >= this.#documents.length) {
      const longer = new Uint32Array(Math.max(1024, Math.ceil(head.label * 1.25) + 1));
      longer.set(this.#documents);
      this.#documents = longer;
    }
    if (this.#position.label === 0) this.#takeOverAll();
    else if (head.label > this.#position.label) this.#takeOver(this.#chunksAfter.get(this.#position.label)!);
    for (const { label } of this.#changes.removalsAfter(this.#position.removal)) this.#documents[label] = 0;
    this.#position = head;
  }
  #takeOverAll(): void {
    let last: readonly [document: number, label: number] | undefined = [0, 0];
    while (last) last = this.#takeOver(this.#chunksByDocument.get(...last, chunksPerReading)!);
  }

  /** Returns the last of them, `undefined` when there are none. */
  #takeOver({ found }: ChunksRow): readonly [document: number, label: number] | undefined {
    const [labels, documents] = JSON.parse(`[${found}]`) as readonly [readonly number[], readonly number[]];
    // By index: this runs once, and iterating makes a pair for each until the loop is compiled.
    for (let at = 0; at < labels.length; at++) this.#documents[labels[at]!] = documents[at]!;
    return labels.length > 0 ? [documents.at(-1)!, labels.at(-1)!] : undefined;
  }
}
