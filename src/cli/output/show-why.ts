import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { OptionsError } from "../../core/errors.js";
import type { Store } from "../../core/ports.js";
import type { ChunkHistory, ChunkStep, Hit, RetrieverView, Trace } from "../../core/types.js";
import type { CommandIo } from "../command-context.js";
import { displayPlace, displayUri, safeForTerminal, type KnownFolders } from "./terminal-text.js";

/** The way of one chunk through a search, or of every chunk of a document that any step saw. */
export interface WhyReport {
  readonly uri: string;
  /** Chunks of the document, whether seen or not. */
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
  { directory }: Pick<CommandIo, "directory">,
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

/** Ids of all chunks in a trace, each once, in order of appearance. */
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

export function describeWhy({ uri, chunks, histories }: WhyReport, folders: KnownFolders): string {
  if (histories.length === 0) {
    return `${safeForTerminal(displayUri(uri, folders))}: no step found any of its ${chunks} chunks.\n`;
  }
  const blocks = histories.map(({ hit, history }) =>
    [
      `${safeForTerminal(displayPlace(hit.uri, hit, folders))}  (${history.chunkId})`,
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
