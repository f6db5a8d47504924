import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { LoadError, OptionsError } from "../../core/errors.js";
import { parsedJson } from "../../core/json.js";
import type { Json, Metadata } from "../../core/types.js";
import { tesseract } from "../../load/formats/recognition/tesseract.js";
import { literalGlob } from "../../load/sources/walk.js";
import type { PictureOptions } from "../../load/pictures/picture-options.js";
import { readPath, type ReadPathOptions } from "../../load/read-path.js";
import { realPath, refuseAddress } from "../../load/sources/real-path.js";
import { allSources, type DocumentSource } from "../../load/sources/source.js";
import { isBucketAddress } from "../../load/buckets/read-bucket.js";
import { isGitAddress } from "../../load/sources/read-git.js";
import { isWebAddress } from "../../load/web/web-address.js";
import { isDatabaseAddress } from "../../store/store-address.js";
import { given } from "../../core/given.js";
import type { PictureFlags } from "./picture-flags.js";
import { readSettings, storePath, type StoreFlags, type CommandIo, webProxySettings } from "../command-context.js";

/** Flags that choose the documents below the paths and say how they are read. */
export interface SourceFlags extends StoreFlags, PictureFlags {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly maxFileBytes?: number;
  /** Seconds. */
  readonly fileTimeout?: number;
  /** Metadata for every document, each as `name=value`. */
  readonly metadata?: readonly string[];
  /** Folder of the language data for recognising the words of pictures. */
  readonly ocr?: string;
  readonly replies?: "keep" | "once";
  /** Web addresses name whole sites, read by their sitemaps. */
  readonly sitemap?: boolean;
  readonly requestsPerSecond?: number;
  readonly allowPrivate?: boolean;
  readonly refetch?: boolean;
  readonly reread?: boolean;
  readonly retryFailed?: boolean;
}

/** One source of all paths (relative to the current folder) and web addresses of a command line. */
export function sourceOf(
  io: CommandIo,
  paths: readonly string[],
  flags: SourceFlags,
  pictures?: PictureOptions,
): DocumentSource {
  const settings = readSettings(io, flags);
  const options = { ...readingOptions(io, flags, settings.rows), ...given({ pictures }) };
  const store = storePath(io, settings);
  const source = (path: string) => {
    if (isWebAddress(path)) return readPath(path, options);
    if (isBucketAddress(path)) return readPath(path, { ...options, bucket: bucketSettings(io.environment) });
    if (isGitAddress(path)) return readPath(`git:${absolute(io, path.slice("git:".length))}`, options);
    const place = absolute(io, path);
    if (!existsSync(place)) throw missing(place);
    return readPath(place, {
      ...options,
      exclude: [
        ...(options.exclude ?? []),
        ...(isDatabaseAddress(store) ? [] : storeWithin(realPath(place), realPath(store))),
      ],
    });
  };
  return allSources(paths.map(source));
}

/** The settings of buckets by the names that AWS's own programs have for them. */
function bucketSettings(environment: CommandIo["environment"]): NonNullable<ReadPathOptions["bucket"]> {
  const read = (...names: readonly string[]) => names.map((name) => environment[`AWS_${name}`]).find(Boolean);
  const [accessKeyId, secretAccessKey] = [read("ACCESS_KEY_ID"), read("SECRET_ACCESS_KEY")];
  return given({
    endpoint: read("ENDPOINT_URL_S3", "ENDPOINT_URL"),
    region: read("REGION", "DEFAULT_REGION"),
    credentials:
      accessKeyId && secretAccessKey
        ? { accessKeyId, secretAccessKey, ...given({ sessionToken: read("SESSION_TOKEN") }) }
        : undefined,
  });
}

/**
 * Globs that exclude a store inside the folder: its files are not documents, and change with every run.
 *
 * @throws OptionsError when the folder itself is the store.
 */
function storeWithin(folder: string, store: string): readonly string[] {
  if (folder === store) {
    throw new OptionsError(
      "options",
      `${folder} is both the folder to read and the store: give the store a folder of its own`,
    );
  }
  const within = relative(folder, store).split(sep);
  // Names that start with a dot are skipped anyway.
  return within.some((part) => part.startsWith(".")) ? [] : [`${literalGlob(within.join("/"))}/**`];
}

/** The absolute path. @throws OptionsError for the address of a server. */
function absolute({ directory }: CommandIo, path: string): string {
  const place = resolve(directory, path);
  if (!existsSync(place)) refuseAddress(path);
  return place;
}

/** A pattern that no shell has expanded is a path like any other. */
function missing(place: string): LoadError {
  const hint = /[*?]/.test(place)
    ? ": a pattern is not a path. Name the folder, and give the pattern to --include"
    : ". If it is gone for good, citewell remove takes its documents out of the store";
  return new LoadError("missing", place, `There is no file or folder at ${place}${hint}`);
}

function readingOptions(io: CommandIo, flags: SourceFlags, rows: ReadPathOptions["rows"]): ReadPathOptions {
  const {
    include,
    exclude,
    maxFileBytes,
    fileTimeout,
    metadata,
    replies,
    sitemap,
    requestsPerSecond,
    allowPrivate,
    refetch,
    ocr,
  } = flags;
  return {
    include: include && [...include],
    exclude: exclude && [...exclude],
    rows,
    maxFileBytes,
    timeoutMs: fileTimeout && Math.round(fileTimeout * 1000),
    ...(ocr !== undefined && { recognizer: tesseract({ dataFolder: resolve(io.directory, ocr) }) }),
    metadata: metadata && metadataOf(metadata),
    ...given({ sitemap, replies }),
    web: { requestsPerSecond, allowPrivate, refetch, ...webProxySettings(io.environment) },
  };
}

/**
 * Metadata from `name=value` entries. A value that is a JSON number, boolean, null or quoted text is that; any other is text.
 *
 * @throws OptionsError for an entry without a name or a value, and for a name with two values.
 */
export function metadataOf(entries: readonly string[]): Metadata {
  const metadata = new Map<string, Json>();
  for (const entry of entries) {
    const [, name, value] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/su.exec(entry) ?? [];
    if (!name || !value) {
      const wanted = "it must be name=value, such as tenant=a or year=2024";
      throw new OptionsError("options", `--metadata ${JSON.stringify(entry)}: ${wanted}`);
    }
    if (metadata.has(name)) throw new OptionsError("options", `--metadata: ${name} is given twice`);
    metadata.set(name, scalarOf(value));
  }
  return Object.fromEntries(metadata);
}

/** An integer that a number cannot hold exactly stays text: two ids must not become one. */
function scalarOf(text: string): Json {
  const value = parsedJson(text);
  const isScalar = value === null || typeof value === "string" || typeof value === "boolean";
  if (isScalar) return value;
  const isExact = Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  return isExact ? (value as number) : text;
}
