import { cpus } from "node:os";
import type { split as Split } from "../../src/text/chunking/split.js";
import type * as Tokens from "../../src/text/tokens/tokens.js";
import { loadPeer } from "../runner/packages.js";
import { shipped } from "../runner/project.js";
import { vectorOf } from "../shared/fixed-latency-upstream.js";
import { batchTexts, concurrency, dimension, type Ingestion, maxTokens, overlapTokens } from "./setting.js";

/**
 * The time that the slowest part takes by itself, which all others could wait for: the service at full concurrency, one pass
 * of the tokenizer, and, with a graph, the insertion of all vectors, shared by all cores.
 */
export function slowestPart(hasGraph: boolean): Ingestion {
  return async ({ documents, latencyMs, timed }) => {
    const { split } = await shipped<{ readonly split: typeof Split }>("text/chunking/split.js");
    const { defaultTokens } = await shipped<typeof Tokens>("text/tokens/tokens.js");
    // Timed before anything is cut, because the counter keeps words that it has seen.
    const tokenizer = await timed(() => documents.forEach(({ text }) => defaultTokens.count(text)));
    const options = { maxTokens, overlapTokens, parentTokens: 1024, tokens: defaultTokens };
    const chunks = documents.flatMap((document) => [
      ...split({ ...document, mediaType: "text/markdown" }, options),
    ]).length;
    const waiting = (Math.ceil(chunks / batchTexts / concurrency) * latencyMs) / 1000;
    const inserting = hasGraph ? (await timedInsertion(chunks, timed)) / cpus().length : 0;
    const seconds = Math.max(waiting, tokenizer.wallSeconds, inserting);
    return { seconds, chunks, more: { waiting, tokenizing: tokenizer.wallSeconds, ...(hasGraph && { inserting }) } };
  };
}

async function timedInsertion(count: number, timed: Parameters<Ingestion>[0]["timed"]): Promise<number> {
  const { default: library } = await loadPeer<{ readonly default: typeof import("hnswlib-node") }>("hnswlib-node");
  const graph = new library.HierarchicalNSW("cosine", dimension);
  graph.initIndex({ maxElements: count, m: 16, efConstruction: 64 });
  let seconds = 0;
  for (let label = 0; label < count; label++) {
    const vector = Array.from(vectorOf(String(label), dimension));
    seconds += (await timed(() => graph.addPoint(vector, label))).wallSeconds;
  }
  return seconds;
}
