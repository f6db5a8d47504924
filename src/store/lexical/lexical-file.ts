import { type FileHandle, open } from "node:fs/promises";
import { z } from "zod";
import type { Bm25Content, Bm25Snapshot } from "./bm25-index.js";

/** Number of entries of each part of the file. They are in its manifest, because the file holds arrays without headers. */
export const LexicalFileFacts = z.object({
  slots: z.int().nonnegative(),
  terms: z.int().nonnegative(),
  /** 16-bit numbers of all postings. */
  postingNumbers: z.int().nonnegative(),
  vocabularyBytes: z.int().nonnegative(),
});
export type LexicalFileFacts = z.output<typeof LexicalFileFacts>;

const bytesPerCall = 4 << 20;

export function lexicalFileFacts({ labels, vocabulary, postings }: Bm25Snapshot): LexicalFileFacts {
  return {
    slots: labels.length,
    terms: vocabulary.ends.length,
    postingNumbers: postings.length,
    vocabularyBytes: vocabulary.bytes.length,
  };
}

/** Writes the arrays of 32-bit numbers, then the postings, then the bytes of the vocabulary. */
export async function writeLexicalFile(path: string, content: Bm25Snapshot): Promise<void> {
  const { labels, lengths, vocabulary, postings } = content;
  const file = await open(path, "wx");
  try {
    const byTerm = [vocabulary.ends, postings.counts, postings.lengths, postings.lastSlots];
    for (const array of [labels, lengths, ...byTerm]) await writeAll(file, array);
    for (const piece of postings.numbers()) await writeAll(file, piece);
    await writeAll(file, vocabulary.bytes);
  } finally {
    await file.close();
  }
}

/** Reads what `writeLexicalFile` wrote. The caller has checked that the bytes are unchanged. */
export async function readLexicalFile(path: string, facts: LexicalFileFacts): Promise<Bm25Content> {
  const file = await open(path, "r");
  try {
    let at = 0;
    const into = async <Numbers extends Uint32Array | Uint16Array | Uint8Array>(array: Numbers): Promise<Numbers> => {
      const bytes = bytesOf(array);
      for (let done = 0; done < bytes.length;) {
        const { bytesRead } = await file.read(bytes, done, Math.min(bytesPerCall, bytes.length - done), at + done);
        if (bytesRead === 0) throw new Error(`${path} ends early`);
        done += bytesRead;
      }
      at += bytes.length;
      return array;
    };
    const labels = await into(new Uint32Array(facts.slots));
    const lengths = await into(new Uint32Array(facts.slots));
    const ends = await into(new Uint32Array(facts.terms));
    const postings = {
      counts: await into(new Uint32Array(facts.terms)),
      lengths: await into(new Uint32Array(facts.terms)),
      lastSlots: await into(new Uint32Array(facts.terms)),
      numbers: await into(new Uint16Array(facts.postingNumbers)),
    };
    const bytes = await into(new Uint8Array(facts.vocabularyBytes));
    return { labels, lengths, vocabulary: { bytes, ends }, postings };
  } finally {
    await file.close();
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

async function writeAll(file: FileHandle, array: ArrayBufferView): Promise<void> {
  const bytes = bytesOf(array);
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, Math.min(bytesPerCall, bytes.length - done))).bytesWritten;
  }
}
