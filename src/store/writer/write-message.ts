import { OptionsError } from "../../core/errors.js";
import { checkWellFormed } from "../../core/metadata.js";
import type { StoreSettings, StoreWrite, WrittenDocument } from "../../core/ports.js";
import type { Chunk, Document, Span } from "../../core/types.js";
import { checkVector } from "../database/vectors.js";
import { TimeSlice } from "../derived/scheduling.js";

/** Start data of the writer's thread. */
export interface WriterStart {
  /** Folder that the caller named. */
  readonly location: string;
  /** Which of the stores in that folder this is. */
  readonly generation: string;
  readonly databasePath: string;
  /** `fileIdentity` of the database that was opened. */
  readonly identity: string | undefined;
  readonly folder: string;
  readonly space: string;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension?: number;
}

export type WriterCalls = {
  readonly write: { readonly argument: WriteMessage; readonly result: readonly WrittenDocument[] };
  readonly deleteDocuments: {
    readonly argument: readonly string[];
    readonly result: { readonly documents: number; readonly chunks: number };
  };
  /** Takes the write lock if it is free, and returns whether it is held. */
  readonly lock: { readonly argument: undefined; readonly result: void };
  readonly tryLock: { readonly argument: undefined; readonly result: boolean };
  readonly unlock: { readonly argument: undefined; readonly result: void };
  readonly close: { readonly argument: undefined; readonly result: void };
};

/** A write on its way to the writer's thread: a checked copy that nobody else can change. */
export interface WriteMessage {
  readonly vectorKeys: readonly string[];
  /** The vectors of the keys, concatenated. */
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly dimension: number | undefined;
  readonly documents: readonly DocumentMessage[];
  readonly tokenMargin: number | undefined;
  readonly settings: StoreSettings | undefined;
  readonly notes: ReadonlyMap<string, string> | undefined;
}

export interface DocumentMessage {
  /** The document without its text, as JSON. */
  readonly details: string;
  readonly text: string;
  readonly chunks: readonly Omit<Chunk, "text">[];
}

/**
 * Copies a write into one message. Chunks go without their text, which is a slice of their document's text.
 *
 * @param dimension length that the vectors must have; if unknown, that of the first one.
 * @throws StoreError `vector` or `dimension`, OptionsError `options` for a chunk that is not a slice of its document, and for a
 * note with half a surrogate pair.
 */
export async function encodeWrite(write: StoreWrite, dimension: number | undefined): Promise<WriteMessage> {
  const slice = new TimeSlice();
  const documents: DocumentMessage[] = [];
  for (const { document, chunks } of write.documents ?? []) {
    const withoutText: Omit<Chunk, "text">[] = [];
    for (const chunk of chunks) {
      checkChunk(chunk, document);
      const { id, documentId, start, end, context, tokens, parent } = chunk;
      withoutText.push({ id, documentId, start, end, context, tokens, ...(parent && { parent }) });
      if (slice.over) await slice.next();
    }
    const { text, ...details } = document;
    documents.push({ details: JSON.stringify(details), text, chunks: withoutText });
  }
  const given = write.vectors ?? new Map<string, Float32Array>();
  const vectorKeys = [...given.keys()];
  let vectors = new Float32Array(0);
  let end = 0;
  for (const [key, vector] of given) {
    dimension ??= vector.length;
    checkVector(vector, dimension, `text ${key}`);
    if (end === 0) vectors = new Float32Array(vectorKeys.length * dimension);
    vectors.set(vector, end);
    end += dimension;
    if (slice.over) await slice.next();
  }
  const { tokenMargin, settings, notes } = write;
  for (const [uri, note] of notes ?? []) {
    checkWellFormed(uri, "uri of a note", uri);
    checkWellFormed(uri, "note", note);
  }
  return { vectorKeys, vectors, dimension, documents, tokenMargin, settings, notes };
}

function checkChunk(chunk: Chunk, { uri, text }: Document): void {
  const { documentId, start, end, parent } = chunk;
  const refuse = (problem: string) => {
    throw new OptionsError("options", `${uri}: ${problem}`);
  };
  if (documentId !== uri) refuse(`the chunk at ${start} belongs to another document, ${documentId}`);
  if (!isSpanOf({ start, end }, text.length) || text.slice(start, end) !== chunk.text) {
    refuse(`the text of the chunk at ${start} to ${end} is not that slice of the document (${text.length} characters)`);
  }
  if (parent && !(isSpanOf(parent, text.length) && parent.start <= start && parent.end >= end)) {
    refuse(
      `the parent of the chunk at ${start} to ${end} is ${parent.start} to ${parent.end}, which does not contain it or exceeds the text (${text.length} characters)`,
    );
  }
}

function isSpanOf({ start, end }: Span, length: number): boolean {
  return Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end <= length;
}
