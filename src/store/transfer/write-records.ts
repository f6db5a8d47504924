import { StoreError } from "../../core/errors.js";
import type { DocumentWrite, Store } from "../../core/ports.js";
import { type DocumentState, isStoredIn, stateOf, type TransferRecord } from "./records.js";

/** Progress of a transfer so far. */
export interface TransferCounts {
  /** Documents that were written. */
  readonly copied: number;
  /** Documents that the target had already, in the same state. */
  readonly unchanged: number;
  /** Chunks of the documents that were written. */
  readonly chunks: number;
}

/** A write of so many vectors or characters is worth a transaction. */
const [batchVectors, batchCharacters, batchDocuments] = [1024, 4_000_000, 200];

/**
 * Writes records to a store, several documents in one transaction. Documents that it has in the same state are left out, so
 * that a transfer that was interrupted goes on.
 *
 * @throws StoreError `space` when the records are of another vector space.
 * @internal
 */
export async function writeRecords(
  target: Store,
  records: AsyncIterable<TransferRecord>,
  onProgress: (counts: TransferCounts) => void,
): Promise<TransferCounts> {
  let [copied, unchanged, chunks] = [0, 0, 0];
  let [vectors, documents, notes] = emptyBatch();
  let characters = 0;
  const flush = async () => {
    if (vectors.size + documents.length === 0) return;
    await target.write({ vectors, documents, notes });
    copied += documents.length;
    chunks += documents.reduce((sum, document) => sum + document.chunks.length, 0);
    [vectors, documents, notes] = emptyBatch();
    characters = 0;
    onProgress({ copied, unchanged, chunks });
  };
  let known: { readonly of: DocumentState; readonly isStored: boolean } | undefined;
  for await (const record of records) {
    if (record.kind === "store") {
      await begin(target, record);
      continue;
    }
    // The records of a document come one behind the other.
    const { uri } = record.of;
    if (known?.of.uri !== uri) known = { of: record.of, isStored: await isStoredIn(target, record.of) };
    if (known.isStored) {
      if (record.kind === "document") unchanged++;
      continue;
    }
    if (record.kind === "vectors") for (const [key, vector] of record.vectors) vectors.set(key, vector);
    else {
      documents.push(record.write);
      if (record.note !== undefined) notes.set(uri, record.note);
      characters += record.write.document.text.length;
    }
    const isFull = vectors.size >= batchVectors || characters >= batchCharacters || documents.length >= batchDocuments;
    if (isFull) await flush();
  }
  await flush();
  return { copied, unchanged, chunks };
}

/**
 * Compares what a store holds with records: documents by their fingerprints, vectors bit by bit. Names what differs.
 * @internal
 */
export async function differencesFrom(target: Store, records: AsyncIterable<TransferRecord>): Promise<string[]> {
  const differing = new Map<string, string>();
  for await (const record of records) {
    if (record.kind === "store") continue;
    const { uri, fingerprint, source } = record.of;
    if (record.kind === "vectors") {
      const found = await target.knownVectors([...record.vectors.keys()]);
      const isEqual = [...record.vectors].every(([key, vector]) => sameBits(vector, found.get(key)));
      if (!isEqual) differing.set(uri, `${uri}: a vector differs or is missing`);
      continue;
    }
    const write = await target.documentWithChunks?.(uri);
    const state = write && stateOf(write);
    if (state?.fingerprint !== fingerprint || state.source !== source) {
      differing.set(uri, `${uri}: the document ${write ? "differs" : "is missing"}`);
    }
  }
  return [...differing.values()];
}

/** Settings that the target has are kept, so that a second source does not change how its documents are cut. */
async function begin(target: Store, record: TransferRecord & { readonly kind: "store" }): Promise<void> {
  if (record.space !== target.space) {
    throw new StoreError(
      "space",
      `The store at ${target.location} holds vectors of ${target.space}, these are of ${record.space}. Name another target`,
    );
  }
  const settings = Object.keys(target.settings ?? {}).length === 0 ? record.settings : {};
  await target.write({ settings, tokenMargin: record.tokenMargin });
}

function emptyBatch(): [Map<string, Float32Array>, DocumentWrite[], Map<string, string>] {
  return [new Map(), [], new Map()];
}

function sameBits(one: Float32Array, other: Float32Array | undefined): boolean {
  return other !== undefined && Buffer.compare(bytesOf(one), bytesOf(other)) === 0;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
