import { setTimeout as sleep } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import type { Dispatcher } from "undici";
import { LoadError, asError } from "../../core/errors.js";
import { isRefusedHost, type MayReach, isPublicAddress } from "../../network/addresses.js";
import { httpClient } from "../../network/http-client.js";
import type { Revision } from "../../core/types.js";
import { WebConnections } from "./web-connections.js";
import type { WebSettings } from "./web-options.js";

export interface Page {
  /** Final address after redirects. */
  readonly url: URL;
  /** In lower case, without parameters; `""` when the server named none. */
  readonly mediaType: string;
  readonly charset: string | undefined;
  readonly bytes: Uint8Array;
  /** Validators (`ETag`, `Last-Modified`) of this state of the page, if any. */
  readonly revision: Revision | undefined;
}

export interface GetCall {
  readonly signal: AbortSignal;
  /** Time between two requests to the host, at least. */
  readonly gapMs: number;
  /** State of the page when it was last fetched. */
  readonly since?: Revision | undefined;
  /**
   * Called with the address that a redirect leads to, before anything is sent there. Resolves to the time between two
   * requests to its host; a rejection ends the call. Default: every redirect is followed.
   */
  readonly onRedirect?: (url: URL) => Promise<number>;
  /** Bytes of the page to read: the rest is left out. Default: a page of more than `maxFileBytes` is an error. */
  readonly firstBytes?: number;
}

type Answer =
  | { readonly page: Page }
  /** `tookMs` leaves out the time that the request waited for its turn. */
  | { readonly location: URL; readonly tookMs: number }
  | "unchanged";

/** The server answered with a status other than that of a page. */
export class StatusError extends LoadError {
  readonly status: number;

  constructor(url: string, status: number) {
    const gone = status === 404 || status === 410;
    super(gone ? "missing" : "unreadable", url, `${url} answered with status ${status}`);
    this.status = status;
  }
}

/** Attempts while a server is busy, and the longest wait between two. */
const maxAttempts = 3;
const maxWaitMs = 60_000;

/** Fetches pages from the public internet: at a pace, within limits of time, size and redirects. */
export class WebClient {
  readonly #connections: WebConnections;
  readonly #options: WebSettings;
  readonly #mayReach: MayReach;
  readonly #pace = new Pace();

  /** @param mayReach which addresses it may connect to, whether a page's own, behind a redirect, or that of a name */
  constructor(options: WebSettings, mayReach: MayReach = options.allowPrivate ? () => true : isPublicAddress) {
    this.#options = options;
    this.#mayReach = mayReach;
    this.#connections = new WebConnections(options, { mayReach, refusal: refused });
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  /** @throws LoadError when the page cannot be fetched; an abort as the signal's own reason. */
  async get(address: string, call: Omit<GetCall, "since">): Promise<Page> {
    const page = await this.getIfChanged(address, call);
    // A server that was sent no state cannot answer "unchanged".
    if (page) return page;
    throw new StatusError(address, 304);
  }

  /**
   * Fetches the page, or `undefined` when it has not changed.
   *
   * @throws as `get` does.
   */
  async getIfChanged(address: string, call: GetCall): Promise<Page | undefined> {
    const { signal, since, onRedirect } = call;
    let { gapMs } = call;
    let url = new URL(address);
    let leftMs = this.#options.requestTimeoutMs;
    try {
      for (let redirects = 0; redirects <= this.#options.maxRedirects; redirects++) {
        this.#refuseUnreachable(url);
        if (redirects > 0 && onRedirect) gapMs = await onRedirect(url);
        // A redirect may lead to another page than before, even to an older one.
        const known = redirects === 0 ? since : since?.etag === undefined ? undefined : { etag: since.etag };
        const answer = await this.#send(url, address, leftMs, { ...call, gapMs, since: known });
        if (answer === "unchanged") return undefined;
        if ("page" in answer) return answer.page;
        url = answer.location;
        leftMs = Math.max(0, Math.ceil(leftMs - answer.tookMs));
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof LoadError) throw thrown;
      const cause = asError(thrown);
      const late = cause.name === "TimeoutError" ? "it took longer than requestTimeoutMs" : "";
      const message = `${address} cannot be fetched: ${late || cause.message || cause.name}`;
      throw new LoadError("unreadable", address, message, { cause: thrown });
    }
    const message = `${address} redirects more than ${this.#options.maxRedirects} times: raise maxRedirects`;
    throw new LoadError("unreadable", address, message);
  }

  #refuseUnreachable(url: URL): void {
    if (!/^https?:$/.test(url.protocol)) throw new Error(`${url.protocol} is neither http nor https`);
    if (isRefusedHost(url, this.#mayReach)) throw refused(url.hostname);
  }

  async #send(url: URL, address: string, timeoutMs: number, call: GetCall): Promise<Answer> {
    const { signal, gapMs, since, firstBytes } = call;
    const { userAgent } = this.#options;
    for (let attempt = 1; ; attempt++) {
      await this.#pace.turn(url.host, gapMs, signal);
      const dispatcher = await this.#connections.dispatcherFor(url);
      const sentAt = performance.now();
      const timeout = AbortSignal.timeout(timeoutMs);
      const reply = await httpClient().request(url, {
        dispatcher,
        headers: {
          "user-agent": userAgent,
          "accept-encoding": "gzip",
          accept: "text/html, */*;q=0.5",
          ...conditions(since),
        },
        signal: AbortSignal.any([signal, timeout]),
      });
      const { statusCode, headers, body } = reply;
      body.on("error", () => {});
      if (statusCode === 200) return { page: await this.#page(reply, url, address, firstBytes) };
      body.destroy();
      if (statusCode === 304 && Object.keys(conditions(since)).length > 0) return "unchanged";
      const { location } = headers;
      if (statusCode >= 300 && statusCode < 400 && typeof location === "string")
        return { location: new URL(location, url), tookMs: performance.now() - sentAt };
      const waitMs = Math.max(gapMs, requestedWaitMs(headers["retry-after"]) ?? 1000 * 2 ** attempt);
      const isBusy = statusCode === 429 || statusCode === 503;
      if (!isBusy || attempt === maxAttempts || waitMs > maxWaitMs) throw new StatusError(address, statusCode);
      await this.#pace.turn(url.host, waitMs - gapMs, signal);
    }
  }

  async #page(
    { headers, body }: Dispatcher.ResponseData,
    url: URL,
    address: string,
    firstBytes = Infinity,
  ): Promise<Page> {
    const { maxFileBytes } = this.#options;
    const tooLarge = () =>
      new LoadError("too-large", address, `${address} has more than ${maxFileBytes} bytes, which is maxFileBytes`, {
        option: "maxFileBytes",
      });
    let content: AsyncIterable<Uint8Array> = body;
    if (headers["content-encoding"] === "gzip") {
      const unpacking = createGunzip();
      body.on("error", (error) => unpacking.destroy(error));
      content = body.pipe(unpacking);
    }
    const pieces: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const piece of content) {
        size += piece.length;
        pieces.push(piece);
        if (size >= firstBytes) break;
        if (size > maxFileBytes) throw tooLarge();
      }
    } finally {
      body.destroy();
    }
    const bytes = Buffer.concat(pieces).subarray(0, firstBytes);
    const [type = "", ...parameters] = String(headers["content-type"] ?? "").split(";");
    const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([\w.:-]+)/i.exec(parameter)?.[1]).find(Boolean);
    const revision = revisionOf(headers);
    return { url, bytes, mediaType: type.trim().toLowerCase(), charset: charset?.toLowerCase(), revision };
  }
}

/** A `Retry-After`, which is a number of seconds or a date, in milliseconds from now. */
function requestedWaitMs(value: string | readonly string[] | undefined): number | undefined {
  const text = String(value ?? "").trim();
  if (/^\d+$/.test(text)) return 1000 * Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Maximum length of a validator; longer ones are ignored. */
const maxNameLength = 1024;

function revisionOf(headers: Dispatcher.ResponseData["headers"]): Revision | undefined {
  const named = (name: string) => {
    const value = headers[name];
    const isName = typeof value === "string" && /^[\x20-\x7e\x80-\xff]+$/.test(value);
    return isName && value.length <= maxNameLength ? value : undefined;
  };
  const [etag, lastModified] = [named("etag"), named("last-modified")];
  if (etag === undefined && lastModified === undefined) return undefined;
  return { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) };
}

/** Headers that ask for a page only if it is not in this state. A server that knows the `ETag` ignores the date. */
function conditions({ etag, lastModified }: Revision = {}): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { "if-none-match": etag }),
    ...(lastModified !== undefined && { "if-modified-since": lastModified }),
  };
}

class PrivateAddressError extends Error {
  readonly option = "allowPrivate";
}

function refused(what: string): Error {
  const message = `${what}, which is not an address of the public internet: set allowPrivate if you mean it`;
  return new PrivateAddressError(message);
}

/** Spaces out the requests to each host. */
class Pace {
  readonly #next = new Map<string, number>();

  /** Waits until a request to the host may be sent, at least `gapMs` after the one before. */
  async turn(host: string, gapMs: number, signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const startsAtMs = Math.max(now, this.#next.get(host) ?? 0);
    this.#next.set(host, startsAtMs + gapMs);
    if (startsAtMs <= now) return;
    // The timer's own error would wrap the caller's reason.
    await sleep(startsAtMs - now, undefined, { signal }).catch(() => signal.throwIfAborted());
    // A request that waited too long delays the next one from its own start.
    this.#next.set(host, Math.max(this.#next.get(host)!, performance.now() + gapMs));
  }
}
