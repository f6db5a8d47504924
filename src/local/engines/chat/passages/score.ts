import { definitionOf } from "../../../../text/words/definition.js";
import { plainText } from "../../../../text/blocks/plain-text.js";
import { eachTerm, terms } from "../../../../text/words/terms.js";
import type { Asked } from "./asked.js";
import { announces, textOf, type Section, type Unit } from "./units.js";

/** One strength for each term of a question, 0 to 1. */
export type Strengths = Float64Array;

/** A unit with how well it answers, read with what stands beside and above it. */
export interface ScoredUnit {
  readonly unit: Unit;
  /** Place among all units. */
  readonly at: number;
  readonly score: number;
  readonly held: Strengths;
}

/** The units that may answer a question, best first. */
export interface Scores {
  readonly ranked: readonly ScoredUnit[];
  /** Whether a single sentence or item holds all terms of the question. */
  readonly holdsAll: boolean;
  /** Strength of each term anywhere in each source, headings included. */
  readonly inSources: ReadonlyMap<object, Strengths>;
}

/** A term in a unit beside it counts for this share of one in the unit itself. */
const besideShare = 0.7;
/** Share of a term in the headings above, which readers take as said. */
const headingShare = 0.9;
/** Words further apart do not count as together. */
const maxTogether = 10;
/** Each word between them costs this share. */
const gapCost = 0.03;

/** Scores each unit by the telling words of the question in it and around it, how close they stand, and what is asked for. */
export function scoreUnits(asked: Asked, units: readonly Unit[]): Scores {
  const read = units.map((unit) => readUnit(asked, unit));
  const above = new Map<Section, ReadText>();
  const inSources = new Map<object, Strengths>();
  for (const [at, { section, source }] of units.entries()) {
    if (!above.has(section)) above.set(section, readText(asked, section.context));
    const whole = inSources.get(source) ?? new Float64Array(asked.terms.length);
    inSources.set(source, whole);
    raise(whole, read[at]!.own);
    raise(whole, above.get(section)!.own);
  }
  const weights = weightsOf(asked, read);
  const ranks = new Map([...inSources.keys()].map((source, rank) => [source, rank]));
  const scored = units.map((unit, at): ScoredUnit => {
    const held = Float64Array.from(read[at]!.own);
    for (const other of [at - 1, at + 1])
      if (units[other]?.section === unit.section) raise(held, read[other]!.own, besideShare);
    raise(held, above.get(unit.section)!.own, headingShare);
    const next = units[at + 1]?.section === unit.section ? textOf(units[at + 1]!) : "";
    const score =
      4 * weightedShare(weights, held) +
      2 * closest(read[at]!, weights) +
      headingFit(asked, unit.section, weightedShare(weights, above.get(unit.section)!.own)) +
      definitionScore(asked, unit, units[at - 1]) -
      (asked.kind?.isIn(`${textOf(unit)}\n${next}`) === false ? 1.5 : 0) -
      (unit.kind === "code" && !asked.isForWhole ? 1.5 : 0) -
      // Sources come best first.
      0.3 * ranks.get(unit.source)!;
    return { unit, at, score, held };
  });
  const holdsAll =
    asked.terms.length > 0 &&
    read.some(({ own }, at) => /^(?:sentence|item)$/.test(units[at]!.kind) && own.every((strength) => strength === 1));
  return { inSources, holdsAll, ranked: scored.toSorted((a, b) => b.score - a.score) };
}

/** Unusual words tell more, and so do those that few units hold. */
function weightsOf({ unusual }: Asked, read: readonly ReadText[]): readonly number[] {
  const weights = unusual.map((one, index) => {
    const holding = read.filter(({ own }) => own[index] === 1).length;
    return (2 + one) * Math.log(2 + (read.length + 10) / (holding + 3));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

function weightedShare(weights: readonly number[], strengths: Strengths): number {
  return weights.reduce((sum, weight, index) => sum + weight * strengths[index]!, 0);
}

/** Raises strengths to a share of others, where these are higher. */
function raise(strengths: Strengths, others: Strengths, share = 1): void {
  for (const [index, other] of others.entries()) strengths[index] = Math.max(strengths[index]!, share * other);
}

interface ReadText {
  readonly own: Strengths;
  /** Where terms of the question stand, as place in the text and place in the question. */
  readonly places: readonly (readonly [number, number])[];
}

/** A unit, a row with the names of its columns. */
function readUnit(asked: Asked, unit: Unit): ReadText {
  const text = unit.head === undefined ? textOf(unit) : `${unit.head}\n${textOf(unit)}`;
  const read = readText(asked, text);
  if (asked.kind?.isIn(text)) for (const [index, names] of asked.namesKind.entries()) if (names) read.own[index] = 1;
  return read;
}

function readText({ terms: asked, meaningOf }: Asked, text: string): ReadText {
  const own = new Float64Array(asked.length);
  const places: (readonly [number, number])[] = [];
  let position = 0;
  eachTerm(text, (term) => {
    position++;
    for (const { index, strength } of meaningOf(term)) {
      if (strength > own[index]!) own[index] = strength;
      places.push([position, index]);
    }
  });
  return { own, places };
}

/** The largest share of the weight whose distinct terms stand together. */
function closest({ places }: ReadText, weights: readonly number[]): number {
  let most = 0;
  for (const [from, [start]] of places.entries()) {
    let together = 0;
    const seen = new Set<number>();
    for (const [at, index] of places.slice(from)) {
      if (at - start > maxTogether) break;
      if (seen.has(index)) continue;
      together += weights[index]!;
      seen.add(index);
      most = Math.max(most, together * (1 - gapCost * Math.max(0, at - start + 1 - seen.size)));
    }
  }
  return most;
}

/** How far a section is on what is asked: the question's share in all headings, if the nearest of them says nothing else. */
function headingFit(asked: Asked, { path }: Section, share: number): number {
  const words = new Set(terms(path.at(-1) ?? ""));
  const shared = asked.terms.filter((term) => words.has(term)).length;
  return words.size === 0 ? 0 : (shared / words.size) ** 2 * share;
}

/** "What is X?" is answered by "X is …", by the first words below a heading X, and most surely by both at once. */
function definitionScore({ definition }: Asked, unit: Unit, before: Unit | undefined): number {
  if (definition === undefined || unit.kind === "code") return 0;
  const heading = unit.section.path.at(-1) ?? "";
  const entry = definitionOf(heading)?.subject ?? heading;
  const isEntry = definition.names.some((one) => sameWords(entry, one));
  const opens = isEntry && unit.section.opens && before?.section !== unit.section && !announces(unit);
  const strength = definition.strength(plainText(textOf(unit)));
  return strength > 0 ? 2.5 * strength + (isEntry ? 2 : 0) + (opens ? 1 : 0) : opens ? 4 : 0;
}

function sameWords(one: string, other: string): boolean {
  const [a, b] = [new Set(terms(one.replace(/^[\p{L} ]{1,20}: |[(（].*$/gu, ""))), new Set(terms(other))];
  return a.size > 0 && a.size === b.size && [...a].every((term) => b.has(term));
}
