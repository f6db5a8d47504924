import { posix } from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { LoadError, asError } from "../../../core/errors.js";
import type { FileOutcome, InnerFile, RowFile, RowOptions, RowReader } from "../loader.js";
import { bufferedBody } from "../buffered-body.js";
import { isHidden } from "../hidden-names.js";

/** A compressed archive of no more bytes is unpacked once to learn its size, before the first of its files is read. */
const maxHeldBytes = 64_000_000;
/** Unpacked bytes between two checks of an archive's size. */
const stepBytes = 1_000_000;

/**
 * Reads the files of a tar archive, each by its own reader, under its path in the archive, as they come. A file that is
 * compressed by gzip alone, such as a log, is read by the ending before that of gzip.
 */
export const readTar: RowReader = async function* (
  file,
  { maxRowBytes, admit, readInner },
): AsyncGenerator<FileOutcome> {
  const { uri } = file;
  const { first, pieces } = await peeked(unzipped(file, admit));
  if (!isTar(first)) {
    if (!/\.t?gz$/i.test(uri)) throw new LoadError("unreadable", uri, `${uri} is no tar archive by its first bytes`);
    const name = plainName(uri).replace(/\.gz$/i, "");
    yield* readInner({ name, bytes: await bufferedBody({ uri, chunks: pieces }, maxRowBytes) });
    return;
  }
  for await (const found of members(pieces, uri, maxRowBytes)) {
    if ("bytes" in found) yield* readInner(found);
    else yield found;
  }
};

/** A header has the sum of its bytes in octal, its own place counted as spaces; archives of the seventh Unix have no other mark. */
function isTar(first: Uint8Array): boolean {
  if (first.length < 512) return false;
  const [start, end] = [148, 156];
  const stored = Number.parseInt(Buffer.from(first.subarray(start, end)).toString("latin1"), 8);
  const sum = first
    .subarray(0, 512)
    .reduce((total, byte, index) => total + (index >= start && index < end ? 0x20 : byte), 0);
  return sum === stored;
}

type Admit = RowOptions["admit"];

/** The bytes of an archive, unpacked if it is compressed, as far as `admit` lets it be. */
async function* unzipped({ uri, chunks }: RowFile, admit: Admit): AsyncGenerator<Buffer> {
  const { first, pieces } = await peeked(chunks);
  if (first[0] !== 0x1f || first[1] !== 0x8b) {
    yield* pieces;
    return;
  }
  const held: Buffer[] = [];
  let heldBytes = 0;
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    held.push(next.value);
    heldBytes += next.value.length;
    if (heldBytes > maxHeldBytes) break;
  }
  const isWhole = heldBytes <= maxHeldBytes;
  if (isWhole) {
    try {
      for await (const _ of gunzipped({ uri, pieces: held }, (archive) =>
        admit({ ...archive, packedBytes: heldBytes }),
      ));
    } catch (error) {
      // A damaged archive is read up to the damage.
      if (error instanceof LoadError && error.code === "too-large") throw error;
    }
  }
  const all = async function* () {
    yield* held;
    yield* pieces;
  };
  yield* gunzipped({ uri, pieces: all() }, isWhole ? () => {} : admit);
}

/** Calls `admit` repeatedly with the bytes unpacked so far and the packed bytes they came from. */
async function* gunzipped(
  { uri, pieces }: { readonly uri: string; readonly pieces: Iterable<Buffer> | AsyncIterable<Buffer> },
  admit: Admit,
): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  pipeline(pieces, gunzip, () => {});
  let unpackedBytes = 0;
  let admittedBytes = 0;
  const check = () => {
    admittedBytes = unpackedBytes;
    admit({ uri, packedBytes: gunzip.bytesWritten, unpackedBytes, files: 0 });
  };
  try {
    for await (const piece of gunzip) {
      unpackedBytes += (piece as Buffer).length;
      if (unpackedBytes - admittedBytes > stepBytes) check();
      yield piece as Buffer;
    }
    check();
  } catch (cause) {
    if (cause instanceof LoadError) throw cause;
    throw new LoadError(
      "unreadable",
      uri,
      `${uri} is damaged (${asError(cause).message}): the files before were read`,
      { cause },
    );
  }
}

/** At least the first 512 bytes, and all pieces, including these bytes. */
async function peeked(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  while (first.length < 512) {
    const next = await iterator.next();
    if (next.done) break;
    first = Buffer.concat([first, next.value]);
  }
  const pieces = async function* (): AsyncGenerator<Buffer> {
    try {
      if (first.length > 0) yield first;
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield Buffer.from(next.value);
    } finally {
      await iterator.return?.();
    }
  };
  return { first, pieces: pieces() };
}

/** The last part of an address, as a name. */
function plainName(uri: string): string {
  const last = posix.basename(uri.split("#").at(-1)!);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

type Unread = Extract<FileOutcome, { skipped: string } | { error: LoadError }>;

/** The files of an archive in order. The parser is given a piece once those of the piece before are taken. */
async function* members(
  pieces: AsyncIterable<Buffer>,
  uri: string,
  maxRowBytes: number,
): AsyncGenerator<InnerFile | Unread> {
  const { Parser } = await import("tar");
  const ready: (InnerFile | Unread)[] = [];
  let failure: Error | undefined;
  const parser = new Parser({
    strict: true,
    gzip: false,
    onReadEntry: (entry) => {
      const { path, size, type, mtime } = entry;
      if (!/^(?:Old|Contiguous)?File$/.test(type)) {
        entry.resume();
      } else if (path.split("/").includes("..")) {
        const address = `${uri}#${path}`;
        const message = `${address} leads out of the archive: rename it and pack it again`;
        ready.push({ error: new LoadError("unreadable", address, message) });
        entry.resume();
      } else if (isHidden(path)) {
        entry.resume();
      } else if (size > maxRowBytes) {
        const address = `${uri}#${path}`;
        ready.push({
          uri: address,
          skipped: `${address} has ${size} bytes, and files of more than ${maxRowBytes} bytes are passed over`,
        });
        entry.resume();
      } else {
        const held: Buffer[] = [];
        entry.on("data", (piece: Buffer) => held.push(Buffer.from(piece)));
        const metadata = mtime && { modified: mtime.toISOString().replace(".000Z", "Z") };
        entry.on("end", () => ready.push({ name: path, bytes: Buffer.concat(held), ...(metadata && { metadata }) }));
      }
    },
  });
  parser.on("error", (error: Error) => (failure ??= error));
  parser.on("warn", (_code: string, message: string | Error) => (failure ??= asError(message)));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  for await (const piece of pieces) {
    if (!parser.write(piece)) await settled();
    yield* ready.splice(0);
    if (failure) break;
  }
  if (!failure) {
    parser.end();
    await settled();
  }
  yield* ready.splice(0);
  if (failure) {
    const message = `${uri} is damaged (${failure.message}): the files before were read`;
    throw new LoadError("unreadable", uri, message, { cause: failure });
  }
}
