/**
 * A process that only opens a store and answers questions one by one, whose memory `search.ts` measures. It loads nothing
 * but the library.
 */
import { type Filter, openStore, Pipeline, type Question, search } from "citewell";
import { once } from "node:events";

export interface Opening {
  readonly path: string;
  readonly space: string;
  readonly dimension: number;
  readonly index: "flat" | "hnsw";
}

export interface Asking {
  readonly question: string;
  readonly vector: Float32Array;
  readonly filter?: Filter;
}

export interface Weighed {
  /** Hits of the previous question. */
  readonly hits: number;
  /** Resident memory now, and its peak. */
  readonly residentBytes: number;
  readonly peakBytes: number;
  /** The main thread's. */
  readonly heapBytes: number;
  readonly buffersBytes: number;
}

const [{ path, space, dimension, index }] = (await once(process, "message")) as [Opening];
const store = await openStore(path, { space, dimension }, { index, create: false });
const flow = Pipeline.from<Question & { readonly vector: Float32Array; readonly space: string }>().pipe(search(store));

process.on("message", (asking: Asking) => void answer(asking));
process.once("disconnect", () => void store.close());
weigh(0);

async function answer({ question, vector, filter }: Asking): Promise<void> {
  const asked = { question, vector, space, ...(filter && { filter }) };
  for await (const { hits } of flow.stream([asked])) weigh(hits.length);
}

function weigh(hits: number): void {
  const { rss, heapTotal, arrayBuffers } = process.memoryUsage();
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  const weighed: Weighed = { hits, residentBytes: rss, peakBytes, heapBytes: heapTotal, buffersBytes: arrayBuffers };
  process.send!(weighed);
}
