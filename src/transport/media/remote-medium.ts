import { type MayReach, guardedLookup, isRefusedHost } from "../../network/addresses.js";
import { httpClient } from "../../network/http-client.js";
import type { ReadableMedium } from "./media-probe.js";

export interface RemoteOptions {
  /** Whether an IP address may be connected to. */
  readonly mayReach: MayReach;
  /** Maximum bytes to fetch in all. */
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
 * Opens a medium at an address, to be read by ranges in blocks of 256 kB. Neither the address, nor the addresses of a
 * name, nor a redirect may lead where it may not reach; names are resolved once, by the connection itself, so that they
 * cannot lead elsewhere the second time.
 *
 * @throws Error saying what is wrong with the address or the answer.
 */
export async function openRemoteMedium(address: string, options: RemoteOptions): Promise<RemoteMedium> {
  const medium = new RangedMedium(new URL(address), options);
  try {
    await medium.open();
    return medium;
  } catch (error) {
    await medium.close();
    throw error;
  }
}

function privateAddress(what: string): Error {
  return new Error(`${what}, which is not an address of the public internet: the service cannot fetch it either`);
}

class RangedMedium implements RemoteMedium {
  sizeBytes = 0;
  #url: URL;
  #fetchedBytes = 0;
  readonly #options: RemoteOptions;
  readonly #blocks = new Map<number, Promise<Uint8Array>>();
  readonly #agent;

  constructor(url: URL, options: RemoteOptions) {
    this.#url = url;
    this.#options = options;
    this.#agent = new (httpClient().Agent)({
      connect: { timeout: options.timeoutMs, lookup: guardedLookup(options.mayReach, privateAddress) },
    });
  }

  readonly read = async (start: number, end: number): Promise<Uint8Array> => {
    const first = Math.floor(start / blockBytes);
    const last = Math.floor((end - 1) / blockBytes);
    const blocks: Uint8Array[] = [];
    for (let index = first; index <= last; index++) blocks.push(await this.#block(index));
    return Buffer.concat(blocks).subarray(start - first * blockBytes, end - first * blockBytes);
  };

  readonly close = () => this.#agent.destroy();

  /** Reads the first block, and learns the size. */
  async open(): Promise<void> {
    await this.#block(0);
  }

  #block(index: number): Promise<Uint8Array> {
    const known = this.#blocks.get(index);
    if (known) return known;
    const fetched = this.#fetch(index);
    this.#blocks.set(index, fetched);
    return fetched;
  }

  async #fetch(index: number): Promise<Uint8Array> {
    const { mayReach, timeoutMs, signal } = this.#options;
    const timeout = AbortSignal.timeout(timeoutMs);
    const start = index * blockBytes;
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      if (!/^https?:$/.test(this.#url.protocol)) throw new Error(`${this.#url.protocol} is neither http nor https`);
      if (isRefusedHost(this.#url, mayReach)) throw privateAddress(this.#url.hostname);
      const { statusCode, headers, body } = await httpClient().request(this.#url, {
        dispatcher: this.#agent,
        headers: { range: `bytes=${start}-${start + blockBytes - 1}`, "accept-encoding": "identity" },
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      body.on("error", () => {});
      const refuse = (problem: string): never => {
        body.destroy();
        throw new Error(problem);
      };
      if (statusCode >= 300 && statusCode < 400 && typeof headers["location"] === "string") {
        body.destroy();
        this.#url = new URL(headers["location"], this.#url);
        continue;
      }
      if (statusCode !== 206 && (statusCode !== 200 || index > 0)) {
        refuse(`its server answered with status ${statusCode}`);
      }
      const range = /\/(\d+)$/.exec(String(headers["content-range"]));
      const sizeBytes = Number(statusCode === 206 ? range?.[1] : headers["content-length"]);
      if (!Number.isSafeInteger(sizeBytes)) refuse("its server does not tell its size");
      this.sizeBytes = sizeBytes;
      const bytes = await this.#readBody(body);
      if (statusCode === 200) this.#keep(bytes);
      return bytes.subarray(0, blockBytes);
    }
    throw new Error(`its address redirects more than ${maxRedirects} times`);
  }

  async #readBody(body: AsyncIterable<unknown> & { destroy: () => unknown }): Promise<Buffer> {
    const { maxBytes } = this.#options;
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

  /** Keeps all blocks: a server that knows no ranges sent everything at once. */
  #keep(bytes: Buffer): void {
    for (let index = 1; index * blockBytes < bytes.length; index++) {
      const block = bytes.subarray(index * blockBytes, (index + 1) * blockBytes);
      this.#blocks.set(index, Promise.resolve(block));
    }
  }
}
