import type { Agent } from "undici";
import { httpClient } from "../../network/http-client.js";
import { guardedLookup, isRefusedHost, type MayReach } from "../../network/guarded-lookup.js";
import type { ReadableMedium } from "./media-probe.js";

export interface RemoteOptions {
  /** Whether an IP address may be connected to. */
  readonly mayReach: MayReach;
  /** Most bytes to fetch in all. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface RemoteMedium extends ReadableMedium {
  readonly close: () => Promise<void>;
}

const blockBytes = 256 * 1024;
const maxRedirects = 3;

/**
 * A medium at an address, read by ranges in blocks of 256 kB. Neither the address, nor a name's addresses, nor a
 * redirect may lead where it may not reach; names are resolved once, by the connection itself, so that they
 * cannot lead elsewhere the second time.
 *
 * @throws Error saying what is wrong with the address or the answer.
 */
export async function openRemoteMedium(address: string, options: RemoteOptions): Promise<RemoteMedium> {
  const agent = new (httpClient().Agent)({
    connect: { timeout: options.timeoutMs, lookup: guardedLookup(options.mayReach, privateAddress) },
  });
  const close = () => agent.destroy();
  const reader = new RangeReader(new URL(address), agent, options);
  try {
    const sizeBytes = await reader.open();
    return { sizeBytes, read: (start, end) => reader.read(start, end), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function privateAddress(what: string): Error {
  return new Error(`${what}, which is not an address of the public internet: the service cannot fetch it either`);
}

class RangeReader {
  readonly #agent: Agent;
  readonly #options: RemoteOptions;
  readonly #blocks = new Map<number, Promise<Uint8Array>>();
  #url: URL;
  #sizeBytes = 0;
  #fetchedBytes = 0;

  constructor(url: URL, agent: Agent, options: RemoteOptions) {
    this.#url = url;
    this.#agent = agent;
    this.#options = options;
  }

  /** Reads the first block, and learns the size. */
  async open(): Promise<number> {
    const first = await this.#fetch(0);
    this.#blocks.set(0, Promise.resolve(first));
    return this.#sizeBytes;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const first = Math.floor(start / blockBytes);
    const last = Math.floor((end - 1) / blockBytes);
    const blocks: Uint8Array[] = [];
    for (let index = first; index <= last; index++) blocks.push(await this.#block(index));
    return Buffer.concat(blocks).subarray(start - first * blockBytes, end - first * blockBytes);
  }

  #block(index: number): Promise<Uint8Array> {
    const known = this.#blocks.get(index);
    if (known) return known;
    const fetched = this.#fetch(index);
    this.#blocks.set(index, fetched);
    return fetched;
  }

  async #fetch(index: number): Promise<Uint8Array> {
    const { mayReach, maxBytes, timeoutMs, signal } = this.#options;
    const timeout = AbortSignal.timeout(timeoutMs);
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      if (!/^https?:$/.test(this.#url.protocol)) throw new Error(`${this.#url.protocol} is neither http nor https`);
      if (isRefusedHost(this.#url, mayReach)) throw privateAddress(this.#url.hostname);
      const start = index * blockBytes;
      const { statusCode, headers, body } = await httpClient().request(this.#url, {
        dispatcher: this.#agent,
        headers: { range: `bytes=${start}-${start + blockBytes - 1}`, "accept-encoding": "identity" },
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      body.on("error", () => {});
      if (statusCode >= 300 && statusCode < 400 && typeof headers["location"] === "string") {
        body.destroy();
        this.#url = new URL(headers["location"], this.#url);
        continue;
      }
      if (statusCode !== 206 && (statusCode !== 200 || index > 0)) {
        body.destroy();
        throw new Error(`its server answered with status ${statusCode}`);
      }
      const sizeBytes =
        statusCode === 206
          ? Number(/\/(\d+)$/.exec(String(headers["content-range"]))?.[1])
          : Number(headers["content-length"]);
      if (!Number.isSafeInteger(sizeBytes)) {
        body.destroy();
        throw new Error("its server does not tell its size");
      }
      this.#sizeBytes = sizeBytes;
      const bytes = await this.#take(body, maxBytes);
      if (statusCode === 200) this.#keep(bytes);
      return bytes.subarray(0, blockBytes);
    }
    throw new Error(`its address redirects more than ${maxRedirects} times`);
  }

  async #take(body: AsyncIterable<unknown> & { destroy: () => unknown }, maxBytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of body) {
      this.#fetchedBytes += (piece as Buffer).length;
      if (this.#fetchedBytes > maxBytes) {
        body.destroy();
        throw new Error(`its header could not be read within ${maxBytes} bytes`);
      }
      pieces.push(piece as Buffer);
    }
    return Buffer.concat(pieces);
  }

  /** A server that knows no ranges sent everything at once. */
  #keep(bytes: Buffer): void {
    for (let index = 1; index * blockBytes < bytes.length; index++) {
      const block = bytes.subarray(index * blockBytes, (index + 1) * blockBytes);
      this.#blocks.set(index, Promise.resolve(block));
    }
  }
}
