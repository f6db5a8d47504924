import type { IngestProgress } from "../../knowledge-base/ingest/ledger.js";
import type { CommandIo } from "../command-context.js";
import { count, counted, duration } from "./figures.js";
import { clearLine, displayUri, type KnownFolders } from "./terminal-text.js";

export interface ProgressLine<Progress> {
  /** @param stays Draws the line even directly after another, since it describes a step that may last. */
  readonly update: (progress: Progress, stays?: boolean) => void;
  /** Clears the line, so that the next output starts on an empty one. */
  readonly clear: () => void;
}

/** On a terminal, one line that changes in place at most ten times a second; elsewhere a plain line every ten seconds. */
export function progressLine<Progress>(
  out: CommandIo["stderr"],
  describe: (progress: Progress) => string,
): ProgressLine<Progress> {
  const everyMs = out.isTTY ? 100 : 10_000;
  let drawnAt = out.isTTY ? -Infinity : performance.now();
  const shortened = shortener();
  return {
    update(progress, stays = false) {
      const now = performance.now();
      if (now - drawnAt < everyMs && !(stays && out.isTTY)) return;
      drawnAt = now;
      const text = describe(progress);
      // Some pseudo terminals say that they have 0 columns.
      out.write(out.isTTY ? `${clearLine}${shortened(text, (out.columns || 80) - 1)}` : `${text}\n`);
    },
    clear() {
      if (out.isTTY && drawnAt > 0) out.write(clearLine);
    },
  };
}

/** Returns the beginning of a text that fits into so many columns of a terminal, of which a Chinese sign takes two. */
function shortener(): (text: string, columns: number) => string {
  // The package takes longer to load than a short run, and most lines have no sign that needs it. Until it is there, any
  // such sign counts as wide, so that a line is at worst shorter than it could be.
  let loading: Promise<void> | undefined;
  let widthOf = (sign: string): number => (sign <= "~" ? 1 : 2);
  const load = async () => {
    ({ default: widthOf } = await import("string-width"));
  };
  return (text, columns) => {
    if (/^[ -~]*$/.test(text)) return text.slice(0, columns);
    loading ??= load();
    let end = 0;
    let taken = 0;
    for (const sign of text) {
      taken += widthOf(sign);
      if (taken > columns) break;
      end += sign.length;
    }
    return text.slice(0, end);
  };
}

/** `40 of 300 queries  12.5 queries/s  about 21 s left`, for steps that began at a time of `performance.now()`. */
export function describeSteps(done: number, total: number, startedAt: number, one: string, many = `${one}s`): string {
  const perSecond = (done / (performance.now() - startedAt)) * 1000;
  const left = duration((total - done) / perSecond);
  return `${count(done)} of ${counted(total, one, many)}  ${perSecond.toFixed(1)} ${many}/s  about ${left} left`;
}

/** `312 of 705 documents  2,801 chunks embedded  640 chunks/s  about 4.0 s left`. */
export function describeProgress(progress: IngestProgress, folders: KnownFolders): string {
  const { documentsFound, documentsDone, documentsRead, chunksEmbedded, chunksPerSecond, secondsLeft, slowFile } =
    progress;
  const parts = [
    `${count(documentsDone)} of ${counted(documentsFound ?? documentsRead, "document")}`,
    `${counted(chunksEmbedded, "chunk")} embedded`,
  ];
  if (chunksPerSecond) parts.push(`${count(chunksPerSecond)} chunks/s`);
  if (isComplete(progress)) parts.push("finishing");
  else if (slowFile !== undefined) parts.push(`reading ${displayUri(slowFile, folders)}`);
  else if (secondsLeft) parts.push(`about ${duration(secondsLeft)} left`);
  return parts.join("  ");
}

/** Whether all documents are done; the remaining steps make the store ready to be searched. */
function isComplete({ documentsFound, documentsDone }: IngestProgress): boolean {
  return documentsFound !== undefined && documentsDone >= documentsFound;
}

/** The progress line of an ingest. It remembers the latest progress, to describe a run that ends early. */
export function ingestProgress(io: Pick<CommandIo, "notes"> & KnownFolders) {
  const line = progressLine<IngestProgress>(io.notes, (progress) => describeProgress(progress, io));
  let latest: IngestProgress | undefined;
  return {
    clear: line.clear,
    latest: () => latest,
    onProgress: (progress: IngestProgress) => {
      const completes = isComplete(progress) && !(latest && isComplete(latest));
      latest = progress;
      line.update(progress, completes);
    },
  };
}
