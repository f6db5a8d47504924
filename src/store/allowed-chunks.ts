import type { Filter } from "../filter.js";
import { Changes, type Position } from "./changes.js";
import type { Database, Statement } from "../sqlite/database.js";
import { documentsThatMeet, type Expression, expressionOf } from "./filter-sql.js";

/** Chunks that a search may find, by label. */
export interface Allowed {
  readonly size: number;
  readonly has: (label: number) => boolean;
  /** Rising. */
  readonly labels: () => Generator<number>;
}

const mostKept = 16;

/** Which chunks filters let through, as of the last commit. Kept from one search to the next while nothing changes. */
export class AllowedChunks {
  readonly #database: Database;
  readonly #changes: Changes;
  readonly #dataVersion: Statement<[], { readonly data_version: number }>;
  readonly #documentsAfter: Statement<[number], { readonly found: string }>;
  readonly #allDocuments: Statement<[], { readonly found: string }>;
  readonly #lastDocument: Statement<[], { readonly id: number | null }>;
  /** By filter, the longest unused first. */
  readonly #kept = new Map<string, Allowed>();
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
    const found = "SELECT json_group_array(label) || ',' || json_group_array(document) AS found FROM chunks";
    this.#documentsAfter = database.prepare(`${found} WHERE label > ?`);
    // Without a condition SQLite reads the index by document, which holds both and no texts: a fiftieth of the pages.
    this.#allDocuments = database.prepare(found);
    this.#lastDocument = database.prepare("SELECT max(id) AS id FROM documents");
  }

  by(filter: Filter): Allowed {
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

  #read(filter: Filter): Allowed {
    this.#follow();
    const lastDocument = this.#lastDocument.get()!.id ?? 0;
    const met = this.#documentsMeeting(expressionOf(filter), lastDocument);
    const documents = this.#documents;
    const flags = new Uint8Array(this.#position.label + 1);
    let size = 0;
    for (let label = 1; label < flags.length; label++) {
      const document = documents[label]!;
      if (document > 0 && met[document] === 1) {
        flags[label] = 1;
        size++;
      }
    }
    return {
      size,
      has: (label) => flags[label] === 1,
      *labels() {
        for (let label = flags.indexOf(1); label >= 0; label = flags.indexOf(1, label + 1)) yield label;
      },
    };
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
    if (head.label > this.#position.label) {
      const { label: after } = this.#position;
      const { found } = after === 0 ? this.#allDocuments.get()! : this.#documentsAfter.get(after)!;
      const [labels, documents] = JSON.parse(`[${found}]`) as [number[], number[]];
      for (const [at, label] of labels.entries()) this.#documents[label] = documents[at]!;
    }
    for (const { label } of this.#changes.removalsAfter(this.#position.removal)) this.#documents[label] = 0;
    this.#position = head;
  }
}
