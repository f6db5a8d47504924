import type { Filter } from "../../core/filter.js";
import type { Hit } from "../../core/types.js";
import type { SearchMode } from "../../stages/retrieval/search.js";
import { print, withKnowledgeBase, type CommandIo, type StoreFlags } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { filterRemark } from "../output/filter-remark.js";
import { describeWhy, explain, whyAsJson } from "../output/show-why.js";
import { answerView } from "../output/answer-view.js";
import { tellingWords } from "../output/telling-words.js";
import { snippet } from "../output/snippet.js";
import { displayPlace, oneLine } from "../output/terminal-text.js";
import { given } from "../../core/given.js";

export interface SearchFlags extends StoreFlags {
  readonly mode: SearchMode;
  readonly limit: number;
  readonly filter?: Filter;
  readonly rerank?: number;
  readonly why?: string;
  /** False with `--no-correct`. */
  readonly correct?: boolean;
}

export async function searchCommand(io: CommandIo, words: readonly string[], flags: SearchFlags): Promise<number> {
  const { mode, limit, filter, rerank, correct, why: asked } = flags;
  return withKnowledgeBase(io, flags, false, async (kb) => {
    const size = rerank === undefined ? { count: limit } : { count: rerank, topN: limit };
    const options = { mode, ...size, ...given({ filter, correct }), signal: io.signal };
    const { hits, trace, searchedFor } = await kb.search(words.join(" "), options);
    const remark = filter && hits.length === 0 ? await filterRemark(kb, filter) : undefined;
    if (remark !== undefined) io.stderr.write(remark);
    const why = asked === undefined ? undefined : await explain(kb.store, trace, asked, io);
    const found = { ...given({ searchedFor }), hits: hits.map(hitAsJson), ...(why && { why: whyAsJson(why) }) };
    if (why || flags.json) print(io, flags, found, why ? describeWhy(why, io) : "");
    else
      io.stdout.write(describeCorrection(searchedFor) + (await describeHits(hits, searchedFor ?? words.join(" "), io)));
    return exitCodes.done;
  });
}

export function hitAsJson({ chunk, uri, title, line, page, seconds, score, placements }: Hit): object {
  const { id, start, end, text } = chunk;
  return { chunkId: id, uri, start, end, score, text, title, line, page, seconds, placements };
}

function describeCorrection(searchedFor: string | undefined): string {
  if (searchedFor === undefined) return "";
  return `Searched for: ${oneLine(searchedFor, 200)}  (--no-correct: only for the words as they are)\n\n`;
}

/** The hits as text whose parts are safe for a terminal, with the marks and links that this one shows. */
async function describeHits(
  hits: readonly Hit[],
  query: string,
  io: Pick<CommandIo, "stdout" | "environment" | "directory" | "home">,
): Promise<string> {
  if (hits.length === 0) return "Nothing found.\n";
  const width = Math.min(io.stdout.columns ?? 100, 120);
  const { link, telling } = await answerView(io);
  const marked = tellingWords(query, telling);
  const blocks = hits.map((hit, index) => {
    const ranks = hit.placements.map(({ by, rank }) => `${by} ${rank}`).join(", ");
    const head = `${index + 1}. ${link(displayPlace(hit.uri, hit, io), hit.uri, hit.line)}  (${ranks})`;
    const context = hit.chunk.context === "" ? [] : [`   ${oneLine(hit.chunk.context, width - 3)}`];
    const shown = twoLines(snippet(hit.chunk.text, query, 2 * (width - 3)), width - 3).map(marked);
    return [head, ...context, ...shown].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}

/** A text in at most two indented lines. */
function twoLines(text: string, width: number): readonly string[] {
  const line = oneLine(text, 2 * width - 10);
  if (line.length <= width) return [`   ${line}`];
  const space = line.lastIndexOf(" ", width);
  // Chinese has no spaces to break at, and a path may be longer than a line.
  const end = space > width / 2 ? space : width;
  return [`   ${line.slice(0, end)}`, `   ${oneLine(line.slice(end), width)}`];
}
