import type { Filter } from "../filter.js";
import type { SearchMode } from "../stages/search.js";
import type { Hit } from "../types.js";
import { withKnowledgeBase, type StoreFlags, type World } from "./command-context.js";
import { exitCodes } from "./failure.js";
import { describeWhy, explain, whyAsJson } from "./show-why.js";
import { displayPlace, oneLine } from "./terminal-text.js";

export interface SearchFlags extends StoreFlags {
  readonly mode: SearchMode;
  readonly limit: number;
  readonly filter?: Filter;
  readonly rerank?: number;
  readonly why?: string;
}

export async function searchCommand(world: World, query: string, flags: SearchFlags): Promise<number> {
  const { mode, limit, filter, rerank, why: asked } = flags;
  const { hits, why } = await withKnowledgeBase(world, flags, false, async (kb) => {
    const found = await kb.search(query, {
      mode,
      limit,
      ...(filter && { filter }),
      ...(rerank && { rerank }),
      signal: world.signal,
    });
    return {
      hits: found.hits,
      why: asked === undefined ? undefined : await explain(kb.store, found.trace, asked, world),
    };
  });
  if (flags.json) {
    const object = { hits: hits.map(hitAsJson), ...(why && { why: whyAsJson(why) }) };
    world.stdout.write(`${JSON.stringify(object)}\n`);
  } else world.stdout.write(why ? describeWhy(why, world) : describeHits(hits, world));
  return exitCodes.done;
}

export function hitAsJson({ chunk, uri, title, line, page, score, placements }: Hit): object {
  const { id, start, end, text } = chunk;
  return { chunkId: id, uri, start, end, score, text, title, line, page, placements };
}

function describeHits(hits: readonly Hit[], { stdout, directory }: Pick<World, "stdout" | "directory">): string {
  if (hits.length === 0) return "Nothing found.\n";
  const width = Math.min(stdout.columns ?? 100, 120);
  const blocks = hits.map((hit, index) => {
    const ranks = hit.placements.map(({ by, rank }) => `${by} ${rank}`).join(", ");
    const head = `${index + 1}. ${displayPlace(hit.uri, hit, directory)}  (${ranks})`;
    const context = hit.chunk.context === "" ? [] : [`   ${oneLine(hit.chunk.context, width - 3)}`];
    return [head, ...context, `   ${oneLine(hit.chunk.text, width - 3)}`].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}
