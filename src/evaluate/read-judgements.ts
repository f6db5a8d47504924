import type { Judgements } from "./metrics.js";
import { malformed, numberedLines } from "./numbered-lines.js";

/**
 * Judgements by query id, of a tab-separated file of query id, document id and score; a first line whose score is no
 * number names the columns.
 *
 * @throws LoadError (`missing`, `unreadable`), (`malformed`) that names the line.
 */
export async function readJudgements(path: string, signal?: AbortSignal): Promise<ReadonlyMap<string, Judgements>> {
  const byQuery = new Map<string, Map<string, number>>();
  for await (const { number, text } of numberedLines(path, signal)) {
    const columns = text.split("\t");
    const [query = "", document = "", score = ""] = columns;
    const value = score.trim() === "" ? NaN : Number(score);
    if (number === 1 && columns.length === 3 && Number.isNaN(value)) continue;
    if (columns.length !== 3 || query === "" || document === "" || !Number.isFinite(value)) {
      throw malformed(path, number, "is not a query id, a document id and a number with tabs between them");
    }
    const judgements = byQuery.get(query) ?? new Map<string, number>();
    if (judgements.has(document)) throw malformed(path, number, `judges ${document} for query ${query} a second time`);
    byQuery.set(query, judgements.set(document, value));
  }
  return byQuery;
}
