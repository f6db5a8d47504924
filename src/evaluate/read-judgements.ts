import type { Judgements } from "./metrics.js";
import { malformed, numberedLines } from "./numbered-lines.js";

/**
 * Judgements by query id. Either layout that collections come in is read: BEIR's, query id, document id and score with
 * tabs between them, of which a first line whose score is no number names the columns; and TREC's, query id, iteration,
 * document id and score with white space between them. A judgement that is repeated counts once.
 *
 * @throws LoadError (`missing`, `unreadable`), (`malformed`) that names the line, also of a second judgement that differs.
 */
export async function readJudgements(path: string, signal?: AbortSignal): Promise<ReadonlyMap<string, Judgements>> {
  const byQuery = new Map<string, Map<string, number>>();
  for await (const { number, text } of numberedLines(path, signal)) {
    const { query, document, score } = columns(text);
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

/** Empty strings where the line is of neither layout. */
function columns(line: string): { readonly query: string; readonly document: string; readonly score: string } {
  const tabbed = line.split("\t");
  if (tabbed.length === 3) return { query: tabbed[0]!, document: tabbed[1]!, score: tabbed[2]! };
  const spaced = line.trim().split(/\s+/);
  if (spaced.length === 4) return { query: spaced[0]!, document: spaced[2]!, score: spaced[3]! };
  return { query: "", document: "", score: "" };
}
