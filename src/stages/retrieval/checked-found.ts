import { shown } from "../../core/check-port.js";
import { OptionsError } from "../../core/errors.js";
import { isRecord } from "../../core/json.js";
import type { Found, RetrievalQuery, RetrieveCall, Retriever } from "../../core/ports.js";
import type { Hit } from "../../core/types.js";

/**
 * The retriever's results, checked: one of the caller's may return anything where nothing checks its types.
 *
 * @throws OptionsError that names the retriever, the result and the field.
 */
export async function checkedFound(
  retriever: Retriever,
  query: RetrievalQuery,
  call: RetrieveCall,
): Promise<readonly Found[]> {
  const found: unknown = await retriever.retrieve(query, call);
  const refuse = (problem: string): never => {
    throw new OptionsError("options", `The retriever ${retriever.name} returned ${problem}`, { call: "retrieve" });
  };
  if (!Array.isArray(found)) return refuse(`${shown(found)}, not a list of { chunkId, score, placements }`);
  for (let index = 0; index < found.length; index++) {
    const hit: unknown = found[index];
    if (!isRecord(hit)) return refuse(`[${index}] that is ${shown(hit)}, not { chunkId, score, placements }`);
    const { chunkId, score, placements } = hit;
    if (typeof chunkId !== "string") return refuse(`[${index}].chunkId ${shown(chunkId)}, which is no text`);
    if (typeof score !== "number" || Number.isNaN(score))
      return refuse(`[${index}].score ${shown(score)}, which is no number`);
    if (!Array.isArray(placements)) return refuse(`[${index}].placements ${shown(placements)}, which is no list`);
  }
  return found as readonly Found[];
}

/** @throws OptionsError that names the value that a store's `hits` returned in place of hits. */
export function checkedHits(hits: unknown): readonly Hit[] {
  const refuse = (problem: string): never => {
    throw new OptionsError("options", `The store's hits() returned ${problem}`, { call: "search" });
  };
  if (!Array.isArray(hits)) return refuse(`${shown(hits)}, not a list of hits`);
  for (const [index, hit] of hits.entries()) {
    const { chunk, uri } = isRecord(hit) ? hit : refuse(`[${index}] that is ${shown(hit)}, not a hit`);
    if (typeof uri !== "string") refuse(`[${index}].uri ${shown(uri)}, which is no text`);
    if (!isRecord(chunk) || typeof chunk["id"] !== "string" || typeof chunk["text"] !== "string") {
      refuse(`[${index}].chunk ${shown(chunk)}, which has no id and text`);
    }
  }
  return hits as readonly Hit[];
}
