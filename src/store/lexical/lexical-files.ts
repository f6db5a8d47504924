import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { saveFile, type SavedFile } from "../derived/saved-index.js";
import { Segment } from "./segment.js";
import { fileBytes, fileSink, type SegmentBytes, type SegmentSink } from "./segment-bytes.js";
import type { SegmentFacts } from "./segment-writer.js";

const savedFile = z.object({ file: z.string(), sizeBytes: z.int(), sha256: z.string() });

/** The manifest of a saved lexical index. */
export const LexicalFacts = z.object({
  format: z.literal(3),
  store: z.string(),
  analyzer: z.string(),
  contextWeight: z.number(),
  /** How far the files may have read the store's changes. */
  position: z.object({ label: z.int(), removal: z.int() }),
  /** The last removal that they have for certain. Those that follow are applied again at opening. */
  removal: z.int().nonnegative(),
  files: z.array(savedFile),
  /** In order of their labels. */
  segments: z.array(
    z.object({
      file: z.string(),
      texts: z.int().positive(),
      terms: z.int().nonnegative(),
      bucketBits: z.int().nonnegative(),
      tailStart: z.int().nonnegative(),
      tailChecksum: z.int().nonnegative(),
      boundsOf: z.object({ flat: z.number(), perLength: z.number() }),
    }),
  ),
  /** The file of the slots of removed texts, with the number that each segment has in it. */
  removed: z
    .object({ file: z.string(), counts: z.array(z.object({ segment: z.string(), count: z.int().positive() })) })
    .optional(),
});
export type LexicalFacts = z.output<typeof LexicalFacts>;

/** A segment with the file that holds it. */
export interface SavedSegment {
  readonly segment: Segment;
  readonly saved: SavedFile;
}

/** Removed texts of saved segments, in a file of their own, because segments never change. */
export interface SavedRemovals {
  readonly saved: SavedFile;
  readonly counts: NonNullable<LexicalFacts["removed"]>["counts"];
}

export interface SavedContent {
  readonly segments: readonly SavedSegment[];
  /** Undefined while no text of a saved segment was removed. */
  readonly removals: SavedRemovals | undefined;
}

/**
 * Opens the segments that a manifest names.
 *
 * @throws Error where a file is missing or damaged as far as it is read now.
 */
export function openSegments(folder: string, facts: LexicalFacts): SavedContent {
  const opened: SavedSegment[] = [];
  try {
    const byName = new Map(facts.files.map((saved) => [saved.file, saved] as const));
    for (const { file, ...segment } of facts.segments) {
      opened.push({ segment: openSegment(join(folder, file), segment), saved: byName.get(file)! });
    }
    if (!facts.removed) return { segments: opened, removals: undefined };
    const { file, counts } = facts.removed;
    const saved = byName.get(file)!;
    const bytes = Uint8Array.from(readFileSync(join(folder, file)));
    if (createHash("sha256").update(bytes).digest("hex") !== saved.sha256) {
      throw new Error(`${file} was changed: its checksum differs`);
    }
    let index = 0;
    for (const { segment: name, count } of counts) {
      const slots = new Uint32Array(bytes.buffer, index, count);
      index += slots.byteLength;
      // A segment that was merged since has lost these texts.
      const holder = opened.find((one) => one.saved.file === name);
      for (const slot of holder ? slots : []) holder!.segment.removeSlot(slot);
    }
    return { segments: opened, removals: { saved, counts } };
  } catch (error) {
    for (const { segment } of opened) segment.bytes.close();
    throw error;
  }
}

/** Writes a segment to a new file in `folder`, and opens it there. */
export async function saveSegment(
  folder: string,
  write: (sink: SegmentSink) => Promise<SegmentFacts>,
): Promise<SavedSegment> {
  let facts!: SegmentFacts;
  const saved = await saveFile(folder, "lexical", (path) =>
    writeTo(path, async (sink) => {
      facts = await write(sink);
    }),
  );
  return { segment: openSegment(join(folder, saved.file), facts), saved };
}

/** Writes the removed texts of segments to a new file in `folder`. */
export async function saveRemovals(folder: string, segments: readonly SavedSegment[]): Promise<SavedRemovals> {
  const some = segments.filter(({ segment }) => segment.deadSlots.length > 0);
  // Texts may be removed meanwhile.
  const slots = some.map(({ segment }) => Uint32Array.from(segment.deadSlots));
  const counts = some.map(({ saved }, index) => ({ segment: saved.file, count: slots[index]!.length }));
  const saved = await saveFile(folder, "lexical", (path) =>
    writeTo(path, async (sink) => {
      for (const { buffer } of slots) sink.write(new Uint8Array(buffer));
    }),
  );
  return { saved, counts };
}

async function writeTo(path: string, write: (sink: SegmentSink) => Promise<void>): Promise<void> {
  const sink = fileSink(path);
  try {
    await write(sink);
    sink.flush();
  } finally {
    sink.close();
  }
}

function openSegment(path: string, facts: SegmentFacts): Segment {
  const bytes: SegmentBytes = fileBytes(path);
  try {
    return new Segment(bytes, facts);
  } catch (error) {
    bytes.close();
    throw error;
  }
}
