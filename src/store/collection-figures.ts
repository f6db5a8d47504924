import { openForReading } from "../sqlite/database.js";
import { decodeVector } from "./database/columns.js";
import { databasePathIn } from "./database/store-folder.js";
import { generationFolder, readPointer } from "./database/store-pointer.js";

/** A chunk as a map of the collection shows it. */
export interface SampledChunk {
  readonly uri: string;
  /** Line of the document at which it starts; null where documents have no lines. */
  readonly line: number | null;
  readonly vector: Float32Array;
}

/** Data for charts of a collection. The store keeps no times, so the order of writing stands in for them. */
export interface CollectionFigures {
  /** Tokens of each chunk, in the order of writing. */
  readonly chunkTokens: readonly number[];
  /** Chunks of each document that has any, in the order in which the documents got the first of them. */
  readonly chunksOfDocuments: readonly number[];
  /** Chunks spread evenly over the order of writing. */
  readonly sample: readonly SampledChunk[];
}

/** Reads the figures of the store in `folder`, which must exist, with at most `sampleSize` chunks and their vectors. */
export function collectionFigures(folder: string, sampleSize: number): CollectionFigures {
  const database = openForReading(databasePathIn(generationFolder(folder, readPointer(folder).current)));
  try {
    const labels = database.prepare<[], number>("SELECT label FROM chunks ORDER BY label").pluck().all();
    const chunk = database.prepare<[number], { uri: string; line: number | null; data: Buffer }>(`
      SELECT uri, line, data FROM chunks
      JOIN documents ON documents.id = chunks.document JOIN vectors ON vectors.id = chunks.vector WHERE label = ?`);
    return {
      chunkTokens: database.prepare<[], number>("SELECT tokens FROM chunks ORDER BY label").pluck().all(),
      chunksOfDocuments: database
        .prepare<[], number>("SELECT count(*) FROM chunks GROUP BY document ORDER BY min(label)")
        .pluck()
        .all(),
      sample: evenSample(labels, sampleSize).map((label) => {
        const { uri, line, data } = chunk.get(label)!;
        return { uri, line, vector: decodeVector(data) };
      }),
    };
  } finally {
    database.close();
  }
}

/** At most `size` of the labels, spread evenly over them. */
export function evenSample(labels: readonly number[], size: number): number[] {
  const length = Math.min(size, labels.length);
  return Array.from({ length }, (_, index) => labels[Math.floor((index * labels.length) / length)]!);
}
