import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { LoadError, asError } from "../../../core/errors.js";
import { wrongKindReason } from "../binary.js";
import type { Loader } from "../loader.js";
import { optionalPackage } from "../optional-package.js";
import { RowLines } from "./row-lines.js";

/** Rows that are unpacked at once, at most: a group of millions may take a few bytes. */
const maxGroupRows = 5_000_000;

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
      for (const row of await parquetReadObjects({ file: whole, metadata, rowStart, rowEnd, compressors }))
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

/** Snappy is read by the package itself. */
const compressors = {
  GZIP: (input: Uint8Array, maxOutputLength: number) => new Uint8Array(gunzipSync(input, { maxOutputLength })),
  BROTLI: (input: Uint8Array, maxOutputLength: number) =>
    new Uint8Array(brotliDecompressSync(input, { maxOutputLength })),
};
