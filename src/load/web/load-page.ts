import { extname } from "node:path";
import { LoadError } from "../../errors.js";
import type { ApartLoading } from "../apart/load-apart.js";
import type { Format, Formats } from "../formats.js";
import { asLoadError, type FileOutcome } from "../load-file.js";
import { loadBytes } from "../load-bytes.js";
import type { ReadContext } from "../source.js";
import type { RobotRules, Robots } from "./robots.js";
import type { WebClient } from "./web-client.js";
import type { WebOptions } from "./web-options.js";

export interface PageContext {
  readonly client: WebClient;
  readonly robots: Robots;
  readonly formats: Formats;
  readonly apart: ApartLoading;
  readonly options: WebOptions;
  /** What its documents carry as `source`. */
  readonly source: string;
  readonly signal: AbortSignal;
  readonly stored: ReadContext["stored"];
}

/**
 * What comes of a page: mostly one document, whose title is what it says it is, or the last part of its address. One that
 * did not change since it was stored comes as it is stored.
 */
export async function* loadPage(address: string, context: PageContext): AsyncGenerator<FileOutcome> {
  const { client, formats, source, signal, options } = context;
  try {
    const { delayMs } = await allowed(address, address, context);
    const before = options.refetch ? undefined : await context.stored?.(address);
    const page = await client.getIfChanged(address, { signal, gapMs: delayMs, since: before?.revision });
    if (!page) {
      yield { document: { ...before!, source }, warnings: [] };
      return;
    }
    const { url, bytes, mediaType, charset, revision } = page;
    if (url.origin !== new URL(address).origin) await allowed(url.href, address, context);
    const path = nameOf(url);
    const format = formatOf(path, mediaType, formats);
    if (!format) {
      const message = `${address} is ${mediaType || path}: no loader reads that`;
      throw new LoadError("unsupported", address, message);
    }
    if ("rows" in format) {
      const chunks = (async function* () {
        yield bytes;
      })();
      yield* format.rows(
        { uri: address, chunks },
        { mapping: options.rows, source, maxRowBytes: options.maxFileBytes },
      );
      return;
    }
    const file = { path, uri: address, bytes, ...(charset !== undefined && { charset }) };
    const { warnings = [], ...loaded } = await loadBytes(file, format, { ...options, apart: context.apart, signal });
    const title = loaded.title ?? (path.replace(/\.\w+$/, "") || url.host);
    const document = { uri: address, source, ...loaded, title, ...(revision && { revision }) };
    yield { document, warnings: warnings.map((warning) => `${address}: ${warning}`) };
  } catch (thrown) {
    signal.throwIfAborted();
    yield { error: asLoadError(address, thrown) };
  }
}

/** @throws LoadError (`unsupported`) when the site's robots.txt keeps programs from the page. */
async function allowed(url: string, address: string, { robots, signal }: PageContext): Promise<RobotRules> {
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

/** Types that servers send for whatever they do not know. */
const untold: ReadonlySet<string> = new Set(["", "application/octet-stream", "binary/octet-stream", "text/plain"]);

function formatOf(name: string, mediaType: string, formats: Formats): Format | undefined {
  const byName = extname(name) === "" ? undefined : formats.ofFile(name);
  const byType = formats.ofMediaType(mediaType);
  return untold.has(mediaType) ? (byName ?? byType) : (byType ?? byName);
}
