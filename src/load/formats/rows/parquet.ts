import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { FileMetaData } from "hyparquet";
import { LoadError, asError } from "../../../core/errors.js";
import { wrongKindReason } from "../binary.js";
import type { FileToLoad, Loader } from "../loader.js";
import { optionalPackage } from "../optional-package.js";
import { RowLines } from "./row-lines.js";

/** Rows that are unpacked at once, at most: a group of millions may take a few bytes. */
const maxGroupRows = 5_000_000;
/** Bytes that a page of a column may say that it unpacks to; programs write pages of one megabyte. */
const maxPageBytes = 250_000_000;

/**
 * Reads the rows of a Parquet file, each as that of a CSV. Columns of bytes are left out.
 *
 * @throws LoadError (`unreadable`) when it is damaged, (`too-large`) when it unpacks too far, (`unsupported`) without the
 *   package that reads it.
 */
export const loadParquet: Loader = async (file, signal, onProgress) => {
  const { uri, bytes } = file;
  if (Buffer.from(bytes.subarray(0, 4)).toString("latin1") !== "PAR1") {
    throw new LoadError("unreadable", uri, `${uri} ${wrongKindReason(bytes, "Parquet") ?? "is no Parquet file"}`);
  }
  const { parquetMetadata, parquetReadObjects } = await optionalPackage("hyparquet", file, () => import("hyparquet"));
  const whole = Uint8Array.from(bytes).buffer;
  const lines = new RowLines(uri);
  try {
    const metadata = parquetMetadata(whole);
    const compressors = await compressorsFor(metadata, file);
    let rowStart = 0;
    for (const { num_rows: count } of metadata.row_groups) {
      if (count > maxGroupRows) {
        throw new LoadError(
          "too-large",
          uri,
          `${uri} has groups of more than ${maxGroupRows} rows: write it with smaller ones`,
        );
      }
      signal.throwIfAborted();
      const rowEnd = rowStart + Number(count);
      for (const row of await parquetReadObjects({
        file: whole,
        metadata,
        rowStart,
        rowEnd,
        compressors,
        parsers: { dateFromDays },
      }))
        lines.add(row);
      rowStart = rowEnd;
      onProgress?.();
    }
  } catch (cause) {
    if (cause instanceof LoadError) throw cause;
    throw new LoadError(
      "unreadable",
      uri,
      `${uri} is a damaged Parquet file (${asError(cause).message}): write it again`,
      { cause },
    );
  }
  return { text: "", rows: [{ lines: lines.take() }] };
};

/** Days have no time: `2019-03-01`. */
function dateFromDays(days: number): string | undefined {
  const date = new Date(days * 86_400_000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/T.*/, "");
}

type Uncompress = (input: Uint8Array, sizeBytes: number) => Uint8Array;

/** Decompressors of Node, and those of a package if the file needs them. The reader itself handles Snappy. */
async function compressorsFor(metadata: FileMetaData, file: FileToLoad): Promise<Record<string, Uncompress>> {
  const codecs = new Set(
    metadata.row_groups.flatMap(({ columns }) => columns.map((column) => column.meta_data?.codec)),
  );
  const own = {
    GZIP: bounded((input, maxOutputLength) => new Uint8Array(gunzipSync(input, { maxOutputLength }))),
    BROTLI: bounded((input, maxOutputLength) => new Uint8Array(brotliDecompressSync(input, { maxOutputLength }))),
  };
  if (!codecs.has("ZSTD") && !codecs.has("LZ4") && !codecs.has("LZ4_RAW")) return own;
  const name = "hyparquet-compressors";
  const { decompressLz4, decompressLz4Raw, decompressZstd } = await optionalPackage(
    name,
    file,
    () => import("hyparquet-compressors"),
  );
  return {
    ...own,
    LZ4: bounded(decompressLz4),
    LZ4_RAW: bounded(decompressLz4Raw),
    // Without an output buffer, it would allocate as much memory as its own header says.
    ZSTD: bounded((input, sizeBytes) => decompressZstd(input, new Uint8Array(sizeBytes))),
  };
}

/** Refuses a page whose size, which the file itself says, no program would write. */
function bounded(uncompress: Uncompress): Uncompress {
  return (input, sizeBytes) => {
    if (sizeBytes > maxPageBytes) throw new Error(`a page of ${sizeBytes} bytes`);
    return uncompress(input, sizeBytes);
  };
}
