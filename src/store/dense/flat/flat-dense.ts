import { asError } from "../../../core/errors.js";
import { type SparseVector, vectorDecoder } from "../../database/columns.js";
import type { Changes, JoinedVectorRow, Position } from "../../derived/changes.js";
import { IndexUpdater } from "../../derived/index-updater.js";
import { isCurrent } from "../../derived/saved-index.js";
import { inSlices } from "../../derived/scheduling.js";
import { type Ranking, TopK } from "../../derived/top-k.js";
import type { DenseConditions, DenseIndex } from "../dense-index.js";
import { ColumnBuilder, maxColumns } from "./column-builder.js";
import { type ColumnFacts, loadColumnFacts, readColumns, saveColumns } from "./column-file.js";
import { ColumnIndex } from "./column-index.js";
import { FlatIndex } from "./flat-index.js";
import { createRowBlock } from "./row-block.js";
import { sparseBlock } from "./sparse-block.js";

/** 256 vectors of 1,024 dimensions are a megabyte, which takes about a millisecond to read. */
const rowsPerRead = 256;

/** Fewer changes than these are read from the database as fast as from a file. */
const minUnsavedChanges = 256;
/** Share of the saved vectors that may have changed since. The whole file is written again. */
const unsavedShare = 1 / 16;
/** Building more would take hundreds of megabytes. Only stores that refuse a graph are so large. */
const maxSavedRows = 50_000;

export interface FlatDenseOptions {
  readonly folder: string;
  /** Id of the store: files of another store are not used. */
  readonly store: string;
  readonly onWarning: (message: string) => void;
}

interface Saved {
  readonly facts: ColumnFacts;
  readonly columns: ColumnIndex;
}

const nothing: Ranking = { labels: new Float64Array(0), scores: new Float64Array(0) };

/**
 * Exact search on this thread. Vectors that are mostly zeros are saved by component, which is read thirty times as fast as
 * they are from the database. Of others nothing is saved: they take as long to read from a file.
 */
export async function flatDense(changes: Changes, options: FlatDenseOptions): Promise<DenseIndex> {
  const { folder, store } = options;
  const saved = await loadSaved(changes, options);
  let savedAt: Pick<ColumnFacts, "position" | "rows"> | undefined = saved?.facts;
  /** The vectors that the file lacks. */
  let index: FlatIndex | undefined;
  let isSparse: boolean | undefined = saved && true;
  let isOpening = true;
  let isSearched = false;
  const decoded = vectorDecoder();
  const updater = new IndexUpdater<JoinedVectorRow>(
    changes,
    {
      rowsPerRead,
      read: (label, limit) => changes.storedVectorsAfter(label, limit),
      add: ({ label, data, start, end }) => {
        const vector = decoded(data, start, end);
        // The model decides whether vectors are mostly zeros, so the first one speaks for all.
        isSparse ??= !(vector instanceof Float32Array);
        index ??= new FlatIndex(saved?.facts.dimension ?? vector.length, isSparse ? sparseBlock : createRowBlock);
        index.add(label, vector);
      },
      remove: (label) => {
        saved?.columns.remove(label);
        index?.remove(label);
      },
    },
    saved?.facts.position,
  );
  const unsavedChanges = ({ label, removal }: Position) =>
    savedAt ? label - savedAt.position.label + removal - savedAt.position.removal : label;
  const isDue = () =>
    unsavedChanges(changes.head()) > Math.max(minUnsavedChanges, unsavedShare * (savedAt?.rows ?? 0)) &&
    changes.chunkCount() <= maxSavedRows;
  return {
    failure: () => undefined,
    search: async (vector, count, { allowed, upTo }: DenseConditions = {}) => {
      isSearched = true;
      await updater.catchUp(upTo);
      const found = await Promise.all([
        saved?.columns.search(vector, count, allowed) ?? nothing,
        index?.search(vector, count, allowed) ?? nothing,
      ]);
      return bestOf(count, found);
    },
    // A question probably follows the opening. Where none came yet, as in an ingest, nothing that is written is read back.
    prepare: async () => {
      if (isOpening || isSearched) await updater.catchUp();
      isOpening = false;
    },
    // The file is made from the database: a command that searches no vectors does not read them all before it ends.
    catchUp: async () => {},
    // A search that had to read the rows of a store without a file saves them for the next one. It leaves later changes.
    isUnsaved: () => savedAt === undefined && isSparse === true && isDue(),
    save: async () => {
      if (isSparse === false || !isDue()) return;
      const position = changes.head();
      const builder = await inSlices(collectVectors(changes, position.label));
      isSparse = builder !== undefined;
      if (builder && builder.rows > 0) {
        savedAt = await saveColumns(folder, store, position, await inSlices(builder.columns()));
      }
    },
    close: () => updater.stop(),
  };
}

/** The saved vectors if they are intact, of this store, and not ahead of it. */
async function loadSaved(changes: Changes, options: FlatDenseOptions): Promise<Saved | undefined> {
  const { folder, store, onWarning } = options;
  for (let isLastAttempt = false; ; isLastAttempt = true) {
    const loaded = await loadColumnFacts(folder, "sizes");
    let refusal = loaded.outcome === "refused" ? loaded.reason : undefined;
    if (loaded.outcome === "loaded") {
      const { facts, filePath } = loaded;
      if (!isCurrent(facts, store, changes.head())) return undefined;
      try {
        return { facts, columns: new ColumnIndex(await readColumns(filePath, facts)) };
      } catch (error) {
        refusal = asError(error).message;
        // Another process may have replaced the file meanwhile: the second attempt finds the new one.
        if (!isLastAttempt) continue;
      }
    }
    if (refusal !== undefined) {
      onWarning(`The saved vectors cannot be used (${refusal}): they are read from the store again`);
    }
    return undefined;
  }
}

/** The vectors up to a label, read in short steps; `undefined` where they are not mostly zeros. */
function* collectVectors(changes: Changes, last: number): Generator<void, ColumnBuilder | undefined> {
  const decoded = vectorDecoder();
  let builder: ColumnBuilder | undefined;
  for (let label = 0; label < last;) {
    let read = 0;
    for (const row of changes.storedVectorsAfter(label, rowsPerRead)) {
      read++;
      ({ label } = row);
      if (label > last) break;
      const vector: Float32Array | SparseVector = decoded(row.data, row.start, row.end);
      if (!builder && (vector instanceof Float32Array || vector.length > maxColumns)) return undefined;
      builder ??= new ColumnBuilder(vector.length);
      builder.add(label, vector);
    }
    if (read < rowsPerRead) break;
    yield;
  }
  return builder;
}

function bestOf(count: number, rankings: readonly Ranking[]): Ranking {
  const [first = nothing, ...others] = rankings.filter(({ labels }) => labels.length > 0);
  if (others.length === 0) return first;
  const all = [first, ...others];
  const best = new TopK(
    Math.min(
      count,
      all.reduce((sum, { labels }) => sum + labels.length, 0),
    ),
  );
  for (const { labels, scores } of all) {
    for (let index = 0; index < labels.length; index++) best.offer(labels[index]!, scores[index]!);
  }
  return best.ranking();
}
