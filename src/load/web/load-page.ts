import { extname } from "node:path";
import { LoadError } from "../../core/errors.js";
import { Formats, type Format } from "../formats/formats.js";
import type { FileOutcome } from "../formats/loader.js";
import { metadataFor, withMetadata } from "../sources/operator-metadata.js";
import { MailsOfSource } from "../sources/mails-of-source.js";
import { asLoadError, readContents } from "../sources/read-contents.js";
import type { ReadContext } from "../sources/source.js";
import { LoadingWorker } from "../worker/load-bytes.js";
import { Robots, type RobotRules } from "./robots.js";
import { WebClient } from "./web-client.js";
import type { WebSettings } from "./web-options.js";

/** Resources for fetching and loading the pages of one run. */
export interface Visit {
  readonly client: WebClient;
  readonly robots: Robots;
  readonly formats: Formats;
  readonly worker: LoadingWorker;
  readonly options: WebSettings;
  /** Id that the documents carry as `source`. */
  readonly source: string;
  readonly signal: AbortSignal;
  readonly stored: ReadContext["stored"];
}

/** Runs `read` with a visit that is closed after it. */
export async function* visiting<Out>(
  options: WebSettings,
  source: string,
  { signal, stored }: Pick<ReadContext, "signal" | "stored">,
  read: (visit: Visit) => AsyncIterable<Out>,
): AsyncGenerator<Out> {
  const client = new WebClient(options);
  const worker = new LoadingWorker();
  const formats = new Formats(options.loaders, options.recognizer);
  try {
    yield* read({ client, robots: new Robots(client, options), formats, worker, options, source, signal, stored });
  } finally {
    await worker.close();
    await client.close();
  }
}

/**
 * Yields the outcome of a page: usually one document, titled as the page says, or by the last part of its address. A page
 * that has not changed since it was stored is yielded as it is stored.
 */
export async function* loadPage(address: string, visit: Visit): AsyncGenerator<FileOutcome> {
  const { client, formats, source, signal, options, worker } = visit;
  try {
    const { delayMs } = await allowed(address, address, visit);
    const { metadata, digest } = await metadataFor(options.metadata, {
      uri: address,
      path: new URL(address).pathname.slice(1),
    });
    const before = options.refetch ? undefined : await visit.stored?.(address);
    const page = await client.getIfChanged(address, {
      signal,
      gapMs: delayMs,
      // The stored metadata does not show which part came from the page itself, so changed metadata needs a full fetch.
      since: before?.revision?.metadataDigest === digest ? before?.revision : undefined,
      onRedirect: async (url) => (await allowed(url.href, address, visit)).delayMs,
    });
    if (!page) {
      yield { document: { ...before!, source }, warnings: [] };
      return;
    }
    const { url, bytes, mediaType, charset, revision } = page;
    const path = nameOf(url);
    const named = formatOf(path, mediaType, formats);
    const format = (named && !("rows" in named) && named.instead?.(bytes)) || named;
    if (!format) {
      throw new LoadError("unsupported", address, `${address} is ${mediaType || path}: no loader reads that`);
    }
    const file = { path, uri: address, bytes, ...(charset !== undefined && { charset }) };
    if ("rows" in format || format.holdsFiles) {
      const outcomes = readContents(format, file, {
        ...options,
        formats,
        worker,
        source,
        signal,
        mails: new MailsOfSource(),
      });
      for await (const outcome of outcomes) yield withMetadata(outcome, metadata);
      return;
    }
    const {
      warnings = [],
      leftOut = [],
      ...loaded
    } = await worker.load(format, file, { timeoutMs: options.timeoutMs, signal });
    const title = loaded.title ?? (path.replace(/\.\w+$/, "") || url.host);
    const version = revision && { ...revision, ...(digest !== undefined && { metadataDigest: digest }) };
    const document = { uri: address, source, ...loaded, title, ...(version && { revision: version }) };
    yield withMetadata({ document, warnings: warnings.map((warning) => `${address}: ${warning}`), leftOut }, metadata);
  } catch (thrown) {
    signal.throwIfAborted();
    yield { error: asLoadError(address, thrown) };
  }
}

/** @throws LoadError (`unsupported`) when the site's robots.txt keeps programs from the page. */
async function allowed(url: string, address: string, { robots, signal }: Visit): Promise<RobotRules> {
  const rules = await robots.of(url, signal);
  if (rules.allows(url)) return rules;
  throw new LoadError("unsupported", address, `${address} is kept from programs by the site's robots.txt`);
}

/** The last part of an address, as the name of a file. */
function nameOf({ pathname }: URL): string {
  const part = pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Types that servers send for files they do not know. */
const genericTypes: ReadonlySet<string> = new Set([
  "",
  "application/octet-stream",
  "binary/octet-stream",
  "text/plain",
]);

function formatOf(name: string, mediaType: string, formats: Formats): Format | undefined {
  const byName = extname(name) === "" ? undefined : formats.ofFile(name);
  const byType = formats.ofMediaType(mediaType);
  return genericTypes.has(mediaType) ? (byName ?? byType) : (byType ?? byName);
}
