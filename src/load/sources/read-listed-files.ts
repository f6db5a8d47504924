import { mapConcurrent } from "../../core/stream.js";
import type { Metadata } from "../../core/types.js";
import { noLoaderReason } from "../formats/conversions.js";
import type { Format, Formats } from "../formats/formats.js";
import { isHidden } from "../formats/hidden-names.js";
import type { FileOutcome } from "../formats/loader.js";
import { LoadingWorker } from "../worker/load-bytes.js";
import type { LoadSettings } from "./load-options.js";
import { MailsOfSource } from "./mails-of-source.js";
import { type ChosenMetadata, type FileForMetadata, metadataFor, withMetadata } from "./operator-metadata.js";
import { asLoadError, readContents } from "./read-contents.js";
import type { ReadContext } from "./source.js";
import { generated, isKeyFile, mayHoldSecrets } from "./unwanted-names.js";

/** A file in the listing of a commit or bucket. Its content is fetched when it is read. */
export interface ListedFile {
  /** With `/`, relative to the place that is read. */
  readonly path: string;
  readonly uri: string;
  /** `NaN` where the listing does not say. */
  readonly sizeBytes: number;
  /** Identifies its content: a file whose stored revision is the same is not fetched again. */
  readonly state: string;
  /** Time of its last change. Absent if the listing does not say. */
  readonly modified?: Date;
  /** Metadata put on its documents, over their own. */
  readonly metadata?: Metadata;
}

export interface ReadListedOptions {
  readonly formats: Formats;
  readonly loading: Omit<LoadSettings, "loaders" | "recognizer">;
  /** Id that the documents carry as `source`. */
  readonly source: string;
  /** @throws anything, which fails that file alone. */
  readonly fetch: (file: ListedFile) => Promise<Uint8Array>;
  /** Files that are fetched at once. */
  readonly concurrency: number;
}

/** The outcomes of listed files, in order. Hidden files are left out. */
export async function* readListedFiles(
  files: AsyncIterable<ListedFile>,
  options: ReadListedOptions,
  { signal, stored }: Pick<ReadContext, "signal" | "stored">,
): AsyncGenerator<FileOutcome> {
  const { formats, loading, source, fetch, concurrency } = options;
  const worker = new LoadingWorker();
  const mails = new MailsOfSource();
  const outcomesOf = async (file: ListedFile): Promise<Iterable<FileOutcome> | AsyncIterable<FileOutcome>> => {
    const { path, uri, metadata } = file;
    if (isHidden(path)) return [];
    const format = formats.ofFile(path);
    const reason = reasonToSkip(file, format, loading.maxFileBytes);
    if (!format || reason !== undefined) return [{ uri, skipped: reason! }];
    let chosen: ChosenMetadata;
    try {
      chosen = await metadataFor(loading.metadata, described(file));
    } catch (thrown) {
      signal.throwIfAborted();
      return [{ error: asLoadError(uri, thrown) }];
    }
    const { digest } = chosen;
    const by = formats.recognizedBy === undefined ? "" : ` ${formats.recognizedBy}`;
    const revision = { etag: `${file.state}${by}`, ...(digest !== undefined && { metadataDigest: digest }) };
    const before = await stored?.(uri);
    if (before?.revision?.etag === revision.etag && before.revision.metadataDigest === digest) {
      mails.add(before.metadata?.["messageId"]);
      return [{ document: { ...before, source }, warnings: [] }];
    }
    try {
      const bytes = await fetch(file);
      if (mayHoldSecrets(path, bytes)) return [{ uri, skipped: holdsSecrets }];
      if (bytes.length === 0) return [{ uri, skipped: "blank" }];
      return contents(format, { path, uri, bytes }, { ...metadata, ...chosen.metadata }, revision);
    } catch (thrown) {
      signal.throwIfAborted();
      return [{ error: asLoadError(uri, thrown) }];
    }
  };
  const contents = async function* (
    format: Format,
    file: { readonly path: string; readonly uri: string; readonly bytes: Uint8Array },
    metadata: Metadata,
    revision: { readonly etag: string },
  ): AsyncGenerator<FileOutcome> {
    try {
      for await (const outcome of readContents(format, file, { ...loading, formats, worker, source, signal, mails })) {
        const made = withMetadata(outcome, metadata);
        const isWhole = "document" in made && made.document.uri === file.uri;
        yield isWhole ? { ...made, document: { ...made.document, revision } } : made;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      yield { error: asLoadError(file.uri, thrown) };
    }
  };
  try {
    for await (const outcomes of mapConcurrent(files, outcomesOf, { concurrency, signal })) yield* outcomes;
  } finally {
    await worker.close();
  }
}

function described({ uri, path, sizeBytes, modified }: ListedFile): FileForMetadata {
  return {
    uri,
    path,
    ...(!Number.isNaN(sizeBytes) && { sizeBytes }),
    ...(modified && !Number.isNaN(modified.getTime()) && { modified }),
  };
}

const holdsSecrets = "its name suggests that it holds secrets";

function reasonToSkip({ path, sizeBytes }: ListedFile, format: Format | undefined, maxFileBytes: number) {
  // Only its bytes tell a private key from a document of Keynote.
  if (mayHoldSecrets(path) && !isKeyFile(path)) return holdsSecrets;
  if (format === undefined) return noLoaderReason(path);
  if (sizeBytes > maxFileBytes) {
    return `it has ${sizeBytes} bytes, and files of more than ${maxFileBytes} bytes are passed over`;
  }
  return generated.test(path) ? "it looks generated" : undefined;
}

/** A path as the part of an address. */
export function encodedPath(path: string): string {
  return path
    .split("/")
    .map((part) => encodeURIComponent(part))
    .join("/");
}
