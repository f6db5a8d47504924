import { setTimeout as sleep } from "node:timers/promises";
import type { Agent, Dispatcher } from "undici";
import { LoadError, OptionsError, asError } from "../../core/errors.js";
import { httpClient } from "../../network/http-client.js";
import { encodedPath } from "../sources/read-listed-files.js";
import { elementsOf, lineOf, named, parseXml, textOf, type HtmlElement } from "../formats/element-tree.js";

export interface BucketCredentials {
  /** Id of the key, as the service lists it. */
  readonly accessKeyId: string;
  /** The secret with which requests are signed; it is never sent. */
  readonly secretAccessKey: string;
  /** Session token of temporary credentials. */
  readonly sessionToken?: string;
}

export interface BucketPlace {
  readonly bucket: string;
  /** Address of the service; AWS where it is absent. */
  readonly endpoint?: string;
  readonly region: string;
  readonly pathStyle: boolean;
  readonly credentials?: BucketCredentials;
  readonly requestTimeoutMs: number;
}

/** An object as a listing names it. */
export interface BucketObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** ETag, which changes with the content. */
  readonly etag: string;
  /** ISO 8601. */
  readonly modified: string;
}

/** Attempts of a request whose failure may mean that the service is busy. */
const maxAttempts = 3;
const firstWaitMs = 250;
const busy = new Set([429, 500, 502, 503, 504]);
/** A page of a listing has at most 1,000 keys of 1,024 bytes each. */
const maxListingBytes = 10_000_000;

/** Lists and fetches the objects of a bucket, by the protocol of Amazon S3. It follows no redirect but one to another region. */
export class BucketClient {
  readonly #place: BucketPlace;
  readonly #agent: Agent;
  #region: string;

  constructor(place: BucketPlace) {
    this.#place = place;
    this.#region = place.region;
    this.#agent = new (httpClient().Agent)({ connect: { timeout: place.requestTimeoutMs } });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  /**
   * The objects whose key starts with `prefix`, a page at a time, in the order of the service.
   *
   * @throws LoadError (`missing`) when there is no such bucket, (`unreadable`) when it may not be listed.
   */
  async *list(prefix: string, signal: AbortSignal): AsyncGenerator<BucketObject[]> {
    const uri = `s3://${this.#place.bucket}/${prefix}`;
    const seen = new Set<string>();
    for (let token: string | undefined = ""; token !== undefined;) {
      const query: Record<string, string> = { "list-type": "2", "encoding-type": "url", prefix };
      if (token !== "") query["continuation-token"] = token;
      const bytes = await this.#get(uri, "", query, maxListingBytes, signal);
      const page = listingOf(uri, bytes.toString());
      yield page.objects;
      if (page.next !== undefined && seen.has(page.next)) {
        throw new LoadError(
          "unreadable",
          uri,
          `${uri} lists the same page again: its service does not list to the end`,
        );
      }
      if (page.next !== undefined) seen.add(page.next);
      token = page.next;
    }
  }

  /** @throws LoadError (`missing`) when the object is gone by now, (`too-large`) when it is larger than the listing said. */
  async content(uri: string, key: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    return this.#get(uri, key, {}, maxBytes, signal);
  }

  async #get(
    uri: string,
    key: string,
    query: Readonly<Record<string, string>>,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Buffer> {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === maxAttempts;
      try {
        const reply = await this.#send(this.#address(key, query), signal);
        const { statusCode, body } = reply;
        if (statusCode === 200) return await bytesOf(uri, body, maxBytes);
        const refusal = refusalOf(reply, (await bytesOf(uri, body, 100_000)).toString());
        const isElsewhere = refusal.region !== undefined && refusal.region !== this.#region;
        if (isElsewhere && !isLast) this.#region = refusal.region!;
        else if (!busy.has(statusCode) || isLast) throw this.#errorOf(uri, key, refusal);
      } catch (thrown) {
        signal.throwIfAborted();
        if (thrown instanceof LoadError || thrown instanceof OptionsError) throw thrown;
        const cause = asError(thrown);
        if (isLast) {
          throw new LoadError("unreadable", uri, `${uri} cannot be fetched: ${cause.message || cause.name}`, { cause });
        }
      }
      await sleep(firstWaitMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  async #send(url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { credentials, requestTimeoutMs } = this.#place;
    const headers = credentials ? await signed(url, credentials, this.#region) : {};
    const reply = await httpClient().request(url, {
      dispatcher: this.#agent,
      headers,
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    });
    reply.body.on("error", () => {});
    return reply;
  }

  #address(key: string, query: Readonly<Record<string, string>>): URL {
    const { bucket, endpoint = `https://s3.${this.#region}.amazonaws.com`, pathStyle } = this.#place;
    const url = new URL(endpoint);
    if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
    const path = [url.pathname.replace(/\/$/, ""), ...(pathStyle ? [bucket] : []), encodedPath(key)].join("/");
    url.pathname = path;
    // A URL takes `.` and `..` out of a path, however they are written: it would be another object's.
    if (url.pathname !== path) throw new Error("no URL can name it, because of the dots between its slashes");
    url.search = new URLSearchParams(query).toString().replaceAll("+", "%20");
    return url;
  }

  #errorOf(uri: string, key: string, { status, code, message, region }: Refusal): LoadError {
    const { bucket } = this.#place;
    if (code === "NoSuchBucket") return new LoadError("missing", uri, `There is no bucket ${bucket} (${message})`);
    if (status === 404) return new LoadError("missing", uri, `${uri} is gone`);
    const said = [status, code, message].filter(Boolean).join(" ");
    const hint =
      region !== undefined
        ? `it is in the region ${region}: give that`
        : status === 403
          ? `the credentials need s3:${key === "" ? "ListBucket" : "GetObject"} on ${bucket}, and their names may be mistaken`
          : "the service answered so";
    return new LoadError("unreadable", uri, `${uri} cannot be ${key === "" ? "listed" : "fetched"} (${said}): ${hint}`);
  }
}

/** @throws OptionsError (`missing-package`) without the package that signs. */
async function signed(url: URL, credentials: BucketCredentials, region: string): Promise<Record<string, string>> {
  const { AwsV4Signer } = await import("aws4fetch").catch((cause: unknown) => {
    const message =
      "Buckets are read with the package aws4fetch, which signs requests. Install it: npm install aws4fetch";
    throw new OptionsError("missing-package", message, { cause });
  });
  const { headers } = await new AwsV4Signer({
    url: url.href,
    method: "GET",
    service: "s3",
    region,
    ...credentials,
  }).sign();
  return Object.fromEntries(headers);
}

async function bytesOf(uri: string, body: Dispatcher.ResponseData["body"], maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of body) {
      pieces.push(piece as Buffer);
      size += (piece as Buffer).length;
      if (size > maxBytes) throw new LoadError("too-large", uri, `${uri} has more than ${maxBytes} bytes`);
    }
  } finally {
    body.destroy();
  }
  return Buffer.concat(pieces);
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Where the bucket is, if the service says so. */
  readonly region: string | undefined;
}

function refusalOf({ statusCode, headers }: Dispatcher.ResponseData, text: string): Refusal {
  const [error] = rootOf(text, "Error");
  const field = (name: string) => lineOf(named(error, name)[0]).slice(0, 500);
  const header = headers["x-amz-bucket-region"];
  const region = typeof header === "string" ? header : field("Region");
  const known = /^[a-z\d-]{1,40}$/.test(region) ? region : undefined;
  return { status: statusCode, code: field("Code"), message: field("Message"), region: known };
}

/** The first element of a reply, if it has this name. */
function rootOf(text: string, name: string): HtmlElement[] {
  return named(parseXml(text), name);
}

function listingOf(uri: string, text: string): { objects: BucketObject[]; next: string | undefined } {
  const [listing] = rootOf(text, "ListBucketResult");
  if (!listing) throw new LoadError("unreadable", uri, `${uri} cannot be listed: the reply is no listing of a bucket`);
  const field = (element: HtmlElement, name: string) => named(element, name).slice(0, 1).map(textOf).join("");
  const isEncoded = field(listing, "EncodingType") === "url";
  const decoded = (key: string) => (isEncoded ? decodeURIComponent(key.replaceAll("+", " ")) : key);
  const objects = elementsOf(listing)
    .filter(({ name }) => name === "Contents")
    .map((object) => ({
      key: decoded(field(object, "Key")),
      sizeBytes: Number(field(object, "Size")),
      etag: field(object, "ETag").replaceAll('"', ""),
      modified: field(object, "LastModified"),
    }));
  const next = field(listing, "NextContinuationToken");
  return { objects, next: field(listing, "IsTruncated") === "true" && next !== "" ? next : undefined };
}
