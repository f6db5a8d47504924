import { eachTerm, terms } from "../../../../text/words/terms.js";
import { definitionOf } from "../../../../text/words/definition.js";
import { rarity } from "../../rarity.js";
import { plainText } from "../../../../text/blocks/plain-text.js";
import { asksHow, identifiersIn } from "./asked-kinds.js";
import { grammarRarity, weightsOf, type Asked } from "./asked.js";
import { announces, textOf, type Section, type Unit } from "./units.js";

/** A unit with how well it answers. */
export interface ScoredUnit {
  readonly unit: Unit;
  /** Place among all units. */
  readonly at: number;
  readonly score: number;
  /** Strength of each term of the question in it, its neighbours and headings, 0 to 1. */
  readonly held: Strengths;
}

/** One strength for each term of a question. */
export type Strengths = Float64Array;

/** A question with the units that may answer it, best first, and what is known of the terms. */
export interface Scores {
  readonly weights: readonly number[];
  readonly ranked: readonly ScoredUnit[];
  /** Whether a single unit holds all terms of the question. */
  readonly holdsAll: boolean;
  /** Strength of each term anywhere in each source, headings included. */
  readonly inSources: ReadonlyMap<object, Strengths>;
}

/** A term in a unit beside it counts for this share of one in the unit itself. */
const besideShare = 0.7;
/** Share of a term in the headings above, which readers take as said. */
const headingShare = 0.9;
/** Share of a term elsewhere in the source. */
const sourceShare = 0.25;
/** Maximum distance of words that count as together. */
const maxTogether = 10;
/** Each word between them costs this share. */
const gapCost = 0.03;
/** Sources come best first. */
const maxRank = 5;

/** Scores each unit by the words of the question in it and around it, how close they stand, and what the question asks for. */
export function scoreUnits(asked: Asked, units: readonly Unit[]): Scores {
  const size = asked.terms.length;
  const sections = new Map<Section, ReadSection>();
  const inSources = new Map<object, Strengths>();
  const read = units.map((unit) => readUnit(asked, unit));
  const holding = asked.terms.map((_, index) => read.filter(({ own }) => own[index] === 1).length);
  const weights = weightsOf(asked, units.length, holding);
  const shareOf = (strengths: Strengths) => weightedShare(weights, strengths);
  for (const [at, { section, source }] of units.entries()) {
    const above = sections.get(section) ?? readSection(asked, section);
    sections.set(section, above);
    const whole = inSources.get(source) ?? new Float64Array(size);
    inSources.set(source, whole);
    raise(whole, read[at]!.own);
    raise(whole, above.context.own);
  }
  const ranks = new Map([...inSources.keys()].map((source, rank) => [source, Math.min(maxRank, rank)]));
  const how = asksHow(asked.question);
  // A name written like code is asked for itself, not for a longer one that holds it: its entry begins with it.
  const identifiers = identifiersIn(asked.question).map((one) => one.toLowerCase());
  const scored = units.map((unit, offset): ScoredUnit => {
    const [before, after] = [offset - 1, offset + 1].map((other) => (stands(unit, units[other]) ? other : undefined));
    const above = sections.get(unit.section)!;
    const held = Float64Array.from(read[offset]!.own);
    for (const other of [before, after]) if (other !== undefined) raise(held, read[other]!.own, besideShare);
    raise(held, above.context.own, headingShare);
    const anywhere = Float64Array.from(held);
    raise(anywhere, inSources.get(unit.source)!, sourceShare);
    const nearText = after === undefined ? textOf(unit) : `${textOf(unit)}\n${textOf(units[after]!)}`;
    const [first = ""] = /[\w$]+(?:\.[\w$]+)*/.exec(textOf(unit)) ?? [];
    const names = identifiers.includes(first.toLowerCase());
    const lacksKind = asked.kinds.some(({ isIn }) => !isIn(nearText));
    const score =
      4 * shareOf(held) +
      1.5 * shareOf(anywhere) +
      0.5 * shareOf(read[offset]!.own) +
      2 * closest(read[offset]!.places, weights) +
      1.5 * headingFit(above, shareOf) * (unit.section.opens ? 1 : 0.7) +
      definitionScore(asked, unit, units[offset - 1]) +
      (names ? 0.8 : 0) -
      (lacksKind ? 1.5 : 0) -
      (unit.kind === "code" && !how ? 1.5 : 0) -
      0.3 * ranks.get(unit.source)!;
    return { unit, at: offset, score, held };
  });
  const holdsAll = size > 0 && read.some(({ own }) => own.every((strength) => strength >= 1));
  return { weights, inSources, holdsAll, ranked: scored.toSorted((a, b) => b.score - a.score) };
}

export function weightedShare(weights: readonly number[], strengths: Strengths): number {
  let [held, total] = [0, 0];
  for (const [index, weight] of weights.entries()) {
    total += weight;
    held += weight * strengths[index]!;
  }
  return total === 0 ? 0 : held / total;
}

/** Raises strengths to a share of others, where these are higher. */
export function raise(strengths: Strengths, others: Strengths, share = 1): void {
  for (const [index, other] of others.entries()) strengths[index] = Math.max(strengths[index]!, share * other);
}

/** Whether a unit stands beside another, so that it is read with it. */
function stands({ source, section }: Unit, other: Unit | undefined): boolean {
  return other !== undefined && other.source === source && other.section === section;
}

interface ReadText {
  readonly own: Strengths;
  /** Where terms of the question stand, as place in the text and place in the question. */
  readonly places: readonly (readonly [number, number])[];
  /** Number of its distinct terms. */
  readonly size: number;
}

/** A unit with the names of its columns. What is of the kind that is asked for need not name it. */
function readUnit(asked: Asked, unit: Unit): ReadText {
  const text = textOf(unit);
  const read = readText(asked, text);
  if (unit.head !== undefined) raise(read.own, readText(asked, unit.head).own, headingShare);
  if (asked.namesKind.includes(true) && asked.kinds.some(({ isIn }) => isIn(text))) {
    for (const [index, names] of asked.namesKind.entries()) if (names) read.own[index] = 1;
  }
  return read;
}

function readText({ terms: asked, meaningOf }: Asked, text: string): ReadText {
  const own = new Float64Array(asked.length);
  const places: (readonly [number, number])[] = [];
  const distinct = new Set<string>();
  let position = 0;
  eachTerm(text, (term) => {
    position++;
    if (rarity(term) > grammarRarity) distinct.add(term);
    for (const { index, strength } of meaningOf(term)) {
      if (strength > own[index]!) own[index] = strength;
      places.push([position, index]);
    }
  });
  return { own, places, size: distinct.size };
}

interface ReadSection {
  readonly context: ReadText;
  readonly heading: ReadText;
}

function readSection(asked: Asked, { path, context }: Section): ReadSection {
  return { context: readText(asked, context), heading: readText(asked, path.at(-1) ?? "") };
}

/** How far a section is on what is asked: the question's share in the headings, if the nearest of them says nothing else. */
function headingFit({ context, heading }: ReadSection, shareOf: (strengths: Strengths) => number): number {
  const shared = heading.own.filter((strength) => strength >= 1).length;
  return heading.size === 0 ? 0 : Math.min(1, shared / heading.size) ** 2 * shareOf(context.own);
}

/** The largest share of the weight whose distinct terms stand together. */
function closest(places: readonly (readonly [number, number])[], weights: readonly number[]): number {
  let most = 0;
  for (const [from, [start]] of places.entries()) {
    let together = 0;
    const seen = new Set<number>();
    for (let next = from; next < places.length && places[next]![0] - start <= maxTogether; next++) {
      const [at, index] = places[next]!;
      if (seen.has(index)) continue;
      together += weights[index]!;
      seen.add(index);
      most = Math.max(most, together * (1 - gapCost * Math.max(0, at - start + 1 - seen.size)));
    }
  }
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return total === 0 ? 0 : most / total;
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
