import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { OptionsError } from "../errors.js";
import type { Store } from "../ports.js";
import type { ChunkHistory, ChunkStep, Hit, RetrieverView, Trace } from "../types.js";
import type { World } from "./command-context.js";
import { displayPlace, displayUri, safeForTerminal } from "./terminal-text.js";

/** What became of what was asked about: of one chunk, or of every chunk of a document that a step has seen. */
export interface WhyReport {
  readonly uri: string;
  /** Chunks of the document, seen or not. */
  readonly chunks: number;
  readonly histories: readonly { readonly hit: Hit; readonly history: ChunkHistory }[];
}

/**
 * @param asked Id of a chunk, uri of a document, or path of its file.
 * @throws OptionsError when the store has neither.
 */
export async function explain(
  store: Store,
  trace: Trace,
  asked: string,
  { directory }: Pick<World, "directory">,
): Promise<WhyReport> {
  const [chunk] = await chunksById(store, [asked]);
  if (chunk) return { uri: chunk.uri, chunks: 1, histories: [{ hit: chunk, history: trace.why(asked) }] };
  for (const uri of [asked, pathToFileURL(resolve(directory, asked)).href]) {
    const info = await store.documentInfo(uri);
    if (!info) continue;
    const ofDocument = (await chunksById(store, seenIn(trace))).filter((hit) => hit.uri === uri);
    const histories = ofDocument.map((hit) => ({ hit, history: trace.why(hit.chunk.id) }));
    return { uri, chunks: info.chunks, histories };
  }
  throw new OptionsError("options", `--why: the store at ${store.location} has no chunk and no document ${asked}`);
}

function chunksById(store: Store, ids: readonly string[]): Promise<readonly Hit[]> {
  return store.hits(ids.map((chunkId) => ({ chunkId, score: 0, placements: [] })));
}

/** Ids of all chunks that a trace names, each once, in the order in which it names them. */
function seenIn(trace: Trace): readonly string[] {
  const ids = trace.flatMap(({ kept, dropped, lists = [] }) => [
    ...kept,
    ...dropped.map(({ chunkId }) => chunkId),
    ...lists.flatMap(({ chunkIds }) => chunkIds),
  ]);
  return [...new Set(ids)];
}

export function whyAsJson({ uri, chunks, histories }: WhyReport): object {
  return {
    uri,
    chunks,
    histories: histories.map(({ hit: { chunk }, history }) => ({ ...history, start: chunk.start, end: chunk.end })),
  };
}

export function describeWhy({ uri, chunks, histories }: WhyReport, { directory }: Pick<World, "directory">): string {
  if (histories.length === 0) {
    return `${safeForTerminal(displayUri(uri, directory))}: none of its ${chunks} chunks was found by any step.\n`;
  }
  const blocks = histories.map(({ hit, history }) =>
    [
      `${safeForTerminal(displayPlace(hit.uri, hit, directory))}  (${history.chunkId})`,
      `  ${history.summary}`,
      ...history.steps.flatMap(describeStep),
    ].join("\n"),
  );
  return `${blocks.join("\n\n")}\n`;
}

function describeStep({ step, outcome, rank, reason, retrievers = [] }: ChunkStep): readonly string[] {
  const done = outcome === "kept" ? `kept at rank ${rank}` : outcome === "dropped" ? `dropped: ${reason}` : "not seen";
  return [`  - ${step}: ${done}`, ...retrievers.map((view) => `      ${describeView(view)}`)];
}

function describeView({ by, rank, score, reason }: RetrieverView): string {
  return rank === undefined ? `${by}: ${reason}` : `${by}: rank ${rank}, score ${score!.toPrecision(3)}`;
}
