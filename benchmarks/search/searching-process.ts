/**
 * A process that only opens a store and answers questions one by one, whose memory is measured. It loads nothing but the
 * library.
 */
import { once } from "node:events";
import { type Filter, openStore, Pipeline, type Question, search, type StoreOptions } from "citewell";

export interface Opening extends Pick<StoreOptions, "index" | "quantization"> {
  readonly path: string;
  readonly space: string;
  readonly dimension: number;
}

export interface Asking {
  readonly text: string;
  readonly vector: Float32Array;
  readonly filter?: Filter;
}

export interface Weighed {
  /** Resident memory now, and before the store was opened. */
  readonly residentBytes: number;
  readonly emptyBytes: number;
}

const [{ path, space, dimension, ...options }] = (await once(process, "message")) as [Opening];
const emptyBytes = process.memoryUsage().rss;
const store = await openStore(path, { space, dimension }, { ...options, create: false });
const flow = Pipeline.from<Question & { readonly vector: Float32Array; readonly space: string }>().pipe(search(store));

process.on("message", (asking: Asking) => void answer(asking));
process.once("disconnect", () => void store.close());
weigh();

async function answer({ text, vector, filter }: Asking): Promise<void> {
  const asked = { question: text, vector, space, ...(filter && { filter }) };
  for await (const { hits } of flow.stream([asked])) if (hits.length > 0 || filter) return weigh();
  throw new Error("Nothing was found");
}

function weigh(): void {
  const weighed: Weighed = { residentBytes: process.memoryUsage().rss, emptyBytes };
  process.send!(weighed);
}
