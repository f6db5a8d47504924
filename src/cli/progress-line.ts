import type { IngestProgress } from "../stages/ingest-ledger.js";
import { count, counted } from "./counted.js";

export interface ProgressLine<Progress> {
  readonly update: (progress: Progress) => void;
  /** Clears the line, so that what is printed next starts clean. */
  readonly clear: () => void;
}

type Out = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;

/** On a terminal one line that changes in place, at most ten times a second; elsewhere one plain line every ten seconds. */
export function progressLine<Progress>(out: Out, describe: (progress: Progress) => string): ProgressLine<Progress> {
  const everyMs = out.isTTY ? 100 : 10_000;
  let drawnAt = out.isTTY ? -Infinity : performance.now();
  return {
    update(progress) {
      const now = performance.now();
      if (now - drawnAt < everyMs) return;
      drawnAt = now;
      const text = describe(progress);
      out.write(out.isTTY ? `\r\u001B[2K${text.slice(0, (out.columns ?? 80) - 1)}` : `${text}\n`);
    },
    clear() {
      if (out.isTTY && drawnAt > 0) out.write("\r\u001B[2K");
    },
  };
}

/** `312 of 705 documents  2,801 chunks embedded  640 chunks/s  about 4 s left`. */
export function describeProgress(progress: IngestProgress): string {
  const { documentsFound, documentsDone, documentsRead, chunksEmbedded, chunksPerSecond, secondsLeft } = progress;
  const total = documentsFound ?? documentsRead;
  const parts = [
    `${count(documentsDone)} of ${counted(total, "document")}`,
    `${counted(chunksEmbedded, "chunk")} embedded`,
  ];
  if (chunksPerSecond) parts.push(`${count(chunksPerSecond)} chunks/s`);
  if (secondsLeft) parts.push(`about ${duration(secondsLeft)} left`);
  return parts.join("  ");
}

export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return `${Math.round(seconds / 60)} min`;
}
