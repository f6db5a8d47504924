import type { Embedder, Store } from "../ports.js";
import { keyOfText } from "../text/chunk-identity.js";
import { withEmbed } from "./with-embed.js";

/** Longest that a vector waits in memory for the reply before its own, in milliseconds. */
const patienceMs = 1000;

export interface KeepingLanded<Space extends string> {
  /** The embedder, whose vectors are noted as they land. */
  readonly embedder: Embedder<Space>;
  /** The store, whose writes are noted too. */
  readonly store: Pick<Store<Space>, "space" | "dimension" | "write" | "documentInfo">;
  /** Does the work, and keeps at its end, whichever it is, what has landed and was not written. */
  readonly during: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * Vectors leave `embedChunks` in the order of their chunks, so those that land behind a slow request wait for it: half a
 * minute where a service asks for that. They are paid for, and whoever pulls the plug meanwhile would pay again. So what
 * has waited for a second is written by itself; in a run without slow requests nothing is.
 */
export function keepLanded<Space extends string>(
  embedder: Embedder<Space>,
  into: KeepingLanded<Space>["store"],
): KeepingLanded<Space> {
  const landed = new Map<string, { readonly vector: Float32Array; readonly at: number }>();
  let timer: NodeJS.Timeout | undefined;

  const keep = async (landedBefore: number) => {
    const vectors = new Map<string, Float32Array>();
    for (const [key, { vector, at }] of landed) if (at <= landedBefore) vectors.set(key, vector);
    for (const key of vectors.keys()) landed.delete(key);
    // A store that cannot be written says so to whoever writes documents, too.
    if (vectors.size > 0) await into.write({ vectors }).catch(() => {});
  };
  const watch = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void keep(performance.now() - patienceMs);
      if (landed.size > 0) watch();
    }, patienceMs).unref();
  };

  return {
    embedder: withEmbed(embedder, async (texts, call) => {
      const reply = await embedder.embed(texts, call);
      const at = performance.now();
      for (const [index, vector] of reply.vectors.entries()) {
        const text = texts[index];
        if (text !== undefined) landed.set(keyOfText(text), { vector, at });
      }
      watch();
      return reply;
    }),
    store: {
      ...into,
      write: (write) => {
        for (const key of write.vectors?.keys() ?? []) landed.delete(key);
        return into.write(write);
      },
    },
    during: async (work) => {
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        await keep(Infinity);
      }
    },
  };
}
