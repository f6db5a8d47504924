import { open } from "node:fs/promises";

/** Bytes that are read at once. The system refuses more than 2 GB, which four million chunks have. */
const maxPieceBytes = 1 << 26;

/** All bytes of a file, in memory of their own. */
export async function readWhole(path: string, bytesPerPiece = maxPieceBytes): Promise<Uint8Array<ArrayBuffer>> {
  const file = await open(path, "r");
  try {
    const bytes = new Uint8Array((await file.stat()).size);
    for (let done = 0; done < bytes.length;) {
      const { bytesRead } = await file.read(bytes, done, Math.min(bytesPerPiece, bytes.length - done));
      if (bytesRead === 0) throw new Error(`${path} ends at byte ${done}`);
      done += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}
