import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { StoreError } from "../../core/errors.js";

/** Where the bytes of a segment are. */
export interface SegmentBytes {
  /** File that holds them; undefined in memory. */
  readonly path?: string;
  /** A copy of `length` bytes. @throws StoreError `damaged` where they cannot be read. */
  readonly read: (start: number, length: number) => Uint8Array<ArrayBuffer>;
  readonly close: () => void;
}

/** Takes the bytes of a segment, in order. The bytes are used again after the call. */
export interface SegmentSink {
  readonly write: (bytes: Uint8Array) => void;
}

/** Bytes in memory that grow. */
export class MemoryBytes implements SegmentBytes, SegmentSink {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

  write(bytes: Uint8Array): void {
    const end = this.#length + bytes.length;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.ceil(1.5 * end));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = end;
  }

  get length(): number {
    return this.#length;
  }

  read(start: number, length: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(start, start + length);
  }

  close(): void {
    this.#bytes = new Uint8Array(0);
  }
}

/**
 * The bytes of a file, read on demand. The file may be deleted meanwhile. Reading is synchronous, as
 * that of the database: most of a list is in the cache of the operating system, and a task for a thread would take longer.
 */
export function fileBytes(path: string): SegmentBytes {
  const file = openSync(path, "r");
  return {
    path,
    read(start, length) {
      const bytes = new Uint8Array(length);
      try {
        for (let done = 0; done < length;) {
          const read = readSync(file, bytes, done, length - done, start + done);
          if (read === 0) throw new Error("it ends early");
          done += read;
        }
      } catch (cause) {
        throw damaged(path, `cannot be read at byte ${start}`, cause);
      }
      return bytes;
    },
    close: () => closeSync(file),
  };
}

/** Writes a new file in pieces of a quarter of a megabyte. Whatever happens, `close` must be called. */
export function fileSink(path: string): SegmentSink & { readonly flush: () => void; readonly close: () => void } {
  const file = openSync(path, "wx");
  const pending = new Uint8Array(1 << 18);
  let length = 0;
  const put = (bytes: Uint8Array) => {
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done);
  };
  const flush = () => {
    put(pending.subarray(0, length));
    length = 0;
  };
  return {
    write(bytes) {
      if (length + bytes.length > pending.length) flush();
      if (bytes.length > pending.length) return put(bytes);
      pending.set(bytes, length);
      length += bytes.length;
    },
    flush,
    close: () => closeSync(file),
  };
}

export function damaged(path: string | undefined, problem: string, cause?: unknown): StoreError {
  return new StoreError("damaged", `${path ?? "A segment in memory"} ${problem}`, { ...(path && { path }), cause });
}
