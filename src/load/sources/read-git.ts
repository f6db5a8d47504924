import { fileURLToPath, pathToFileURL } from "node:url";
import { resolve } from "../../core/options.js";
import type { Document, Metadata } from "../../core/types.js";
import { Formats, type Format } from "../formats/formats.js";
import { isHidden } from "../formats/hidden-names.js";
import type { FileOutcome } from "../formats/loader.js";
import { LoadingWorker } from "../worker/load-bytes.js";
import type { GitFile, GitRepository, LastChange } from "./git-repository.js";
import { loadOptions, type LoadOptions, type LoadSettings } from "./load-options.js";
import { metadataDigest } from "./operator-metadata.js";
import { realPath } from "./real-path.js";
import { documentSource, type DocumentSource, type ReadContext } from "./source.js";
import { generated, mayHoldSecrets } from "./unwanted-names.js";

export type ReadGitOptions = LoadOptions;

export function isGitAddress(address: string): boolean {
  return /^git:(?!\/\/[^/])/.test(address);
}

/**
 * Reads the files of a git repository as they are at a commit, whatever lies in its folder: `git:../handbook`, or of another
 * branch, tag or commit behind a `#`: `git:../handbook#v2`. A folder within a repository is read alone. Each document says by
 * whom and when its file was last changed (`lastAuthor`, `modified`, `lastCommit`). What a folder passes over is passed over
 * here. It needs git on the machine.
 *
 * @throws LoadError when it is read: (`missing`) when there is no such repository or commit.
 */
export function readGit(address: string, options: ReadGitOptions = {}): DocumentSource {
  const { loaders, recognizer, ...loading } = resolve("readGit", loadOptions, options);
  const formats = new Formats(loaders, recognizer);
  const [place = "", revision] = address.slice("git:".length).split("#", 2);
  const folder = realPath(place.startsWith("///") ? fileURLToPath(`file:${place}`) : place);
  const at = revision ? `?at=${encodeURIComponent(revision)}` : "";
  const base = `${pathToFileURL(folder).href.replace(/^file:/, "git:")}/`;
  const id = `${base}${at}`;
  let complete = false;

  async function* read(context: ReadContext): AsyncGenerator<Document> {
    const { signal, report } = context;
    complete = false;
    const { GitRepository: Repository } = await import("./git-repository.js");
    const { reportOutcomes } = await import("./read-files.js");
    const repository = await Repository.open(folder, revision ?? "HEAD", id, signal);
    const files = (await repository.files()).filter(({ path }) => !isHidden(path));
    const changes = await repository.lastChanges(files.map(({ path }) => path));
    report({ type: "progress", what: "files-found", count: files.length });
    const addressOf = ({ path }: GitFile) =>
      `${base}${path
        .split("/")
        .map((part) => encodeURIComponent(part))
        .join("/")}${at}`;
    const visit = { repository, formats, loading, source: id, changes, addressOf };
    const outcomes = gitOutcomes(files, visit, context);
    const { failed } = yield* reportOutcomes(outcomes, context, {
      metadata: loading.metadata,
      skippedCodes: ["binary", "too-large"],
    });
    complete = failed === 0;
  }

  return documentSource({ id, read, vanished: (_, source) => source === id && complete });
}

interface Visit {
  readonly repository: GitRepository;
  readonly formats: Formats;
  readonly loading: Omit<LoadSettings, "loaders" | "recognizer">;
  readonly source: string;
  readonly changes: ReadonlyMap<string, LastChange>;
  readonly addressOf: (file: GitFile) => string;
}

async function* gitOutcomes(
  files: readonly GitFile[],
  visit: Visit,
  context: ReadContext,
): AsyncGenerator<FileOutcome> {
  const worker = new LoadingWorker();
  try {
    for (const file of files) yield* fileOutcomes(file, visit, worker, context);
  } finally {
    await worker.close();
    visit.repository.close();
  }
}

async function* fileOutcomes(
  file: GitFile,
  { repository, formats, loading, source, changes, addressOf }: Visit,
  worker: LoadingWorker,
  { signal, stored }: ReadContext,
): AsyncGenerator<FileOutcome> {
  const { path, blob, sizeBytes } = file;
  const uri = addressOf(file);
  const format = formats.ofFile(path);
  const reason = reasonToSkip(file, format, loading.maxFileBytes);
  if (!format || reason !== undefined) {
    yield { uri, skipped: reason! };
    return;
  }
  const change = changes.get(path);
  const digest = metadataDigest(loading.metadata);
  const by = formats.recognizedBy === undefined ? "" : ` ${formats.recognizedBy}`;
  const revision = {
    etag: `${blob} ${change?.commit ?? ""}${by}`,
    ...(digest !== undefined && { metadataDigest: digest }),
  };
  const before = await stored?.(uri);
  if (before?.revision?.etag === revision.etag && before.revision.metadataDigest === digest) {
    yield { document: { ...before, source }, warnings: [] };
    return;
  }
  const { asLoadError, readContents } = await import("./read-contents.js");
  try {
    const bytes = await repository.content(file);
    if (sizeBytes === 0) {
      yield { uri, skipped: "blank" };
      return;
    }
    const outcomes = readContents(format, { path, uri, bytes }, { ...loading, formats, worker, source, signal });
    for await (const outcome of outcomes) {
      if (!("document" in outcome)) yield outcome;
      else {
        const metadata = { ...outcome.document.metadata, ...(change && metadataOf(change)) };
        const document = { ...outcome.document, metadata };
        yield { ...outcome, document: document.uri === uri ? { ...document, revision } : document };
      }
    }
  } catch (thrown) {
    signal.throwIfAborted();
    yield { error: asLoadError(uri, thrown) };
  }
}

function metadataOf({ commit, author, date }: LastChange): Metadata {
  return { lastAuthor: author, modified: date, lastCommit: commit };
}

function reasonToSkip(
  { path, sizeBytes }: GitFile,
  format: Format | undefined,
  maxFileBytes: number,
): string | undefined {
  if (mayHoldSecrets(path)) return "its name suggests that it holds secrets";
  if (format === undefined) return "no loader for such files";
  if (sizeBytes > maxFileBytes)
    return `it has ${sizeBytes} bytes, and files of more than ${maxFileBytes} bytes are passed over`;
  return generated.test(path) ? "it looks generated" : undefined;
}
