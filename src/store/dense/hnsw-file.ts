import { open } from "node:fs/promises";

/** Shape of the graph a file must hold. */
export interface GraphShape {
  readonly dimension: number;
  readonly m: number;
  readonly count: number;
}

const headerBytes = 96;

/**
 * Walks through a file as hnswlib writes it (`HierarchicalNSW::saveIndex` in hnswalg.h: a header, one record of fixed
 * length an element, then each element's upper links with their length before them) and throws unless it holds a graph
 * of this shape to its last byte. Needed because the library reports success for a write that the disk refused, and
 * reads vectors of another length without a word.
 */
export async function checkGraphFile(path: string, { dimension, m, count }: GraphShape): Promise<void> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const header = Buffer.alloc(headerBytes);
    await file.read(header, 0, headerBytes, 0);
    const number = (at: number) => Number(header.readBigUInt64LE(at));
    const recordBytes = number(24);
    // Links of the lowest layer with their count, the vector, the label.
    const expected = 4 + 2 * m * 4 + dimension * 4 + 8;
    if (size < headerBytes || number(16) !== count || recordBytes !== expected || number(72) !== m) {
      throw new Error(
        `${path} holds ${number(16)} elements of ${recordBytes} bytes instead of ${count} of ${expected} (M ${m})`,
      );
    }
    let at = headerBytes + count * recordBytes;
    const tail = Buffer.alloc(Math.max(0, size - at));
    await file.read(tail, 0, tail.length, at);
    const start = at;
    for (let element = 0; element < count; element++) {
      if (at + 4 > size) throw new Error(`${path} ends at byte ${size}, before the links of element ${element}`);
      at += 4 + tail.readUInt32LE(at - start);
    }
    if (at !== size) throw new Error(`${path} has ${size} bytes instead of ${at}`);
  } finally {
    await file.close();
  }
}
