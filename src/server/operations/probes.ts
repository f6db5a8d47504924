import type { KnowledgeBase } from "../../knowledge-base/options.js";

/** Longest time that the store has for its answer. */
const storeLimitMs = 2000;
/** Time for which a result holds, so that callers without a token cannot keep the store busy. */
const heldMs = 1000;

/**
 * The answers to probes of an orchestrator. They are given without a token and to every host name, because probes address a
 * container by its own address; so they are one word and a status, and name nothing.
 */
export class Probes {
  readonly #kb: Pick<KnowledgeBase, "store">;
  readonly #onError: ((error: unknown) => void) | undefined;
  #reading: Promise<boolean> | undefined;
  #isEnding = false;
  #wasReady = true;

  /** @param onError called when a store that could be read cannot be read any more. */
  constructor(kb: Pick<KnowledgeBase, "store">, onError: ((error: unknown) => void) | undefined) {
    this.#kb = kb;
    this.#onError = onError;
  }

  /** From now on the server is not ready: a balancer sends its requests elsewhere. */
  end(): void {
    this.#isEnding = true;
  }

  /** Whether the process answers at all. */
  live(): Response {
    return word(200, "live");
  }

  /** Whether the documents can be read, and the server takes new requests. */
  async ready(): Promise<Response> {
    if (this.#isEnding) return word(503, "ending");
    return (await this.#readable()) ? word(200, "ready") : word(503, "the documents cannot be read");
  }

  #readable(): Promise<boolean> {
    if (!this.#reading) {
      this.#reading = this.#read();
      void this.#reading.then(() => setTimeout(() => (this.#reading = undefined), heldMs).unref());
    }
    return this.#reading;
  }

  async #read(): Promise<boolean> {
    try {
      await within(storeLimitMs, this.#kb.store.counts());
      this.#wasReady = true;
    } catch (error) {
      // Probes come every few seconds: the log gets the first failure of a series.
      if (this.#wasReady) this.#onError?.(error);
      this.#wasReady = false;
    }
    return this.#wasReady;
  }
}

async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The store did not answer a probe within ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function word(status: number, text: string): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
}
