import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import type { Entry, getFileNameLowLevel, ZipFile } from "yauzl";
import { LoadError, asError } from "../../../core/errors.js";
import { wrongKindReason } from "../binary.js";
import type { FileOutcome, RowReader } from "../loader.js";
import { isHidden } from "../hidden-names.js";
import { bufferedBody } from "../buffered-body.js";

/** Files that the list of an archive may name; a longer list is not kept in memory. */
const maxEntries = 200_000;
/** First bytes of an archive that begins with a file. */
const fileSignature = 0x04034b50;
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
export const readZip: RowReader = async function* (
  file,
  { maxRowBytes, admit, readInner },
): AsyncGenerator<FileOutcome> {
  const { uri } = file;
  const bytes = await bufferedBody(file, maxRowBytes);
  const { fromBufferPromise, getFileNameLowLevel, validateFileName } = await import("yauzl");
  const unreadable = (cause: unknown) => {
    const reason = wrongKindReason(bytes, "ZIP") ?? `is damaged (${asError(cause).message}): pack it again`;
    return new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
  };
  // Names are decoded here: one that yauzl refuses would end its list.
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false }).catch((cause: unknown) => {
    throw unreadable(cause);
  });
  if (zip.entryCount > maxEntries) {
    throw new LoadError(
      "too-large",
      uri,
      `${uri} lists ${zip.entryCount} files, and more than ${maxEntries} are not read: unpack it`,
    );
  }
  if (zip.entryCount === 0 && bytes.readUInt32LE(0) === fileSignature) {
    throw unreadable("it has files, and its list names none");
  }
  const { entries, wrong, failure } = await readList(zip, bytes);
  const files = entries
    .map((entry) => {
      const path = nameOf(entry, getFileNameLowLevel);
      return { entry, path, wrongName: validateFileName(path) };
    })
    .filter(({ entry, path, wrongName }) => {
      return !path.endsWith("/") && !isLink(entry) && (wrongName !== null || !isHidden(path));
    });
  const unpackedBytes = files
    .filter(({ entry }) => entry.uncompressedSize <= maxRowBytes)
    .reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
  admit({ uri, packedBytes: bytes.length, unpackedBytes, files: files.length });
  for (const { entry, path, wrongName } of files) {
    const address = `${uri}#${path}`;
    if (wrongName !== null) {
      const message = `${address} has a name that no file of an archive may have (${wrongName}): rename it and pack it again`;
      yield { error: new LoadError("unreadable", address, message) };
      continue;
    }
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
  for (const { fileNameRaw, reason } of wrong) {
    const address = `${uri}#${decoded(fileNameRaw) ?? fileNameRaw.toString("latin1")}`;
    const message = `${address} is damaged in the list of the archive (${reason}): pack it again`;
    yield { error: new LoadError("unreadable", address, message) };
  }
  if (failure) throw unreadable(failure.cause);
};

/** Whether an entry is a Unix link, by the upper half of its attributes. Its content is the path of its target. */
function isLink({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;
}

/**
 * Many programs write names in UTF-8 without saying so; by the standard they would be in that of MS-DOS. Windows wrote
 * backslashes.
 */
function nameOf(entry: Entry, byStandard: typeof getFileNameLowLevel): string {
  const { fileNameRaw, generalPurposeBitFlag, extraFields } = entry;
  return decoded(fileNameRaw) ?? byStandard(generalPurposeBitFlag, fileNameRaw, extraFields, false);
}

function decoded(name: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(name).replaceAll("\\", "/");
  } catch {
    return undefined;
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

/** A file of an archive that its list describes wrongly. */
interface WrongEntry {
  readonly fileNameRaw: Buffer;
  readonly reason: string;
}

/** The list of an archive, up to where it cannot be followed. */
interface ZipList {
  readonly entries: readonly Entry[];
  readonly wrong: readonly WrongEntry[];
  /** Why it ends early. */
  readonly failure?: { readonly cause: unknown };
}

/** Size of an entry without its name, its extra fields and its comment: ZIP specification, 4.3.12. */
const headerBytes = 46;
const signature = 0x02014b50;

/** The reader's place in the list. yauzl ends at the first wrong entry; set behind that, it goes on. */
interface Cursor {
  readEntryCursor: number;
  entriesRead: number;
  emittedError: boolean;
}

/**
 * Reads the list of an archive. An entry that yauzl refuses, such as one with strong encryption or extra fields that are cut
 * off, costs no other as long as its own sizes say where the next one begins.
 */
async function readList(zip: ZipFile, bytes: Buffer): Promise<ZipList> {
  const entries: Entry[] = [];
  const wrong: WrongEntry[] = [];
  const cursor = zip as unknown as Cursor;
  for (;;) {
    const start = cursor.readEntryCursor;
    try {
      const entry = await nextEntry(zip);
      if (entry === undefined) return { entries, wrong };
      entries.push(entry);
    } catch (cause) {
      const header = bytes.subarray(start, start + headerBytes);
      if (header.length < headerBytes || header.readUInt32LE(0) !== signature)
        return { entries, wrong, failure: { cause } };
      const nameEnd = start + headerBytes + header.readUInt16LE(28);
      const end = nameEnd + header.readUInt16LE(30) + header.readUInt16LE(32);
      if (end > bytes.length) return { entries, wrong, failure: { cause } };
      wrong.push({ fileNameRaw: bytes.subarray(start + headerBytes, nameEnd), reason: asError(cause).message });
      cursor.readEntryCursor = end;
      cursor.entriesRead = entries.length + wrong.length;
      cursor.emittedError = false;
    }
  }
}

/** The next entry; undefined at the end of the list. */
function nextEntry(zip: ZipFile): Promise<Entry | undefined> {
  return new Promise<Entry | undefined>((resolve, reject) => {
    zip.once("entry", resolve);
    zip.once("end", () => resolve(undefined));
    zip.once("error", reject);
    zip.readEntry();
  }).finally(() => {
    for (const name of ["entry", "end", "error"]) zip.removeAllListeners(name);
  });
}
