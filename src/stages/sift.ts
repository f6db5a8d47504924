import { setImmediate } from "node:timers/promises";
import type { Found, Retriever, Store } from "../ports.js";
import type { Hit, TraceStep } from "../types.js";

export interface Sieve {
  readonly store: Pick<Store, "hits">;
  /** Why a chunk may not stay; `undefined` when it may. */
  readonly refuse: (chunk: Hit["chunk"]) => string | undefined;
  /** Gets each chunk that was refused, once. */
  readonly dropped: Map<string, TraceStep["dropped"][number]>;
}

/** Chunks that are read and checked before other work has its turn. */
const batch = 64;

/**
 * A retriever of which only those results are kept that may stay. It is asked for four times as many as before until
 * enough have stayed, it has no more, or `most` were looked at. Results keep the rank that the retriever gave them.
 */
export function sifted(retriever: Retriever, { store, refuse, dropped }: Sieve, most: number): Retriever {
  return {
    name: retriever.name,
    retrieve: async (query, { count, ...call }) => {
      const kept: Found[] = [];
      let checked = 0;
      for (let asked = count; ; asked *= 4) {
        const found = await retriever.retrieve(query, { ...call, count: Math.min(most, asked) });
        for (; checked < found.length && kept.length < count; checked += batch) {
          call.signal?.throwIfAborted();
          const next = found.slice(checked, checked + batch);
          const byId = new Map((await store.hits(next)).map(({ chunk }) => [chunk.id, chunk]));
          for (const each of next) {
            const chunk = byId.get(each.chunkId);
            const reason = chunk && refuse(chunk);
            if (reason !== undefined) dropped.set(each.chunkId, { chunkId: each.chunkId, reason });
            else if (chunk) kept.push(each);
          }
          await setImmediate();
        }
        if (kept.length >= count || found.length < asked || asked >= most) return kept.slice(0, count);
      }
    },
  };
}
