import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve as resolvePath } from "node:path";
import { z } from "zod";
import { LoadError, OptionsError } from "../errors.js";
import type { Document } from "../types.js";
import { jsonLines, LineId } from "./json-lines.js";
import { countRelevant, type Judgements } from "./metrics.js";
import { malformed } from "./numbered-lines.js";
import { readJudgements } from "./read-judgements.js";
import { seededRandom } from "../text/random.js";

/** A question of which is known which documents answer it. */
export interface JudgedQuery {
  readonly id: string;
  readonly text: string;
  readonly judgements: Judgements;
}

/** A test collection: documents, and queries with judgements. */
export interface Collection {
  readonly name: string;
  /** Id of the source that its documents carry. */
  readonly source: string;
  /** In the order of the queries file; each has at least one relevant document. */
  readonly queries: readonly JudgedQuery[];
  /** Queries that have judgements of which none is relevant: no ranking can score there, so they are not asked. */
  readonly withoutRelevant: number;
  /** Reads the documents, one at a time. */
  readonly documents: (signal?: AbortSignal) => AsyncIterable<Document>;
  /** The collection's id of a document. */
  readonly documentId: (uri: string) => string;
}

export interface CollectionFiles {
  /** Default: `queries.jsonl` in the folder. */
  readonly queries?: string;
  /** Default: `qrels/test.tsv` in the folder. */
  readonly qrels?: string;
}

const CorpusLine = z.object({ _id: LineId, title: z.string().nullish(), text: z.string() });
const QueryLine = z.object({ _id: LineId, text: z.string().min(1) });

/**
 * Opens a collection in the layout of BEIR: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`. Thakur et al., "BEIR: A
 * Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models", NeurIPS 2021. Queries and
 * judgements are read at once; the corpus when its documents are asked for, and never held as a whole.
 *
 * @throws LoadError (`missing`, `unreadable`), (`malformed`) with the number of the line, (`empty`) without any query to
 * ask; OptionsError when a judged query is not among the queries.
 */
export async function openCollection(
  folder: string,
  files: CollectionFiles = {},
  signal?: AbortSignal,
): Promise<Collection> {
  const name = basename(resolvePath(folder));
  const corpusPath = join(folder, "corpus.jsonl");
  const queriesPath = files.queries ?? join(folder, "queries.jsonl");
  const qrelsPath = files.qrels ?? join(folder, "qrels", "test.tsv");
  const judgements = await readJudgements(await existing(qrelsPath), signal);
  const judged = await readQueries(queriesPath, judgements, signal);
  if (judged.length < judgements.size) {
    const found = new Set(judged.map(({ id }) => id));
    const lacking = [...judgements.keys()].filter((id) => !found.has(id));
    throw new OptionsError(
      "options",
      `${qrelsPath} judges ${lacking.length} of ${judgements.size} queries that ${queriesPath} does not hold, ` +
        `${lacking[0]} first: name the files that belong together`,
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
        if (seen.has(id)) throw malformed(corpusPath, lineNumber, `has the _id ${id} of an earlier line`);
        seen.add(id);
        const title = value.title?.trim() ? value.title : undefined;
        // A document of a title alone is found by its title.
        const body = text.trim() === "" && title !== undefined ? title : text;
        yield { uri: prefix + id, text: body, ...(title !== undefined && { title }), source };
      }
    },
  };
}

/** @throws LoadError (`missing`) that names the other files of judgements where there are any. */
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
    if (queries.has(id)) throw malformed(path, lineNumber, `has the _id ${id} of an earlier line`);
    queries.set(id, { id, text, judgements: ofQuery });
  }
  return [...queries.values()];
}

/** `count` items spread evenly over `items`, the first among them: neighbours are often about the same document. */
export function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (count >= items.length) return items;
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}

/** `count` items in the order of `items`, drawn by chance: the same seed draws the same. */
export function sample<Item>(items: readonly Item[], count: number, seed: number): readonly Item[] {
  const random = seededRandom(seed);
  const drawn = items.map((_, index) => ({ index, draw: random() })).toSorted((a, b) => a.draw - b.draw);
  const kept = drawn.slice(0, count).map(({ index }) => index);
  return kept.toSorted((a, b) => a - b).map((index) => items[index]!);
}
