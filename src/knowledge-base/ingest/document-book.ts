import type { RunEvent } from "../../core/pipeline.js";
import { NumberedStrings } from "../../text/tables/numbered-strings.js";

/** Possible outcomes of a document in a run. */
export type DocumentOutcome = Extract<RunEvent, { type: "document" }>["outcome"];

/** Outcomes in the order of their codes, which begin at 1. */
const outcomes = ["added", "updated", "unchanged", "deleted", "failed"] as const satisfies readonly DocumentOutcome[];

const wasRead = 0x80;
const outcomeMask = 0x7f;

/**
 * The outcome of each document of a run, in a few bytes beside its uri: a run may see millions, and objects for them would
 * take most of its memory.
 */
export class DocumentBook {
  readonly #uris = new NumberedStrings();
  /**
   * State of each document number: whether the document was read, and the code of its outcome, 0 if there is none yet.
   */
  #states = new Uint8Array(0);
  #chunks = new Uint32Array(0);
  /** Checksum of the document that was read last, by number. */
  #checksums = new Uint32Array(0);
  #read = 0;
  #settled = 0;

  /** Documents that were read. */
  get read(): number {
    return this.#read;
  }

  /** Documents with an outcome. */
  get settled(): number {
    return this.#settled;
  }

  noteRead(uri: string): void {
    const number = this.#numberOf(uri);
    if (this.#states[number]! & wasRead) return;
    this.#states[number]! |= wasRead;
    this.#read++;
  }

  /** Keeps the checksum of the document that was just read, and tells whether another was read under this uri before. */
  noteChecksum(uri: string, checksum: number): boolean {
    const number = this.#numberOf(uri);
    const before = this.#checksums[number]!;
    this.#checksums[number] = checksum;
    return before !== 0 && before !== checksum;
  }

  wasRead(uri: string): boolean {
    return (this.#stateOf(uri) & wasRead) !== 0;
  }

  isSettled(uri: string): boolean {
    return (this.#stateOf(uri) & outcomeMask) !== 0;
  }

  /** Sets the outcome, in place of an earlier one. */
  settle(uri: string, outcome: DocumentOutcome, chunks: number): void {
    const number = this.#numberOf(uri);
    const state = this.#states[number]!;
    if ((state & outcomeMask) === 0) this.#settled++;
    this.#states[number] = (state & wasRead) | (outcomes.indexOf(outcome) + 1);
    this.#chunks[number] = chunks;
  }

  /** Documents by outcome, and the chunks of all. */
  totals(): { readonly documents: Record<DocumentOutcome, number>; readonly chunks: number } {
    const documents = { added: 0, updated: 0, unchanged: 0, deleted: 0, failed: 0 };
    let chunks = 0;
    for (let number = 0; number < this.#uris.size; number++) {
      const outcome = outcomes[(this.#states[number]! & outcomeMask) - 1];
      if (!outcome) continue;
      documents[outcome]++;
      chunks += this.#chunks[number]!;
    }
    return { documents, chunks };
  }

  /** Documents that were read and have no outcome. */
  *unsettled(): Generator<string> {
    for (let number = 0; number < this.#uris.size; number++) {
      if (this.#states[number] === wasRead) yield this.#uris.text(number);
    }
  }

  #stateOf(uri: string): number {
    const number = this.#uris.numberOf(uri);
    return number === undefined ? 0 : this.#states[number]!;
  }

  #numberOf(uri: string): number {
    const number = this.#uris.add(uri);
    if (number >= this.#states.length) {
      const room = Math.max(256, Math.ceil(number * 1.5));
      const states = new Uint8Array(room);
      states.set(this.#states);
      const chunks = new Uint32Array(room);
      chunks.set(this.#chunks);
      const checksums = new Uint32Array(room);
      checksums.set(this.#checksums);
      [this.#states, this.#chunks, this.#checksums] = [states, chunks, checksums];
    }
    return number;
  }
}
