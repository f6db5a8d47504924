import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { StoreError } from "../../core/errors.js";
import { decodeLine, type EndRecord, type FileRecord } from "./record-lines.js";
import type { TransferRecord } from "./records.js";

/** A record with its place in a file. */
export interface PlacedRecord {
  readonly record: FileRecord;
  readonly sha256: string;
  /** Offset just behind its line break. */
  readonly endBytes: number;
}

/** The records of a file up to the first line that is not whole, without an error there: an interrupted export ends so. */
export async function* soundRecords(path: string): AsyncGenerator<PlacedRecord, { readonly badLine?: number }> {
  let line = 0;
  let endBytes = 0;
  for await (const bytes of lines(path)) {
    line++;
    endBytes += bytes.byteLength + 1;
    const decoded = decodeLine(bytes.toString("utf8"));
    if (!decoded) return { badLine: line };
    yield { ...decoded, endBytes };
  }
  return {};
}

/**
 * The records of a whole file. Every line is checked before it is handed out, and at the end that none is missing.
 *
 * @throws StoreError `damaged` at the first line that is not as it was written, or at the end of a file that was cut off.
 */
export async function* fileRecords(path: string, signal?: AbortSignal): AsyncGenerator<TransferRecord> {
  const digest = createHash("sha256");
  let [documents, chunks, line] = [0, 0, 0];
  const damaged = (problem: string) =>
    new StoreError(
      "damaged",
      `${path} ${problem}. What came before is sound and is kept: export again, and import that`,
      {
        path,
      },
    );
  const reading = soundRecords(path);
  for (;;) {
    signal?.throwIfAborted();
    const next = await reading.next();
    line++;
    if (next.done) {
      throw damaged(
        next.value.badLine === undefined ? "ends before its last record" : `is damaged at line ${next.value.badLine}`,
      );
    }
    const { record, sha256 } = next.value;
    if (line === 1 && record.kind !== "store") throw damaged("does not begin as an export of citewell");
    if (record.kind === "end") {
      const found: EndRecord = { kind: "end", documents, chunks, lines: digest.digest("hex") };
      if (JSON.stringify(found) !== JSON.stringify(record)) throw damaged("lacks lines, or has them in another order");
      return;
    }
    digest.update(sha256);
    if (record.kind === "document") {
      documents++;
      chunks += record.write.chunks.length;
    }
    yield record;
  }
}

/** The lines of a file as bytes; what stands behind the last line break is one too. `readline` also splits at U+2028. */
async function* lines(path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const read of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let index = read.indexOf(10); index >= 0; index = read.indexOf(10, from)) {
      yield Buffer.concat([...parts, read.subarray(from, index)]);
      parts = [];
      from = index + 1;
    }
    if (from < read.length) parts.push(read.subarray(from));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
