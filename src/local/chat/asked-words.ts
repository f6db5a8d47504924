import { stem } from "../../text/stem.js";
import { isUnspaced, rarity } from "../rarity.js";
import { alikeness } from "./alikeness.js";
import { nearMeanings } from "./near-meanings.js";
import { plainForm } from "./word-forms.js";
import type { QuestionReading } from "./question-reading.js";

/** A word of a question, and what a text owes it. */
export interface AskedWord {
  readonly term: string;
  readonly weight: number;
  /** Whether it belongs to a name, or is a year. */
  readonly named: boolean;
  /** A number, a name's, a word that only says what kind of thing is asked for, a common one, or one that tells. */
  readonly kind: "number" | "name" | "asking" | "common" | "telling";
  /** 1 for a word; pairs of characters overlap, so that each is about half a word. */
  readonly words: number;
}

/** Words that say what is asked for: an answer is of the type, it need not say "type". */
const askingWords: ReadonlySet<string> = new Set(
  (
    "type kind form sort name term title year date month century decade day time number amount many much percentage " +
    "percent part one approximately happen call know known refer locate group person people thing word place area method " +
    "way main common commonly usual typical example describe each us"
  )
    .split(" ")
    .map(stem),
);

/** Terms up to this rarity stand in texts on any subject. */
const commonRarity = 0.6;

/** The words of a question, forms of one word as one, in its order. */
export function askedWords({ weights, names }: QuestionReading): readonly AskedWord[] {
  const named = new Set(names.flatMap((name) => name.terms.map(plainForm)));
  const found = new Map<string, AskedWord>();
  for (const [given, weight] of weights) {
    const term = plainForm(given);
    const known = found.get(term);
    if (known !== undefined && known.weight >= weight) continue;
    const isNamed = named.has(term);
    found.set(term, { term, weight, named: isNamed, kind: kindOf(term, isNamed), words: isUnspaced(term) ? 0.5 : 1 });
  }
  return [...found.values()];
}

function kindOf(term: string, named: boolean): AskedWord["kind"] {
  if (/^\d/.test(term)) return "number";
  if (named) return "name";
  if (askingWords.has(term)) return "asking";
  return rarity(term) <= commonRarity ? "common" : "telling";
}

/** How far each of the asked words stands in a text, 0 to 1, in their order. */
export type Held = readonly number[];

/** What a word of nearly the same meaning counts for. */
const nearlySame = 0.6;

export function heldBy(asked: readonly AskedWord[], terms: ReadonlySet<string>): Held {
  return asked.map(({ term }) => {
    const alike = alikeness(term, terms);
    if (alike >= nearlySame) return alike;
    for (const near of nearMeanings(term)) if (terms.has(near)) return nearlySame;
    return alike;
  });
}

/** What two texts hold together. */
export function heldTogether(one: Held, other: Held): Held {
  return one.map((share, at) => Math.max(share, other[at] ?? 0));
}

/** Words below this are missing. */
export const isMissing = (share: number) => share < nearlySame;
