import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { StoreProblem } from "../../../core/ports.js";
import type { Position } from "../../derived/changes.js";
import { indexProblem, type LoadedIndex, loadIndex, saveIndex } from "../../derived/saved-index.js";
import { readWhole } from "../../derived/whole-file.js";
import { type Columns, wordsFor } from "./column-index.js";

/** The manifest of saved columns. The sizes of the file's parts are in it, because the file holds arrays without headers. */
export interface ColumnFacts {
  readonly format: 1;
  /** Id of the store whose vectors these are. */
  readonly store: string;
  /** How far the file has read the store's changes. */
  readonly position: Position;
  readonly dimension: number;
  readonly rows: number;
  readonly values: number;
  readonly names: number;
  readonly bytesPerName: 1 | 2;
  /** CRC-32 of the whole file, at a tenth of the cost of its SHA-256, which only `verify` compares. */
  readonly crc32: number;
}

/** Saves the vectors of a store as they were at `position`, and makes the file the current one. */
export async function saveColumns(
  folder: string,
  store: string,
  position: Position,
  columns: Columns,
): Promise<ColumnFacts> {
  const { dimension, labels, scales, valuesAt, values, namesAt, bits, names } = columns;
  // Names come last, because they may be bytes and all else is words.
  const parts = [labels, scales, valuesAt, values, namesAt, bits, names].map(
    ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
  );
  const facts: ColumnFacts = {
    format: 1,
    store,
    position,
    dimension,
    rows: labels.length,
    values: values.length,
    names: names.length,
    bytesPerName: names instanceof Uint8Array ? 1 : 2,
    crc32: parts.reduce((sum, part) => crc32(part, sum), 0),
  };
  await saveIndex(folder, "flat", facts, async (path) => {
    const file = await open(path, "wx");
    try {
      for (const part of parts) await file.appendFile(part);
    } finally {
      await file.close();
    }
  });
  return facts;
}

/** Finds the saved columns of a folder, and checks their file's size. */
export function loadColumnFacts(folder: string, check: "checksums" | "sizes"): Promise<LoadedIndex<ColumnFacts>> {
  return loadIndex(folder, "flat", parseColumnFacts, check);
}

/** @throws Error where the file is not as it was written. */
export async function readColumns(path: string, facts: ColumnFacts): Promise<Columns> {
  const { dimension, rows, values, names, bytesPerName } = facts;
  const { buffer, byteLength } = await readWhole(path);
  const words = 2 * rows + (rows + 1) + values + (dimension + 1) + dimension * wordsFor(rows);
  if (byteLength !== 4 * words + names * bytesPerName) throw new Error(`${path} has ${byteLength} bytes`);
  if (crc32(new Uint8Array(buffer)) !== facts.crc32) throw new Error(`${path} was changed: its checksum differs`);
  let index = 0;
  const take = (length: number) => {
    const start = index;
    index += 4 * length;
    return [buffer, start, length] as const;
  };
  return {
    dimension,
    labels: new Uint32Array(...take(rows)),
    scales: new Float32Array(...take(rows)),
    valuesAt: new Uint32Array(...take(rows + 1)),
    values: new Float32Array(...take(values)),
    namesAt: new Uint32Array(...take(dimension + 1)),
    bits: new Uint32Array(...take(dimension * wordsFor(rows))),
    names: bytesPerName === 1 ? new Uint8Array(buffer, index, names) : new Uint16Array(buffer, index, names),
  };
}

/** The problem of a store's saved columns, if any. Reads all of them. */
export async function savedColumnsProblem(folder: string, store: string): Promise<StoreProblem | undefined> {
  return indexProblem("flat", await loadColumnFacts(folder, "checksums"), store);
}

/** Reads a manifest; `undefined` for another format. By hand, since making a schema takes longer than reading the file. */
function parseColumnFacts(manifest: object): ColumnFacts | undefined {
  const facts = manifest as Partial<ColumnFacts>;
  const { format, store, position, dimension, rows, values, names, bytesPerName, crc32: sum } = facts;
  const numbers = [position?.label, position?.removal, dimension, rows, values, names, sum];
  const areWhole = numbers.every((number) => Number.isSafeInteger(number) && number! >= 0);
  if (format !== 1 || typeof store !== "string" || !areWhole) return undefined;
  return bytesPerName === 1 || bytesPerName === 2 ? (facts as ColumnFacts) : undefined;
}
