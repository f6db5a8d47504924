import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { LoadError, OptionsError } from "../../../core/errors.js";
import { openCollection, sample, spread, type Collection } from "../../../evaluate/collection.js";
import type { KnowledgeBase } from "../../../knowledge-base/options.js";
import { documentSource } from "../../../load/sources/source.js";
import type { SearchMode } from "../../../stages/retrieval/search.js";
import { withKnowledgeBase, withTemporaryFolder, type CommandIo, type StoreFlags } from "../../command-context.js";
import { counted } from "../../output/figures.js";
import { ingestProgress } from "../../output/progress.js";
import { given } from "../../../core/given.js";

export interface EvalFlags extends StoreFlags {
  readonly mode?: readonly SearchMode[];
  readonly rerank?: boolean;
  readonly limitQueries?: number;
  readonly seed?: number;
  readonly queries?: string;
  readonly qrels?: string;
  readonly grid?: boolean;
  readonly report?: string;
  readonly output?: string;
  readonly baseline?: string;
  readonly answers?: boolean;
  readonly judge?: string;
  readonly judgeTokens?: number;
  readonly judgeCost?: number;
  readonly judgePrice?: readonly string[];
}

/**
 * The collection in a folder, with the queries and judgements that the flags name.
 *
 * @throws LoadError (`missing`) that says what a collection consists of when the folder is none.
 */
export async function openEvalCollection(
  { directory, signal }: CommandIo,
  folder: string,
  { queries, qrels, answers }: EvalFlags,
): Promise<Collection> {
  refuseOtherFolder(resolve(directory, folder), { queries, qrels, answers });
  const files = given({
    queries: queries && resolve(directory, queries),
    qrels: qrels && resolve(directory, qrels),
  });
  return openCollection(resolve(directory, folder), files, signal);
}

function refuseOtherFolder(folder: string, { queries, qrels, answers }: EvalFlags): void {
  const parts = ["corpus.jsonl", ...(queries ? [] : ["queries.jsonl"]), ...(answers ? ["answers.jsonl"] : [])];
  const missing = parts.filter((file) => !existsSync(join(folder, file)));
  // Judgements of another name are named by the error about them.
  if (!qrels && !existsSync(join(folder, "qrels"))) missing.push("qrels/test.tsv");
  if (missing.length === 0) return;
  const problem = existsSync(folder)
    ? `${folder} is no test collection: it has no ${missing.join(", no ")}`
    : `There is no folder ${folder}`;
  throw new LoadError(
    "missing",
    folder,
    `${problem}. A collection has corpus.jsonl (documents), queries.jsonl (queries), qrels/test.tsv (the documents that are ` +
      "relevant to each query) and, for --answers, answers.jsonl",
  );
}

/** The queries that `--limit-queries` and `--seed` leave. */
export function chosenQueries<Query>(
  queries: readonly Query[],
  { limitQueries = Infinity, seed }: EvalFlags,
): readonly Query[] {
  return seed === undefined ? spread(queries, limitQueries) : sample(queries, limitQueries, seed);
}

/** Opens the store that `--store` names, which is kept, or a temporary one, which is always deleted. */
export async function withEvalStore<T>(
  io: CommandIo,
  flags: EvalFlags,
  use: (kb: KnowledgeBase) => Promise<T>,
): Promise<T> {
  if (flags.store !== undefined) return withKnowledgeBase(io, flags, true, use);
  return withTemporaryFolder("eval", (store) => withKnowledgeBase(io, { ...flags, store }, true, use));
}

/**
 * Stores a collection. A document that cannot be stored, such as one whose vector a model fails to make, is missing from the
 * search, and a line on stderr says so: it costs no other.
 *
 * @throws OptionsError when the store holds other documents, LoadError when none of the collection can be stored.
 */
export async function ingestCollection(io: CommandIo, kb: KnowledgeBase, collection: Collection): Promise<void> {
  const { name, source } = collection;
  const foreign = (await kb.store.documents()).find((stored) => stored.source !== source);
  if (foreign) {
    throw new OptionsError(
      "options",
      `The store at ${kb.store.location} holds ${foreign.uri}, which is not part of ${name}, and search would find it too. ` +
        "Use a separate store for each collection",
    );
  }
  const line = ingestProgress(io);
  const read = ({ signal: reading }: { readonly signal: AbortSignal }) => collection.documents(reading);
  const vanished = (uri: string) => uri.startsWith(`${source}/`);
  const report = await kb
    .ingest(documentSource({ id: source, read, vanished }), { signal: io.signal, onProgress: line.onProgress })
    .finally(() => line.clear());
  const [failure] = report.failures;
  if (failure) {
    const first = `The first is ${failure.uri}: ${failure.error.message}`;
    const failed = `${counted(report.documents.failed, "document")} of ${name} could not be stored`;
    if ((await kb.store.counts()).documents === 0) {
      throw new LoadError("unreadable", failure.uri, `${failed}, so nothing was measured. ${first}`, {
        cause: failure.error,
      });
    }
    io.stderr.write(`citewell: ${failed} and cannot be found. ${first}\n`);
  }
}
