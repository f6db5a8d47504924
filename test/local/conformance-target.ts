import { startLocalService, type LocalServiceOptions } from "../../src/local/service.js";
import type { ConformanceModels } from "./conformance-cases.js";
import type { Target } from "./conformance.js";

// The local service is checked, or the service of this shape that the environment names:
// CONFORMANCE_URL, CONFORMANCE_KEY and CONFORMANCE_MODELS, a JSON object as below.
const { CONFORMANCE_URL: url, CONFORMANCE_KEY: apiKey = "", CONFORMANCE_MODELS: named } = process.env;

export const models: ConformanceModels = {
  embedding: "citewell/local-lexical",
  longEmbedding: "citewell/local-lexical-m3",
  rerank: "citewell/local-lexical-rerank",
  llm: "citewell/local-extractive",
  q3: "citewell/local-extractive-q3",
  d: "citewell/local-extractive-d",
  s: "citewell/local-extractive-s",
  vlm: "citewell/local-look",
  video: "vendor/vendor-video-2.0",
  ...(named === undefined ? {} : (JSON.parse(named) as Partial<ConformanceModels>)),
};

/** Whether it is another service, whose time is not ours to set. */
export const isRemote = url !== undefined;

/** The service under test, and the function that closes it. */
export async function openTarget(
  options: LocalServiceOptions = {},
): Promise<{ readonly target: Target; readonly close: () => Promise<void> }> {
  if (url !== undefined) return { target: { url, apiKey }, close: () => Promise.resolve() };
  const service = await startLocalService(options);
  return { target: service, close: () => service.close() };
}
