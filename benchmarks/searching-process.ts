/**
 * A process that does nothing but open a store and answer questions, which come one by one: what `search.ts` weighs. It
 * loads nothing but the library, so that nothing else is in its memory.
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
  /** Found for the question before. */
  readonly hits: number;
  /** Now, and the most it has been. */
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
