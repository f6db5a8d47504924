import { type FileHandle, open } from "node:fs/promises";
import { z } from "zod";
import { TimeSlice } from "../time-slice.js";
import type { Bm25Content, Bm25Snapshot } from "./bm25-index.js";

/** How many entries each part of the file has: kept in its manifest, as the file itself is bare arrays. */
export const LexicalFileFacts = z.object({
  slots: z.int().nonnegative(),
  terms: z.int().nonnegative(),
  postings: z.int().nonnegative(),
});
export type LexicalFileFacts = z.output<typeof LexicalFileFacts>;

const wordsPerLine = 4096;
const bytesPerWrite = 4 << 20;

export function lexicalFileFacts({ labels, postingCounts, postingCount }: Bm25Snapshot): LexicalFileFacts {
  return { slots: labels.length, terms: postingCounts.length, postings: postingCount };
}

/** Writes labels, lengths, counts and postings as arrays of 32-bit numbers, then the words as lines of JSON arrays. */
export async function writeLexicalFile(path: string, content: Bm25Snapshot): Promise<void> {
  const file = await open(path, "wx");
  try {
    const { labels, lengths, postingCounts } = content;
    for (const array of [labels, lengths, postingCounts]) await writeAll(file, bytesOf(array));
    for (const piece of content.postings()) await writeAll(file, bytesOf(piece));
    let line: string[] = [];
    const flush = async () => {
      if (line.length > 0) await writeAll(file, Buffer.from(`${JSON.stringify(line)}\n`));
      line = [];
    };
    for (const word of content.vocabulary) {
      line.push(word);
      if (line.length === wordsPerLine) await flush();
    }
    await flush();
  } finally {
    await file.close();
  }
}

/** Reads what `writeLexicalFile` wrote; the caller has checked that the bytes are those. */
export async function readLexicalFile(path: string, facts: LexicalFileFacts): Promise<Bm25Content> {
  const file = await open(path, "r");
  try {
    let at = 0;
    const numbers = async (count: number) => {
      const array = new Uint32Array(count);
      const bytes = new Uint8Array(array.buffer);
      for (let done = 0; done < bytes.length;) {
        const { bytesRead } = await file.read(bytes, done, Math.min(bytesPerWrite, bytes.length - done), at + done);
        if (bytesRead === 0) throw new Error(`${path} ends early`);
        done += bytesRead;
      }
      at += bytes.length;
      return array;
    };
    const labels = await numbers(facts.slots);
    const lengths = await numbers(facts.slots);
    const postingCounts = await numbers(facts.terms);
    const postings = await numbers(facts.postings);
    const slice = new TimeSlice();
    const vocabulary: string[] = [];
    for await (const line of file.readLines({ start: at, autoClose: false })) {
      for (const word of JSON.parse(line) as string[]) vocabulary.push(word);
      if (slice.over) await slice.next();
    }
    if (vocabulary.length !== facts.terms)
      throw new Error(`${path} has ${vocabulary.length} words, not ${facts.terms}`);
    return { vocabulary, labels, lengths, postingCounts, postings };
  } finally {
    await file.close();
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, Math.min(bytesPerWrite, bytes.length - done))).bytesWritten;
  }
}
