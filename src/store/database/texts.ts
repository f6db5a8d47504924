import type { Database } from "../../sqlite/database.js";
import { decodeText, encodeText, type StoredText } from "./columns.js";

/** UTF-16 code units of a piece; the last piece of a text may have fewer. */
const pieceLength = 8192;

/** Piece numbers reserved for each document, more than the longest string needs. */
const piecesPerDocument = 2 ** 20;

const statements = (database: Database) => ({
  read: database
    .prepare<[number, number], StoredText>("SELECT text FROM texts WHERE piece BETWEEN ? AND ? ORDER BY piece")
    .pluck(),
  readPiece: database.prepare<[number], StoredText>("SELECT text FROM texts WHERE piece = ?").pluck(),
  // In pure ASCII a code unit is a byte, so a part can be cut out before it becomes a string. `length` ends at a NUL.
  readPart: database
    .prepare<[start: number, length: number, piece: number], string | null>(
      `SELECT CASE WHEN typeof(text) = 'text' AND length(text) = octet_length(text)
         THEN CAST(substr(CAST(text AS BLOB), ? + 1, ?) AS TEXT) END FROM texts WHERE piece = ?`,
    )
    .pluck(),
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

  /**
   * A span alone, where possible without making a string of the rest of its piece: that would be a quarter of a search's garbage.
   */
  slice(document: number, start: number, end: number): string {
    const { readPart, readPiece } = this.#sql;
    return sliceOf(document, start, end, (piece, from, to) => {
      const part = readPart.get(from, to - from, piece);
      if (part !== null) return part;
      const text = readPiece.get(piece);
      return text === undefined ? undefined : decodeText(text).slice(from, to);
    });
  }

  /** The same for many spans in one transaction: neighbours share the piece that they lie in. */
  slicer(): (document: number, start: number, end: number) => string {
    let read: { readonly piece: number; readonly text: string } | undefined;
    return (document, start, end) =>
      sliceOf(document, start, end, (piece, from, to) => {
        if (read?.piece !== piece) {
          const text = this.#sql.readPiece.get(piece);
          if (text === undefined) return undefined;
          read = { piece, text: decodeText(text) };
        }
        return read.text.slice(from, to);
      });
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

/** Joins a span from the parts of its pieces. `partOf` returns undefined where there is no such piece. */
function sliceOf(
  document: number,
  start: number,
  end: number,
  partOf: (piece: number, from: number, to: number) => string | undefined,
): string {
  const [first] = piecesOf(document);
  let found = "";
  for (let before = start - (start % pieceLength); before <= Math.max(start, end - 1); before += pieceLength) {
    const from = Math.max(0, start - before);
    const part = partOf(first + before / pieceLength, from, Math.max(from, Math.min(pieceLength, end - before)));
    // The end of the text, also for a span that was altered to go far beyond it.
    if (part === undefined) break;
    found += part;
  }
  return found;
}

/** The first and the last number that a document's pieces may have. */
function piecesOf(document: number): [first: number, last: number] {
  const first = document * piecesPerDocument;
  return [first, first + piecesPerDocument - 1];
}
