import { gunzip, type ZlibOptions } from "node:zlib";
import { promisify } from "node:util";
import type { Agent, Dispatcher } from "undici";
import { LoadError, asError } from "../../errors.js";
import { guardedLookup, isRefusedHost, type MayReach } from "../../network/guarded-lookup.js";
import { httpClient } from "../../network/http-client.js";
import { isPublicAddress } from "../../network/public-address.js";
import type { Revision } from "../../types.js";
import { Pace } from "./pace.js";
import type { WebOptions } from "./web-options.js";

export interface Page {
  /** Where the redirects led. */
  readonly url: URL;
  /** In lower case, without parameters; `""` when the server named none. */
  readonly mediaType: string;
  readonly charset: string | undefined;
  readonly bytes: Uint8Array;
  /** What the server calls this state of the page, if it says so. */
  readonly revision: Revision | undefined;
}

export interface GetCall {
  readonly signal: AbortSignal;
  /** Least time between two requests to the host. */
  readonly gapMs: number;
}

export interface GetChangedCall extends GetCall {
  /** What the page was when it was fetched before. */
  readonly since: Revision | undefined;
}

type Answer = { readonly page: Page } | { readonly location: URL } | "unchanged";

/** The server answered, with a status that is no page. */
export class StatusError extends LoadError {
  readonly status: number;

  constructor(url: string, status: number) {
    const gone = status === 404 || status === 410;
    super(gone ? "missing" : "unreadable", url, `${url} answered with status ${status}`);
    this.status = status;
  }
}

const unpack = promisify<Uint8Array, ZlibOptions, Buffer>(gunzip);
/** Times that a server's "too busy" is taken for "later", and the longest wait it may ask for. */
const mostAttempts = 3;
const longestWaitMs = 60_000;

/** Fetches pages from the public internet: at a pace, within limits of time, size and redirects. */
export class WebClient {
  readonly #agent: Agent;
  readonly #options: WebOptions;
  readonly #mayReach: MayReach;
  readonly #pace = new Pace();

  constructor(options: WebOptions) {
    this.#options = options;
    this.#mayReach = options.allowPrivate ? () => true : isPublicAddress;
    const lookup = guardedLookup(this.#mayReach, refused);
    this.#agent = new (httpClient().Agent)({ connect: { timeout: options.requestTimeoutMs, lookup } });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  /** @throws LoadError when there is no page to be had; an abort as the signal's own reason. */
  async get(address: string, call: GetCall): Promise<Page> {
    const page = await this.getIfChanged(address, { ...call, since: undefined });
    // A server that was told of no state cannot say that it is the same.
    if (page) return page;
    throw new StatusError(address, 304);
  }

  /**
   * The page, or `undefined` when it is what it was before.
   *
   * @throws as `get` does.
   */
  async getIfChanged(address: string, { signal, gapMs, since }: GetChangedCall): Promise<Page | undefined> {
    let url = new URL(address);
    try {
      for (let redirects = 0; redirects <= this.#options.maxRedirects; redirects++) {
        // Behind a redirect there may be another page than before, and an older one.
        const known = redirects === 0 ? since : withoutDate(since);
        const answer = await this.#send(url, address, { signal, gapMs }, known);
        if (answer === "unchanged") return undefined;
        if ("page" in answer) return answer.page;
        url = answer.location;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof LoadError) throw thrown;
      throw new LoadError("unreadable", address, `${address} cannot be fetched: ${reasonOf(thrown)}`, {
        cause: thrown,
      });
    }
    const message = `${address} redirects more than ${this.#options.maxRedirects} times: raise maxRedirects`;
    throw new LoadError("unreadable", address, message);
  }

  async #send(url: URL, address: string, { signal, gapMs }: GetCall, since?: Revision): Promise<Answer> {
    const { requestTimeoutMs, userAgent } = this.#options;
    if (!/^https?:$/.test(url.protocol)) throw new Error(`${url.protocol} is neither http nor https`);
    if (isRefusedHost(url, this.#mayReach)) throw refused(url.hostname);
    for (let attempt = 1; ; attempt++) {
      await this.#pace.turn(url.host, gapMs, signal);
      const timeout = AbortSignal.timeout(requestTimeoutMs);
      const reply = await httpClient().request(url, {
        dispatcher: this.#agent,
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
      if (statusCode === 200) return { page: await this.#page(reply, url, address) };
      body.destroy();
      if (statusCode === 304 && Object.keys(conditions(since)).length > 0) return "unchanged";
      const { location } = headers;
      if (statusCode >= 300 && statusCode < 400 && typeof location === "string")
        return { location: new URL(location, url) };
      const waitMs = Math.max(gapMs, 1000 * Number(headers["retry-after"] ?? 2 ** attempt) || 0);
      const isBusy = statusCode === 429 || statusCode === 503;
      if (!isBusy || attempt === mostAttempts || waitMs > longestWaitMs) throw new StatusError(address, statusCode);
      await this.#pace.turn(url.host, waitMs - gapMs, signal);
    }
  }

  async #page({ headers, body }: Dispatcher.ResponseData, url: URL, address: string): Promise<Page> {
    const { maxFileBytes } = this.#options;
    const tooLarge = () =>
      new LoadError("too-large", address, `${address} has more than ${maxFileBytes} bytes, which is maxFileBytes`);
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      size += piece.length;
      if (size > maxFileBytes) throw tooLarge();
      pieces.push(piece);
    }
    const sent = Buffer.concat(pieces);
    const packed = headers["content-encoding"] === "gzip";
    const bytes = packed
      ? await unpack(sent, { maxOutputLength: maxFileBytes }).catch((error: Error & { readonly code?: unknown }) => {
          throw error.code === "ERR_BUFFER_TOO_LARGE" ? tooLarge() : error;
        })
      : sent;
    const [type = "", ...parameters] = String(headers["content-type"] ?? "").split(";");
    const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([\w.:-]+)/i.exec(each)?.[1]).find(Boolean);
    const revision = revisionOf(headers);
    return { url, bytes, mediaType: type.trim().toLowerCase(), charset: charset?.toLowerCase(), revision };
  }
}

/** Longer names of a state are no names. */
const longestName = 1024;

function revisionOf(headers: Dispatcher.ResponseData["headers"]): Revision | undefined {
  const named = (name: string) => {
    const value = headers[name];
    return typeof value === "string" && /^[\x20-\x7e\x80-\xff]+$/.test(value) && value.length <= longestName
      ? value
      : undefined;
  };
  const [etag, lastModified] = [named("etag"), named("last-modified")];
  if (etag === undefined && lastModified === undefined) return undefined;
  return { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) };
}

/** Headers that ask for a page only if it is not in this state. A server that knows the name ignores the date. */
function conditions({ etag, lastModified }: Revision = {}): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { "if-none-match": etag }),
    ...(lastModified !== undefined && { "if-modified-since": lastModified }),
  };
}

function withoutDate({ etag }: Revision = {}): Revision {
  return etag === undefined ? {} : { etag };
}

function refused(what: string): Error {
  return new Error(`${what}, which is not an address of the public internet: set allowPrivate if you mean it`);
}

function reasonOf(thrown: unknown): string {
  const error = asError(thrown);
  return error.name === "TimeoutError" ? "it took longer than requestTimeoutMs" : error.message || error.name;
}
