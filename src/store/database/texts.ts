import type { Database } from "../../sqlite/database.js";
import { decodeText, encodeText, type StoredText } from "./columns.js";

/** UTF-16 code units of a piece, of which the last one of a text may have fewer. */
const pieceLength = 8192;

/** Numbers that each document has for its pieces, more than the longest string needs. */
const piecesPerDocument = 2 ** 20;

const statements = (database: Database) => ({
  read: database
    .prepare<[number, number], StoredText>("SELECT text FROM texts WHERE piece BETWEEN ? AND ? ORDER BY piece")
    .pluck(),
  readNumbered: database.prepare<[number, number], { piece: number; text: StoredText }>(
    "SELECT piece, text FROM texts WHERE piece BETWEEN ? AND ? ORDER BY piece",
  ),
  delete: database.prepare<[number, number]>("DELETE FROM texts WHERE piece BETWEEN ? AND ?"),
  insert: database.prepare<[number, StoredText]>("INSERT INTO texts (piece, text) VALUES (?, ?)"),
});

/**
 * The texts of documents, in pieces. A chunk is a span of its document, whose text is stored once: reading a span reads one
 * or two pieces, however long the document is. Reading takes several statements, so it needs a transaction while others write.
 */
export class Texts {
  readonly #sql: ReturnType<typeof statements>;

  constructor(database: Database) {
    this.#sql = statements(database);
  }

  read(document: number): string {
    return this.#sql.read
      .all(...piecesOf(document))
      .map(decodeText)
      .join("");
  }

  slice(document: number, start: number, end: number): string {
    const [first] = piecesOf(document);
    const pieces = this.#sql.readNumbered.all(
      first + Math.floor(start / pieceLength),
      first + Math.floor(Math.max(start, end - 1) / pieceLength),
    );
    const parts = pieces.map(({ piece, text }) => {
      const before = (piece - first) * pieceLength;
      return decodeText(text).slice(Math.max(0, start - before), Math.max(0, end - before));
    });
    return parts.join("");
  }

  /** Writes a document's text in place of the one before. */
  write(document: number, text: string): void {
    const [first, last] = piecesOf(document);
    this.#sql.delete.run(first, last);
    for (let start = 0; start < text.length; start += pieceLength) {
      this.#sql.insert.run(first + start / pieceLength, encodeText(text.slice(start, start + pieceLength)));
    }
  }
}

/** The first and the last number that a document's pieces may have. */
function piecesOf(document: number): [first: number, last: number] {
  const first = document * piecesPerDocument;
  return [first, first + piecesPerDocument - 1];
}
