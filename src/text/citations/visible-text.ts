import { readMarkup, traits } from "./read-markup.js";

/** A text as a reader sees it: without markup, each unit with its place in the original. */
export interface VisibleText {
  readonly text: string;
  /** For each unit of `text`, where it stands in the original, and behind them the original's length. */
  readonly offsets: Uint32Array;
  /** For each unit of `text`, its traits. */
  readonly traits: Uint16Array;
  /** Targets of links, by the offset in `text` before which they were left out. */
  readonly targets: ReadonlyMap<number, string>;
  /** Offsets in `text` before which markup was left out. */
  readonly marked: ReadonlySet<number>;
}

/** Character for the border of two cells. */
export const cellBorder = "\ue001";
/** Character for the end of a paragraph, heading, list item or table row. */
export const blockEnd = "\ue002";

const entities: Readonly<Record<string, string>> = {
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  ndash: "–",
  mdash: "—",
  minus: "−",
  hellip: "…",
};
const entity = new RegExp(`&(${Object.keys(entities).join("|")}|#39);`, "y");

/** Registered and trade marks change nothing in a name. */
const insignificant = /\p{Cf}|[\u2122\u00ae\u00a9\u2120\u0640]|\p{Variation_Selector}/u;

/** Characters between which a line break is no space. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}]/u;

/** @param cut whether the text may begin and end within markup, as a quote may: marks without a partner are markup then. */
export function visibleText(original: string, { cut = false } = {}): VisibleText {
  const found = readMarkup(original, cut);
  const targets = new Map<number, string>();
  const marked = new Set<number>();
  const offsets: number[] = [];
  const kept: number[] = [];
  let text = "";
  const keep = (shown: string, index: number) => {
    for (let unit = 0; unit < shown.length; unit++) {
      offsets.push(index);
      kept.push(found[index]!);
    }
    text += shown;
  };
  for (let offset = 0; offset < original.length; offset++) {
    const trait = found[offset]!;
    const unit = original[offset]!;
    if (trait & traits.cell) keep(cellBorder, offset);
    else if (trait & traits.blockEnd) keep(blockEnd, offset);
    else if (trait & traits.raised) keep("^", offset);
    else if (trait & traits.lineBreak) keep("\n", offset);
    else if (unit === "\n" && unspaced.test(text.at(-1) ?? "") && unspaced.test(original[offset + 1] ?? "")) continue;
    else if (trait & traits.silent) {
      marked.add(text.length);
      if (trait & traits.target) targets.set(text.length, (targets.get(text.length) ?? "") + unit);
    } else if (
      unit === "&" &&
      !(trait & traits.code) &&
      (entity.lastIndex = offset) === offset &&
      entity.test(original)
    ) {
      keep(entities[original.slice(offset + 1, entity.lastIndex - 1)] ?? "'", offset);
      offset = entity.lastIndex - 1;
    } else if (unit < "\u007f") keep(unit, offset);
    else if (!insignificant.test(unit)) keep(abbreviated(unit), offset);
  }
  offsets.push(original.length);
  return { text, offsets: Uint32Array.from(offsets), traits: Uint16Array.from(kept), targets, marked };
}

/** Some symbols are abbreviations: ㎏, ℃. */
function abbreviated(unit: string): string {
  if (unit < "\u2100" || (unit > "\u214f" && unit < "\u3300") || unit > "\u33ff") return unit;
  const letters = unit.normalize("NFKD");
  return /\p{So}/u.test(unit) && /\p{L}/u.test(letters) ? letters : unit;
}
