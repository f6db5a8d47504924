import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import type { Entry, ZipFile } from "yauzl";
import { LoadError, asError } from "../../../core/errors.js";
import { wrongKindReason } from "../binary.js";
import type { FileOutcome, RowReader } from "../loader.js";
import { isHidden } from "../hidden-names.js";
import { heldWhole } from "../held-whole.js";

/** Files that the list of an archive may name; a longer list is not kept in memory. */
const maxEntries = 200_000;
/** Methods that programs pack by and Node cannot unpack, by their numbers in the ZIP specification, 4.4.5. */
const otherMethods: Readonly<Record<number, string>> = {
  9: "Deflate64",
  12: "bzip2",
  14: "LZMA",
  93: "Zstandard",
  95: "XZ",
  98: "PPMd",
};
/** Stored, and packed by Deflate. */
const readMethods: readonly number[] = [0, 8];

/**
 * Reads the files of a ZIP archive, each by its own reader, under its path in the archive. A file that is encrypted, damaged
 * or larger than allowed costs no other.
 */
export const readZip: RowReader = async function* (file, { maxRowBytes, readInner }): AsyncGenerator<FileOutcome> {
  const { uri } = file;
  const bytes = await heldWhole(file, maxRowBytes);
  const { fromBufferPromise } = await import("yauzl");
  const unreadable = (cause: unknown) => {
    const reason = wrongKindReason(bytes, "ZIP") ?? `is damaged (${asError(cause).message}): pack it again`;
    return new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
  };
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, strictFileNames: false }).catch((cause: unknown) => {
    throw unreadable(cause);
  });
  if (zip.entryCount > maxEntries) {
    throw new LoadError(
      "too-large",
      uri,
      `${uri} lists ${zip.entryCount} files, and more than ${maxEntries} are not read: unpack it`,
    );
  }
  const entries = zip.eachEntry();
  for (;;) {
    const next = await entries.next().catch((cause: unknown) => {
      throw unreadable(cause);
    });
    if (next.done) return;
    const entry = next.value;
    const path = nameOf(entry);
    if (path.endsWith("/") || isHidden(path) || isLink(entry)) continue;
    const address = `${uri}#${path}`;
    const reason = entry.isEncrypted()
      ? "is encrypted: unpack the archive"
      : entry.uncompressedSize > maxRowBytes
        ? `has ${entry.uncompressedSize} bytes, and files of more than ${maxRowBytes} bytes are passed over`
        : readMethods.includes(entry.compressionMethod)
          ? undefined
          : `is packed by ${otherMethods[entry.compressionMethod] ?? `method ${entry.compressionMethod}`}: unpack the archive, or pack it again by Deflate`;
    if (reason !== undefined) {
      yield { uri: address, skipped: `${address} ${reason}` };
      continue;
    }
    const content = await unpacked(zip, entry).catch(asError);
    if (content instanceof Error) {
      const message = `${address} is damaged in the archive (${content.message})`;
      yield { error: new LoadError("unreadable", address, message, { cause: content }) };
      continue;
    }
    const modified = entry.getLastModDate({ timezone: "UTC" });
    yield* readInner({
      name: path,
      bytes: content,
      metadata: { modified: modified.toISOString().replace(".000Z", "") },
    });
  }
};

/** Its content is the path that a link of Unix leads to, which the upper half of its attributes says. */
function isLink({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;
}

/** Many programs write names in UTF-8 without saying so; by the standard they would be in that of MS-DOS. */
function nameOf({ fileNameRaw, fileName }: Entry): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(fileNameRaw);
  } catch {
    return fileName;
  }
}

/** The stream ends with an error where a file has not the size that the list says, so no more than that is held. */
async function unpacked(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const stream: Readable = await zip.openReadStreamPromise(entry);
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  const content = Buffer.concat(pieces);
  if (crc32(content) !== entry.crc32 >>> 0) throw new Error("its checksum is another");
  return content;
}
