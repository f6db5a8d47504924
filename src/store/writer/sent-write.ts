import { OptionsError } from "../../errors.js";
import type { DocumentWrite, StoreSettings, StoreWrite } from "../../ports.js";
import type { Chunk, Document, Span } from "../../types.js";
import { TimeSlice } from "../time-slice.js";
import { checkVector } from "../vectors.js";

/** A write on its way to the writer's thread: checked, and a copy that nobody else can change. */
export interface SentWrite {
  readonly vectorKeys: readonly string[];
  /** The vectors of the keys, one behind the other. */
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly dimension: number | undefined;
  readonly documents: readonly SentDocument[];
  readonly tokenMargin: number | undefined;
  readonly settings: StoreSettings | undefined;
}

interface SentDocument {
  /** All of the document but its text, as JSON, which is how it is stored. */
  readonly details: string;
  readonly text: string;
  readonly chunks: readonly Omit<Chunk, "text">[];
  readonly cutBy: string | undefined;
}

/**
 * Copies a write into one message. Chunks go without their text, which is a slice of their document's.
 *
 * @param dimension length that the vectors must have; of the first one where it is not known.
 * @throws StoreError `vector` or `dimension`, OptionsError `options` for a chunk that is not a slice of its document.
 */
export async function sentWrite(write: StoreWrite, dimension: number | undefined): Promise<SentWrite> {
  const slice = new TimeSlice();
  const documents: SentDocument[] = [];
  for (const { document, chunks, cutBy } of write.documents ?? []) {
    const sentChunks: Omit<Chunk, "text">[] = [];
    for (const chunk of chunks) {
      checkChunk(chunk, document);
      const { id, documentId, start, end, context, tokens, parent } = chunk;
      sentChunks.push({ id, documentId, start, end, context, tokens, ...(parent && { parent }) });
      if (slice.over) await slice.next();
    }
    const { text, ...details } = document;
    documents.push({ details: JSON.stringify(details), text, chunks: sentChunks, cutBy });
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
  const { tokenMargin, settings } = write;
  return { vectorKeys, vectors, dimension, documents, tokenMargin, settings };
}

/** The write that was sent. */
export function receivedWrite({ dimension = 0, ...sent }: SentWrite): StoreWrite {
  const { vectorKeys, vectors, documents, tokenMargin, settings } = sent;
  return {
    vectors: new Map(vectorKeys.map((key, at) => [key, vectors.subarray(at * dimension, (at + 1) * dimension)])),
    documents: documents.map(receivedDocument),
    ...(tokenMargin !== undefined && { tokenMargin }),
    ...(settings && { settings }),
  };
}

function receivedDocument({ details, text, chunks, cutBy }: SentDocument): DocumentWrite {
  const document = { ...(JSON.parse(details) as Omit<Document, "text">), text };
  return {
    document,
    chunks: chunks.map((chunk) => ({ ...chunk, text: text.slice(chunk.start, chunk.end) })),
    ...(cutBy !== undefined && { cutBy }),
  };
}

function isSpanAround(parent: Span, { start, end }: Span, length: number): boolean {
  const whole = Number.isInteger(parent.start) && Number.isInteger(parent.end);
  return whole && parent.start >= 0 && parent.start <= start && parent.end >= end && parent.end <= length;
}

function checkChunk(chunk: Chunk, document: Document): void {
  const { documentId, start, end, text, parent } = chunk;
  if (documentId !== document.uri) {
    throw new OptionsError("options", `${document.uri}: a chunk at ${start} says it belongs to ${documentId}`);
  }
  const whole = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end <= document.text.length;
  if (!whole || document.text.slice(start, end) !== text) {
    throw new OptionsError(
      "options",
      `${document.uri}: the chunk at ${start} to ${end} is not that slice of the text (${document.text.length} units)`,
    );
  }
  if (parent && !isSpanAround(parent, chunk, document.text.length)) {
    throw new OptionsError(
      "options",
      `${document.uri}: the parent of the chunk at ${start} to ${end} is ${parent.start} to ${parent.end}, which does not hold it or is beyond the text (${document.text.length} units)`,
    );
  }
}
