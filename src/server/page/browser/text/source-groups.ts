import type { WireCitation } from "../../../api/wire.js";
import type { QuotationCounts } from "../words/english.js";

/** The quotations that an answer takes from one document, each once. */
export interface SourceGroup {
  readonly uri: string;
  readonly title?: string | undefined;
  readonly citations: readonly WireCitation[];
}

/** Citations by document, both in the order in which the answer names them. */
export function groupSources(citations: readonly WireCitation[]): readonly SourceGroup[] {
  // Quotations that are missing share the place of their passage, so the place alone does not tell them apart.
  const different = new Map(
    citations.map((citation) => {
      const { uri, number, start, end, support, quote } = citation;
      return [JSON.stringify([uri, number, start, end, support, quote]), citation];
    }),
  );
  const groups = new Map<string, WireCitation[]>();
  for (const citation of different.values()) {
    const group = groups.get(citation.uri);
    if (group) group.push(citation);
    else groups.set(citation.uri, [citation]);
  }
  return [...groups].map(([uri, own]) => ({ uri, title: own[0]!.title, citations: own }));
}

/** Each quotation counts once, so `total` is the sum of the others. */
export function countQuotations(groups: readonly SourceGroup[]): QuotationCounts {
  const all = groups.flatMap(({ citations }) => citations);
  const struckOut = all.filter((citation) => citation.struckOut).length;
  // A model's words about a picture are not the document's own, though they stand in its text.
  const described = all.filter(
    ({ picture, supported, struckOut: isStruck }) => picture && supported && !isStruck,
  ).length;
  const standing = all.filter(({ picture, supported, struckOut: isStruck }) => !isStruck && !(picture && supported));
  const count = (...wanted: readonly WireCitation["support"][]) =>
    standing.filter(({ support }) => wanted.includes(support)).length;
  return {
    total: all.length,
    found: count("exact", "normalised"),
    near: count("near"),
    struckOut,
    described,
    missing: count("missing"),
  };
}
