import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve as resolvePath } from "node:path";
import { z } from "zod";
import { LoadError, OptionsError } from "../core/errors.js";
import { optionsOf, resolve } from "../core/options.js";
import { seededRandom } from "../core/random.js";
import type { Document } from "../core/types.js";
import { jsonLines, LineId, malformed, numberedLines } from "./json-lines.js";
import { countRelevant, type Judgements } from "./metrics.js";

/** A question and the documents that answer it. */
export interface JudgedQuery {
  /** The collection's id of the query. */
  readonly id: string;
  /** The query as it is asked. */
  readonly text: string;
  /** Relevance of documents, by the collection's id of each. */
  readonly judgements: Judgements;
}

/** A test collection: documents, and queries with judgements. */
export interface Collection {
  /** Name of the collection's folder. */
  readonly name: string;
  /** Id of the source of its documents. */
  readonly source: string;
  /** In the order of the queries file; each has at least one relevant document. */
  readonly queries: readonly JudgedQuery[];
  /** Number of judged queries without a relevant document. No ranking can score there, so they are not asked. */
  readonly withoutRelevant: number;
  /** Reads the documents, one at a time. */
  readonly documents: (signal?: AbortSignal) => AsyncIterable<Document>;
  /** The collection's id of a document. */
  readonly documentId: (uri: string) => string;
}

export interface CollectionFiles {
  /** Path of the queries. Default: `queries.jsonl` in the folder. */
  readonly queries?: string;
  /** Path of the judgements. Default: `qrels/test.tsv` in the folder. */
  readonly qrels?: string;
}

const collectionFiles = optionsOf<CollectionFiles>()({
  queries: z.string().min(1).optional(),
  qrels: z.string().min(1).optional(),
});

const CorpusLine = z.object({ _id: LineId, title: z.string().nullish(), text: z.string() });
const QueryLine = z.object({ _id: LineId, text: z.string().min(1) });
const AnswerLine = z.object({ _id: LineId, answers: z.array(z.string().min(1)) });

/**
 * Opens a collection in the layout of BEIR: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`. Thakur et al., "BEIR: A
 * Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models", NeurIPS 2021. Queries and
 * judgements are read at once; the corpus is read when its documents are asked for, and never held as a whole.
 *
 * @throws LoadError (`missing`, `unreadable`), (`malformed`) with the number of the line, (`empty`) without any query to
 * ask; OptionsError when a judged query is not among the queries.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { openCollection } from "citewell/evaluate";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const collection = await openCollection("./collection", { qrels: "qrels/dev.tsv" });
 * await kb.ingest(collection.documents());
 * ```
 */
export async function openCollection(
  folder: string,
  files: CollectionFiles = {},
  signal?: AbortSignal,
): Promise<Collection> {
  const given = resolve("openCollection", collectionFiles, files);
  const name = basename(resolvePath(folder));
  const corpusPath = join(folder, "corpus.jsonl");
  const queriesPath = given.queries ?? join(folder, "queries.jsonl");
  const qrelsPath = given.qrels ?? join(folder, "qrels", "test.tsv");
  const judgements = await readJudgements(await existing(qrelsPath), signal);
  const judged = await readQueries(queriesPath, judgements, signal);
  if (judged.length < judgements.size) {
    const found = new Set(judged.map(({ id }) => id));
    const missing = [...judgements.keys()].filter((id) => !found.has(id));
    throw new OptionsError(
      "options",
      `${missing.length} of ${judgements.size} queries judged in ${qrelsPath} are not in ${queriesPath}, ` +
        `${missing[0]} first. Name files that belong together`,
    );
  }
  const queries = judged.filter((query) => countRelevant(query.judgements) > 0);
  if (queries.length === 0) throw new LoadError("empty", qrelsPath, `${qrelsPath} judges no document relevant`);
  const source = `collection:${name}`;
  const prefix = `${source}/`;
  return {
    name,
    source,
    queries,
    withoutRelevant: judged.length - queries.length,
    documentId: (uri) => (uri.startsWith(prefix) ? uri.slice(prefix.length) : uri),
    async *documents(reading) {
      const seen = new Set<string>();
      for await (const { lineNumber, value } of jsonLines(corpusPath, CorpusLine, reading)) {
        const { _id: id, text } = value;
        if (seen.has(id)) throw malformed(corpusPath, lineNumber, `repeats the _id ${id} of an earlier line`);
        seen.add(id);
        const title = value.title?.trim() ? value.title : undefined;
        // A document without text is found by its title.
        const body = text.trim() === "" && title !== undefined ? title : text;
        yield { uri: prefix + id, text: body, ...(title !== undefined && { title }), source };
      }
      const relevant = queries.flatMap((query) => [...query.judgements.keys()]);
      if (!relevant.some((id) => seen.has(id))) {
        const message =
          `${corpusPath} holds none of the documents that are judged in ${qrelsPath}, ` +
          `such as ${relevant[0]}; its first is ${[...seen][0] ?? "none"}. Name files that belong together`;
        throw new OptionsError("options", message);
      }
    },
  };
}

/** @throws LoadError (`missing`) that names the other files of judgements if there are any. */
async function existing(qrelsPath: string): Promise<string> {
  const files = await readdir(dirname(qrelsPath)).catch((): string[] => []);
  const others = files.filter((file) => file.endsWith(".tsv"));
  if (files.includes(basename(qrelsPath)) || others.length === 0) return qrelsPath;
  const found = others.map((file) => join(dirname(qrelsPath), file)).join(", ");
  throw new LoadError("missing", qrelsPath, `There is no file ${qrelsPath}, but ${found}: name one as qrels (--qrels)`);
}

async function readQueries(
  path: string,
  judgements: ReadonlyMap<string, Judgements>,
  signal: AbortSignal | undefined,
): Promise<JudgedQuery[]> {
  const queries = new Map<string, JudgedQuery>();
  for await (const { lineNumber, value } of jsonLines(path, QueryLine, signal)) {
    const { _id: id, text } = value;
    const ofQuery = judgements.get(id);
    if (!ofQuery) continue;
    if (queries.has(id)) throw malformed(path, lineNumber, `repeats the _id ${id} of an earlier line`);
    queries.set(id, { id, text, judgements: ofQuery });
  }
  return [...queries.values()];
}

/**
 * Judgements by query id, from either common layout. BEIR's has query id, document id and score between tabs, and a first
 * line whose score is not a number names the columns; TREC's has query id, iteration, document id and score between white
 * space. A repeated judgement counts once; a second one that differs is malformed.
 */
async function readJudgements(path: string, signal?: AbortSignal): Promise<ReadonlyMap<string, Judgements>> {
  const byQuery = new Map<string, Map<string, number>>();
  for await (const { number, text } of numberedLines(path, signal)) {
    const [query, document, score] = columns(text);
    const value = score.trim() === "" ? NaN : Number(score);
    if (number === 1 && document !== "" && score !== "" && Number.isNaN(value)) continue;
    if (query === "" || document === "" || !Number.isFinite(value)) {
      const layouts = "nor TREC's with the iteration as a second column and white space between them";
      throw malformed(path, number, `is not a query id, a document id and a number with tabs between them, ${layouts}`);
    }
    const judgements = byQuery.get(query) ?? new Map<string, number>();
    const earlier = judgements.get(document);
    if (earlier !== undefined && earlier !== value) {
      throw malformed(path, number, `judges ${document} for query ${query} a second time: ${value}, before ${earlier}`);
    }
    byQuery.set(query, judgements.set(document, value));
  }
  return byQuery;
}

/** Query id, document id and score; empty strings if the line has neither layout. */
function columns(line: string): readonly [string, string, string] {
  const tabbed = line.split("\t");
  if (tabbed.length === 3) return [tabbed[0]!, tabbed[1]!, tabbed[2]!];
  const spaced = line.trim().split(/\s+/);
  return spaced.length === 4 ? [spaced[0]!, spaced[2]!, spaced[3]!] : ["", "", ""];
}

/**
 * Answers by query id, from a file with `{"_id", "answers": […]}` a line; an empty list where no answer is known.
 *
 * @throws LoadError (`missing`, `unreadable`), (`malformed`) with the number of the line.
 * @example
 * ```ts
 * import { openCollection, readAnswers } from "citewell/evaluate";
 * const { queries } = await openCollection("./collection");
 * const answers = await readAnswers("./collection/answers.jsonl");
 * const answerable = queries.map((query) => ({ ...query, answers: answers.get(query.id) ?? [] }));
 * ```
 */
export async function readAnswers(path: string, signal?: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for await (const { value } of jsonLines(path, AnswerLine, signal)) {
    const { _id: id, answers } = value;
    found.set(id, answers);
  }
  return found;
}

/** `count` items spread evenly over `items`, the first among them: neighbours are often about the same document. */
export function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (count >= items.length) return items;
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}

/** `count` items drawn at random, in the order of `items`: the same seed draws the same. */
export function sample<Item>(items: readonly Item[], count: number, seed: number): readonly Item[] {
  const random = seededRandom(seed);
  const drawn = items.map((_, index) => ({ index, draw: random() })).toSorted((a, b) => a.draw - b.draw);
  const kept = drawn.slice(0, count).map(({ index }) => index);
  return kept.toSorted((a, b) => a - b).map((index) => items[index]!);
}
