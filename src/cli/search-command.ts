import type { SearchMode } from "../stages/search.js";
import type { Hit } from "../types.js";
import { withKnowledgeBase, type StoreFlags, type World } from "./command-context.js";
import { exitCodes } from "./failure.js";
import { displayPlace, oneLine } from "./terminal-text.js";

export interface SearchFlags extends StoreFlags {
  readonly mode: SearchMode;
  readonly limit: number;
}

export async function searchCommand(world: World, query: string, flags: SearchFlags): Promise<number> {
  const { mode, limit } = flags;
  const { hits } = await withKnowledgeBase(world, flags, false, (kb) =>
    kb.search(query, { mode, limit, signal: world.signal }),
  );
  world.stdout.write(flags.json ? `${JSON.stringify({ hits: hits.map(hitAsJson) })}\n` : describeHits(hits, world));
  return exitCodes.done;
}

export function hitAsJson({ chunk, uri, title, line, page, score, placements }: Hit): object {
  const { id, start, end, text } = chunk;
  return { chunkId: id, uri, start, end, score, text, title, line, page, placements };
}

export function describeHits(hits: readonly Hit[], { stdout, directory }: Pick<World, "stdout" | "directory">): string {
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
