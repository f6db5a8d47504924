import { randomUUID } from "node:crypto";
import { type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeVector, encodeVector } from "../../database/columns.js";
import { graphRecord, type GraphShape, headerBytes } from "./graph-file.js";

/** About a megabyte of vectors of 1,024 dimensions, packed or unpacked at a time. */
const recordsPerBlock = 256;
const copyBytes = 1 << 20;

/** Whether the file of a graph of such vectors becomes smaller. */
export function isWorthPacking(vectors: readonly Float32Array[]): boolean {
  return vectors.every((vector) => encodeVector(vector).byteLength < vector.byteLength);
}

/** Saves a graph, which `write` writes as hnswlib does, packed to `path`. */
export async function savePacked(
  path: string,
  shape: GraphShape,
  write: (path: string) => Promise<void>,
): Promise<void> {
  // Named so that the next save removes it, should this one be cut off.
  const whole = path.replace(/\.bin$/, ".tmp");
  try {
    await write(whole);
    await packGraph(whole, path, shape);
  } finally {
    await rm(whole, { force: true });
  }
}

/**
 * Copies a graph file that hnswlib wrote, with each vector as a store encodes it: those of words are mostly zeros, and make
 * up nearly all of the file. Blocks of records stand behind their length, and each vector behind its own.
 */
async function packGraph(from: string, to: string, shape: GraphShape): Promise<void> {
  const { vectorAt, labelAt, bytes: recordBytes } = graphRecord(shape);
  await copyRecords(from, to, shape, async (source, records) => {
    const block = await readBytes(source, records * recordBytes);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < block.length; at += recordBytes) {
      const vector = new Float32Array(block.buffer, at + vectorAt, shape.dimension);
      const encoded = encodeVector(vector);
      const links = block.subarray(at, at + vectorAt);
      parts.push(lengthOf(encoded), links, encoded, block.subarray(at + labelAt, at + recordBytes));
    }
    const packed = Buffer.concat(parts);
    return Buffer.concat([lengthOf(packed), packed]);
  });
}

/** Writes the graph file from which `packGraph` made `from`, for this user alone: it may stand among the files of others. */
async function unpackGraph(from: string, to: string, shape: GraphShape): Promise<void> {
  const { vectorAt, labelAt, bytes: recordBytes } = graphRecord(shape);
  await copyRecords(
    from,
    to,
    shape,
    async (source, records) => {
      const packed = await readBytes(source, (await readBytes(source, 4)).readUInt32LE());
      const block = new Uint8Array(records * recordBytes);
      for (let [at, next] = [0, 0]; at < block.length; at += recordBytes) {
        const encodedAt = next + 4 + vectorAt;
        const encodedEnd = encodedAt + packed.readUInt32LE(next);
        block.set(packed.subarray(next + 4, encodedAt), at);
        new Float32Array(block.buffer, at + vectorAt, shape.dimension).set(
          decodeVector(packed.subarray(encodedAt, encodedEnd)),
        );
        next = encodedEnd + recordBytes - labelAt;
        block.set(packed.subarray(encodedEnd, next), at + labelAt);
      }
      return block;
    },
    0o600,
  );
}

/**
 * Calls `read` with the path of a whole copy of a packed graph, which is removed afterwards. It is made among the temporary
 * files, or beside the graph where they have no room; the copies of processes that were killed are removed before.
 */
export async function withUnpackedGraph<Result>(
  path: string,
  shape: GraphShape,
  read: (path: string) => Promise<Result>,
): Promise<Result> {
  const name = `graph-${randomUUID()}.tmp`;
  const copies = [join(tmpdir(), `citewell-${process.pid}-${name}`), join(path, "..", name)];
  await removeAbandonedCopies(tmpdir());
  try {
    const whole = await unpackGraph(path, copies[0]!, shape).then(
      () => copies[0]!,
      () => unpackGraph(path, copies[1]!, shape).then(() => copies[1]!),
    );
    return await read(whole);
  } finally {
    for (const copy of copies) await rm(copy, { force: true });
  }
}

/** A process in another container that shares the folder seems to have ended; its copy is in use for seconds. */
const abandonedAfterMs = 600_000;

/** Removes copies whose processes have ended. Those beside a graph are removed when it is next saved. */
async function removeAbandonedCopies(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = /^citewell-(\d+)-graph-[\w-]+\.tmp$/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const copy = join(folder, name);
    const { mtimeMs } = await stat(copy).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > abandonedAfterMs) await rm(copy, { force: true }).catch(() => {});
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process cannot be signalled, but it runs.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Copies the header of a graph file, its records as `convert` returns them, and the rest as it is. */
async function copyRecords(
  from: string,
  to: string,
  { count }: GraphShape,
  convert: (source: FileHandle, records: number) => Promise<Uint8Array>,
  mode?: number,
): Promise<void> {
  const source = await open(from, "r");
  try {
    const target = await open(to, "wx", mode);
    try {
      await target.writeFile(await readBytes(source, headerBytes));
      for (let done = 0; done < count; done += recordsPerBlock) {
        await target.writeFile(await convert(source, Math.min(recordsPerBlock, count - done)));
      }
      const rest = Buffer.allocUnsafeSlow(copyBytes);
      for (;;) {
        const { bytesRead } = await source.read(rest, 0, rest.length, null);
        if (bytesRead === 0) break;
        await target.writeFile(rest.subarray(0, bytesRead));
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function readBytes(source: FileHandle, length: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await source.read(bytes, done, length - done, null);
    if (bytesRead === 0) throw new Error("The graph's file ends early");
    done += bytesRead;
  }
  return bytes;
}

function lengthOf({ length }: Uint8Array): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}
