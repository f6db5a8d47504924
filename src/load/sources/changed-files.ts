import { open, stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { plainText, type Format, type Formats } from "../formats/formats.js";
import type { FileOutcome } from "../formats/loader.js";
import type { FileState, RecalledFile } from "./file-memory.js";
import type { LoadSettings } from "./load-options.js";
import { type ChosenMetadata, metadataFor } from "./operator-metadata.js";
import { asLoadError } from "./read-contents.js";
import type { ReadContext } from "./source.js";

export interface FoundFile {
  readonly path: string;
  readonly format: Format;
  /** Absent if the run has no memory of files. */
  readonly state?: FileState;
  /** Reason why it is not read: an error of an earlier run, or missing metadata. */
  readonly failed?: FileOutcome;
  /** Metadata for its documents. */
  readonly chosen?: ChosenMetadata;
}

interface RecallOptions extends Pick<ReadContext, "files" | "report"> {
  readonly timeoutMs: number;
  readonly metadata: LoadSettings["metadata"];
  /** The path of a file as the caller knows it. */
  readonly shownPath: (path: string) => string;
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
  // With more time, a file may be read that could not be; with other metadata, its document is another, and so is that of
  // a scan with another recognizer.
  const { recognizedBy } = formats;
  const readBy = ({ digest }: ChosenMetadata) =>
    `within ${options.timeoutMs} ms${digest === undefined ? "" : ` with metadata ${digest}`}` +
    (recognizedBy === undefined ? "" : ` by ${recognizedBy}`);
  for (let offset = 0; offset < paths.length; offset += filesPerRecall) {
    const found = await Promise.all(
      paths.slice(offset, offset + filesPerRecall).map(async (path): Promise<FoundFile> => {
        // A file of an unknown kind may be text.
        const named = formats.ofFile(path) ?? plainText;
        const start = "rows" in named || !named.instead ? undefined : await firstBytes(path, startBytes);
        const format = (start && "instead" in named && named.instead?.(start)) || named;
        // Rows, and files that lie in others, are looked up one by one.
        const isMany = "rows" in format || format.holdsFiles;
        const isRemembered = options.files && !(isMany || ("isOwn" in format && format.isOwn));
        const chosen = await chosenFor(path, options).catch((thrown: unknown) =>
          asLoadError(pathToFileURL(path).href, thrown),
        );
        if (chosen instanceof Error) return { path, format, failed: { error: chosen } };
        const state = isRemembered ? await stateOf(path, readBy(chosen)) : undefined;
        return { path, format, chosen, ...(state && { state }) };
      }),
    );
    const states = found.flatMap(({ state }) => state ?? []);
    const recalled = await options.files?.recall(states);
    for (const file of found) {
      const known = file.state && recalled?.get(file.state.uri);
      if (known && "error" in known) yield { ...file, failed: { error: known.error, isRecalled: true } };
      else if (known) reportUnchanged(file.state.uri, known, options.report);
      else yield file;
    }
  }
}

async function chosenFor(path: string, { metadata, shownPath }: RecallOptions): Promise<ChosenMetadata> {
  const file = { uri: pathToFileURL(path).href, path: shownPath(path) };
  if (typeof metadata !== "function") return metadataFor(metadata, file);
  const stats = await stat(path);
  return metadataFor(metadata, { ...file, sizeBytes: stats.size, modified: stats.mtime });
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

/** The state of a file; `undefined` if it is unknown, in which case reading the file reports why. */
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

/** The first bytes of a file; `undefined` if it cannot be opened, in which case reading the file reports why. */
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
