import type { Hit } from "../../core/types.js";
import { definitionOf } from "../../text/words/definition.js";
import { fileName, headingsOf, nameKey } from "../../text/words/page-names.js";

/**
 * Hits to read where a question may be a name, or asks what a thing is: a page may have the word less often than many others. Where
 * everything is about a thing, as spans are in a documentation of tracing, the page that defines it is far behind.
 */
export function namedDepth(question: string): number {
  if (definitionOf(question) !== undefined) return 200;
  return nameKey(question) === undefined ? 0 : 40;
}

/** A page's own name identifies it better than the name of one of its sections. */
const [pageNamed, sectionNamed] = [2, 1];

/**
 * The hits again, with those before the others that a question names word for word: first the best passage of each page whose
 * title or file name it is, then that of each page with a section of that name. A word that names a page stands in all of its
 * neighbours as well, often more often. A question such as "What is a span?" names a span in this sense, for passages that define it.
 * Every other question, such as a sentence, changes nothing.
 */
export function namedFirst(question: string, hits: readonly Hit[]): readonly Hit[] {
  if (hits.length === 0) return hits;
  const own = nameKey(question);
  const definition = definitionOf(question);
  const subjects = (definition?.names ?? []).map(nameKey);
  const best = new Map<string, { readonly hit: Hit; readonly strength: number }>();
  for (const hit of hits) {
    const defines = subjects.length > 0 && definition?.foundIn(hit.chunk.text) === true;
    const keys = defines ? [own, ...subjects] : [own];
    const strength = Math.max(...keys.map((key) => (key === undefined ? 0 : namedBy(key, hit))));
    if (strength > (best.get(hit.uri)?.strength ?? 0)) best.set(hit.uri, { hit, strength });
  }
  if (best.size === 0) return hits;
  const named = [...best.values()].toSorted((a, b) => b.strength - a.strength);
  const first = new Set(named.map(({ hit }) => hit));
  const highest = hits.reduce((most, { score }) => Math.max(most, score), -Infinity);
  const step = Math.abs(highest) || 1;
  const raised = named.map(({ hit, strength }, index) => ({
    ...hit,
    // Scores fall along the list, as those who mix them with others expect.
    score: highest + (step * (named.length - index)) / 100,
    placements: [...hit.placements, { by: "name", rank: index + 1, score: strength }],
  }));
  return [...raised, ...hits.filter((hit) => !first.has(hit))];
}

function namedBy(key: string, { title, uri, chunk }: Hit): number {
  if ([title ?? "", fileName(uri)].some((name) => nameKey(name) === key)) return pageNamed;
  return headingsOf(chunk).some((heading) => nameKey(heading) === key) ? sectionNamed : 0;
}
