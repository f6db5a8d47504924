import type { RetrieveCall, Searchable } from "../../core/ports.js";
import type { Hit } from "../../core/types.js";
import { fileName } from "../../text/words/page-names.js";
import { isStem, maxSlips, slipsBetween } from "../../text/words/similar-words.js";
import { capitalizedWords, plainWords, typedWords } from "../../text/words/spelling.js";
import { terms } from "../../text/words/terms.js";

/** Stems that are looked at for a word, and passages of each. */
const [maxStems, passagesPerStem] = [6, 10];

type Words = Pick<Searchable, "lexical" | "hits" | "similarWords">;
type Call = Omit<RetrieveCall, "count">;

/**
 * A short question with the words that its store does not have as the store spells them, the last one completed and two words
 * that were typed as one taken apart; `undefined` when it has all, or none that is near. The store gives stems, and passages that
 * have one show how it is spelt, so that a filter hides spellings as it hides passages. A word that one of the hits has is known,
 * and costs nothing.
 */
export async function correctedQuestion(
  question: string,
  hits: readonly Hit[],
  store: Words,
  call: Call,
): Promise<string | undefined> {
  if (!store.similarWords) return undefined;
  const known = new Set(hits.flatMap(({ chunk }) => terms(`${chunk.context} ${chunk.text}`)));
  const isKnown = async (word: string) =>
    terms(word).every((term) => known.has(term)) ||
    (await store.lexical.retrieve({ text: word }, { ...call, count: 1 })).length > 0;
  let [corrected, end] = ["", 0];
  for (const typed of typedWords(question)) {
    const { word, start, isLast, isName } = typed;
    if (await isKnown(word)) continue;
    const others = terms(`${question.slice(0, start)} ${question.slice(start + word.length)}`);
    const look = (unfinished: boolean) => spelling({ word, others, unfinished, isName }, store, call);
    const meant = (isLast && (await look(true))) || (await look(false)) || (await twoWords(word, store, call));
    if (!meant) continue;
    corrected += question.slice(end, start) + meant;
    end = start + word.length;
  }
  return end === 0 ? undefined : corrected + question.slice(end);
}

/** Shortest part of a word that is read as two, in letters. */
const minPart = 3;

/** The two words that passages have side by side where the typed one has no space, such as "max connections" for `maxconnections`. */
async function twoWords(word: string, { lexical, hits }: Words, call: Call): Promise<string | undefined> {
  if (!isStem(word)) return undefined;
  const pairs: string[] = [];
  for (let cut = minPart; cut <= word.length - minPart; cut++) pairs.push(`${word.slice(0, cut)} ${word.slice(cut)}`);
  const counted = await Promise.all(
    pairs.map(async (pair) => {
      const found = await lexical.retrieve({ text: pair, phrases: [pair] }, { ...call, count: passagesPerStem });
      const read =
        found.length === 0 ? [] : await hits(found, call.filter === undefined ? {} : { filter: call.filter });
      const adjacent = new RegExp(`(?<!\\p{L})${pair.replace(" ", "[\\s_-]+")}(?!\\p{L})`, "iu");
      return { pair, passages: read.filter(({ chunk }) => adjacent.test(`${chunk.context} ${chunk.text}`)).length };
    }),
  );
  return counted.filter(({ passages }) => passages > 0).toSorted((a, b) => b.passages - a.passages)[0]?.pair;
}

interface Unknown {
  readonly word: string;
  /** Terms of the other words of the question. */
  readonly others: readonly string[];
  /** Whether it is the beginning of a word. */
  readonly unfinished: boolean;
  /** Whether it is a name, for which only names are meant: not "franca" for "France". */
  readonly isName: boolean;
}

/** A spelling that passages have. */
interface Spelling {
  readonly spelling: string;
  readonly slips: number;
  /** Passages that have it, each by its share of the other words. */
  passages: number;
}

/** The word of the store with the fewest slips; of these the one that stands most often together with the other words. */
async function spelling(unknown: Unknown, store: Words, call: Call): Promise<string | undefined> {
  const { word, unfinished } = unknown;
  const stems = await store.similarWords!(word, { ...call, count: maxStems, unfinished });
  const found = await Promise.all(stems.map((stem) => spelledBest(stem, unknown, store, call)));
  // Stems come with the nearest and most frequent first.
  return found.filter((one) => one !== undefined).toSorted(bySlips)[0]?.spelling;
}

function bySlips(a: Spelling, b: Spelling): number {
  return a.slips - b.slips || b.passages - a.passages;
}

/** How passages spell a stem: as most of them do, of the spellings with the fewest slips. */
async function spelledBest(
  stem: string,
  { word, others, unfinished, isName }: Unknown,
  { lexical, hits }: Words,
  call: Call,
): Promise<Spelling | undefined> {
  // The typed word may be in another form than those of the passages, such as the singular.
  const most = maxSlips(word);
  const slipsTo = unfinished
    ? (other: string) => (other.startsWith(word) ? 0 : undefined)
    : (other: string) => slipsBetween(word, other, most) ?? slipsBetween(word, stem, most);
  // The stem counts more than the others, which may be rarer.
  const text = [...others, ...Array<string>(1 + others.length).fill(stem)].join(" ");
  const found = await lexical.retrieve({ text }, { ...call, count: passagesPerStem });
  const [term] = terms(stem);
  const spellings = new Map<string, Spelling>();
  for (const { uri, chunk } of await hits(found, call.filter === undefined ? {} : { filter: call.filter })) {
    const passage = `${fileName(uri)} ${chunk.context} ${chunk.text}`;
    const near = [...(isName ? capitalizedWords : plainWords)(passage)].flatMap((spelled) => {
      const slips = slipsTo(spelled);
      return slips === undefined || terms(spelled)[0] !== term ? [] : [{ spelling: spelled, slips, passages: 0 }];
    });
    if (near.length === 0) continue;
    const held = new Set(terms(passage));
    const share = others.length === 0 ? 1 : others.filter((other) => held.has(other)).length / others.length;
    for (const one of near) {
      const known = spellings.get(one.spelling) ?? one;
      known.passages += share;
      spellings.set(one.spelling, known);
    }
  }
  return [...spellings.values()].toSorted((a, b) => bySlips(a, b) || (a.spelling < b.spelling ? -1 : 1))[0];
}
