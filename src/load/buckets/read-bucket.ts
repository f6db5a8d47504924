import { z } from "zod";
import { LoadError, OptionsError } from "../../core/errors.js";
import { optionsOf, resolve, secretOption, withoutCredentials } from "../../core/options.js";
import type { Document } from "../../core/types.js";
import { Formats } from "../formats/formats.js";
import { loadOptions, type LoadOptions } from "../sources/load-options.js";
import { reportOutcomes } from "../sources/read-files.js";
import { encodedPath, readListedFiles, type ListedFile } from "../sources/read-listed-files.js";
import { documentSource, type DocumentSource, type ReadContext } from "../sources/source.js";
import { BucketClient, type BucketCredentials } from "./bucket-client.js";

export interface ReadBucketOptions extends LoadOptions {
  /** Address of a service other than AWS that speaks its protocol, such as `http://localhost:9000`. Default: AWS. */
  readonly endpoint?: string;
  /** Region of the bucket. Where AWS names another, that is used. Default: `us-east-1`. */
  readonly region?: string;
  /** Keys with which requests are signed; that needs the package `aws4fetch`. Default: none, as for public buckets. */
  readonly credentials?: BucketCredentials;
  /** Name the bucket in the path of the address, not in its host. Default: true with `endpoint`, and for names with dots. */
  readonly pathStyle?: boolean;
  /** Maximum time for one request, in milliseconds, 100 to 3,600,000. Default: 60,000. */
  readonly requestTimeoutMs?: number;
}

const readBucketOptions = optionsOf<ReadBucketOptions>()({
  ...loadOptions.shape,
  endpoint: z
    .string()
    .refine(
      (value) => /^https?:\/\//i.test(value) && URL.canParse(value),
      "must be an address with http:// or https://",
    )
    .optional(),
  region: z
    .string()
    .regex(/^[a-z\d-]{1,40}$/)
    .default("us-east-1"),
  credentials: optionsOf<BucketCredentials>()({
    accessKeyId: secretOption(),
    secretAccessKey: secretOption(),
    sessionToken: secretOption().optional(),
  }).optional(),
  pathStyle: z.boolean().optional(),
  requestTimeoutMs: z.int().min(100).max(3_600_000).default(60_000),
});

/** Objects that are fetched at once. */
const concurrency = 4;

export function isBucketAddress(address: string): boolean {
  return /^s3:\/\//i.test(address);
}

/**
 * Reads the objects of a bucket as a folder is read: `s3://bucket`, or those below a part of it, `s3://bucket/manuals`. It
 * speaks the protocol of Amazon S3, as MinIO, Ceph, Cloudflare R2 and others do. An object whose ETag is as it is stored is
 * not fetched again. Each document says when its object was last changed (`modified`). What a folder passes over is passed
 * over here.
 *
 * @throws OptionsError for bad options and addresses; when it is read, LoadError (`missing`) when there is no such bucket,
 *   (`unreadable`) when it may not be listed, (`empty`) when it has nothing there.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { readBucket } from "citewell/load";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const credentials = { accessKeyId: "…", secretAccessKey: "…" };
 * await kb.ingest(readBucket("s3://company/manuals", { region: "eu-central-1", credentials }));
 * ```
 */
export function readBucket(address: string, options: ReadBucketOptions = {}): DocumentSource {
  const { loaders, recognizer, endpoint, region, credentials, pathStyle, requestTimeoutMs, ...loading } = resolve(
    "readBucket",
    readBucketOptions,
    options,
  );
  const { bucket, prefix } = placeOf(address);
  const formats = new Formats(loaders, recognizer);
  const id = `s3://${bucket}/${encodedPath(prefix)}`;
  const place = {
    bucket,
    region,
    requestTimeoutMs,
    pathStyle: pathStyle ?? (endpoint !== undefined || bucket.includes(".")),
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials && { credentials }),
  };
  let complete = false;

  async function* read(context: ReadContext): AsyncGenerator<Document> {
    const { signal, report } = context;
    complete = false;
    let found = 0;
    const client = new BucketClient(place);
    const listed = async function* (): AsyncGenerator<ListedFile & { readonly key: string }> {
      for await (const page of client.list(prefix, signal)) {
        // A key that ends with a slash stands for a folder.
        const objects = page.filter(({ key }) => key.startsWith(prefix) && !key.endsWith("/"));
        found += objects.length;
        if (objects.length > 0) report({ type: "progress", what: "files-found", count: objects.length });
        for (const { key, sizeBytes, etag, modified } of objects) {
          const uri = `s3://${bucket}/${encodedPath(key)}`;
          const changed = { modified: new Date(modified), metadata: { modified } };
          yield { key, path: key.slice(prefix.length), uri, sizeBytes, state: etag, ...changed };
        }
      }
    };
    const fetch = (file: ListedFile) =>
      client.content(file.uri, (file as ListedFile & { readonly key: string }).key, loading.maxFileBytes, signal);
    try {
      const reading = { formats, loading, source: id, fetch, concurrency };
      const { failed } = yield* reportOutcomes(readListedFiles(listed(), reading, context), context, {
        // An object deleted since it was listed counts as if it had never existed.
        skippedCodes: ["binary", "too-large", "missing"],
      });
      if (found === 0) throw new LoadError("empty", id, `Nothing to read in ${id}: it has no objects`);
      complete = failed === 0;
    } finally {
      await client.close();
    }
  }

  return documentSource({ id, read, vanished: (_, source) => source === id && complete });
}

/** @throws OptionsError for an address that names no bucket. */
function placeOf(address: string): { bucket: string; prefix: string } {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/?#]*)\/?(.*)$/is.exec(address) ?? [];
  if (!/^[a-z\d][a-z\d._-]{1,62}$/i.test(bucket)) {
    throw new OptionsError(
      "options",
      `${withoutCredentials(address)} names no bucket: it must be s3://bucket or s3://bucket/folder`,
    );
  }
  const bare = path.replace(/\/+$/, "");
  return { bucket, prefix: bare === "" ? "" : `${bare}/` };
}
