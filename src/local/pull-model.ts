import type { PullModelOptions } from "./pull-options.js";
import type { PulledModel } from "./pulled-models.js";

/**
 * Downloads a model from a hub, once: a model that is there in the same version is left as it is. Only what is needed to compute
 * it is fetched: its descriptions, its tokenizer, and the table of a static embedding model or the ONNX of any other. Each file
 * is checked by the hash that the hub states, and the model is there when all are.
 *
 * @param name `owner/name`, or `owner/name@revision` for a branch, tag or commit. Default revision: `main`.
 * @throws OptionsError (`options`, `config`) for a name that is none, a model that citewell cannot compute, or a file whose name
 * leads out of the folder; `TransportError` when the hub refuses or cannot be reached.
 * @example
 * ```ts
 * import { pullModel } from "citewell/local";
 * const { id, sizeBytes } = await pullModel("owner/small-embeddings", { folder: "./models" });
 * console.log(`${id}: ${sizeBytes} bytes`);
 * ```
 */
export async function pullModel(name: string, options: PullModelOptions): Promise<PulledModel> {
  const { fetchModel } = await import("./hub/fetch-model.js");
  return fetchModel(name, options);
}
