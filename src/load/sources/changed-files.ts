import { open, stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { FileState, RecalledFile } from "../../core/pipeline.js";
import type { Metadata } from "../../core/types.js";
import { plainText, type Format, type Formats } from "../formats/formats.js";
import type { FileOutcome } from "../formats/loader.js";
import { metadataDigest } from "./operator-metadata.js";
import type { ReadContext } from "./source.js";

export interface FoundFile {
  readonly path: string;
  readonly format: Format;
  /** Absent where nobody would remember the file. */
  readonly state?: FileState;
  /** What became of it before, if that was an error. */
  readonly recalled?: FileOutcome;
}

interface RecallOptions extends Pick<ReadContext, "files" | "report"> {
  readonly timeoutMs: number;
  readonly metadata: Metadata;
}

/** Files looked up at once. */
const filesPerRecall = 128;

/** Bytes at the start of a file that tell its format where its name does not. */
const startBytes = 4096;

/** Changes of a file that lie further apart leave different times: FAT counts in steps of two seconds. */
const clockStepMs = 2000;

/** Passes on the files that have changed, or could not be read before; reports the others as unchanged. */
export async function* changedFiles(
  paths: readonly string[],
  formats: Formats,
  options: RecallOptions,
): AsyncGenerator<FoundFile> {
  const digest = metadataDigest(options.metadata);
  // With more time, a file may be read that could not be; with other metadata, its document is another, and so is that of
  // a scan whose words somebody else recognises.
  const { recognizedBy } = formats;
  const readBy =
    `within ${options.timeoutMs} ms${digest === undefined ? "" : ` with metadata ${digest}`}` +
    (recognizedBy === undefined ? "" : ` by ${recognizedBy}`);
  for (let at = 0; at < paths.length; at += filesPerRecall) {
    const found = await Promise.all(
      paths.slice(at, at + filesPerRecall).map(async (path): Promise<FoundFile> => {
        // A file of an unknown kind may be text.
        const named = formats.ofFile(path) ?? plainText;
        const start = "rows" in named || !named.instead ? undefined : await firstBytes(path, startBytes);
        const format = (start && "instead" in named && named.instead?.(start)) || named;
        // Rows, and files that lie in others, are looked up one by one.
        const isMany = "rows" in format || format.holdsFiles;
        const isRemembered = options.files && !(isMany || ("isOwn" in format && format.isOwn));
        const state = isRemembered ? await stateOf(path, readBy) : undefined;
        return { path, format, ...(state && { state }) };
      }),
    );
    const states = found.flatMap(({ state }) => state ?? []);
    const recalled = await options.files?.recall(states);
    for (const file of found) {
      const known = file.state && recalled?.get(file.state.uri);
      if (known && "error" in known) yield { ...file, recalled: { error: known.error, isRecalled: true } };
      else if (known) reportUnchanged(file.state.uri, known, options.report);
      else yield file;
    }
  }
}

/** Reports a file whose document is stored as it was read. */
export function reportUnchanged(
  uri: string,
  { chunks, warnings }: Extract<RecalledFile, { chunks: number }>,
  report: ReadContext["report"],
): void {
  for (const message of warnings) report({ type: "warning", message });
  report({ type: "document", uri, outcome: "unchanged", chunks });
}

/** The state of a file; `undefined` where it cannot be told, which reading it will show. */
async function stateOf(path: string, readBy: string): Promise<FileState | undefined> {
  const latest = BigInt(Date.now() - clockStepMs) * 1_000_000n;
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  return (
    stats && {
      uri: pathToFileURL(path).href,
      sizeBytes: Number(stats.size),
      ...(stats.mtimeNs < latest && { modifiedNs: String(stats.mtimeNs) }),
      readBy,
    }
  );
}

/** The first bytes of a file; `undefined` where it cannot be opened, which reading it will show. */
export async function firstBytes(path: string, count: number): Promise<Uint8Array | undefined> {
  const file = await open(path).catch(() => undefined);
  try {
    const { bytesRead, buffer } = (await file?.read(Buffer.alloc(count), 0, count, 0)) ?? {};
    return buffer?.subarray(0, bytesRead);
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
