import { traits } from "./read-markup.js";
import { blockEnd, type VisibleText } from "./visible-text.js";

/** Punctuation, space and markup between two tokens. */
export interface Gap {
  /**
   * Its punctuation in normal form, without quotation marks: `¶` is the end of a block without a mark of its own, `|` the
   * border of two cells.
   */
  readonly marks: string;
  /** The same with quotation marks, all as `"`. */
  readonly withQuotationMarks: string;
  readonly hasSpace: boolean;
  readonly hasLineBreak: boolean;
  readonly inCode: boolean;
  /** Whether markup was left out of it. */
  readonly hasMarkup: boolean;
  /** Whether its marks join the tokens around it to one word. */
  readonly join: boolean;
  /** Target of the link that ends in it. */
  readonly target?: string;
}

const quotationMarks = /["“”„‟«»‹›‘’‚‛'`「」『』〝〞＂＇]/gu;
const dashes = /[-‐‑‒–—―−﹘﹣－]/u;
const emDash = /^(?:[—―]+|--+)$/u;

const canonical: readonly (readonly [RegExp, string])[] = [
  [/[，、､،﹐]/gu, ","],
  [/[；؛]/gu, ";"],
  [/[：]/gu, ":"],
  [/[?？؟]/gu, "?"],
  [/…+|⋯+|\.{3,}|。{3,}/gu, "…"],
  [/[。．｡!！۔।॥።]/gu, "."],
  [/[（﹙]/gu, "("],
  [/[）﹚]/gu, ")"],
  [/[［【〔]/gu, "["],
  [/[］】〕]/gu, "]"],
];

const none: Gap = {
  marks: "",
  withQuotationMarks: "",
  inCode: false,
  hasSpace: false,
  hasLineBreak: false,
  hasMarkup: false,
  join: false,
};
const space: Gap = { ...none, hasSpace: true };

export function gapBetween({ text, marked, targets, traits: kinds }: VisibleText, from: number, to: number): Gap {
  let hasMarkup = false;
  let target = "";
  for (let index = from; index <= to; index++) {
    hasMarkup ||= marked.has(index);
    target += targets.get(index) ?? "";
  }
  const raw = text.slice(from, to);
  if (!hasMarkup && raw === "") return none;
  if (!hasMarkup && raw === " ") return space;
  const unmarked = raw.replace(quotationMarks, "");
  // Between two letters it is an apostrophe.
  const isApostrophe = /^['’ʼ＇]$/u.test(raw);
  const marks = isApostrophe ? "'" : normalMarks(unmarked, from > 0, to < text.length);
  return {
    marks,
    withQuotationMarks:
      unmarked === raw ? marks : normalMarks(raw.replace(quotationMarks, '"'), from > 0, to < text.length),
    hasSpace: /[\s\ue001\ue002]/u.test(raw),
    hasLineBreak: /[\n\ue002]/u.test(raw),
    inCode: from < to && (kinds[from]! & kinds[to - 1]! & traits.code) !== 0,
    hasMarkup,
    join:
      /^(?:[-‐‑–.]|::)$/u.test(raw) || (isApostrophe && /(?<!\p{L})n$/iu.test(text.slice(Math.max(0, from - 2), from))),
    ...(target !== "" && { target }),
  };
}

function normalMarks(raw: string, hasBefore: boolean, hasAfter: boolean): string {
  let marks = withDashes(raw, hasBefore, hasAfter);
  for (const [pattern, mark] of canonical) marks = marks.replace(pattern, mark);
  // "Really??" asks once; the spaced or enclosed `??` of code is an operator.
  marks = marks.replace(/(?<!\s)[.?]{2,}(?=[\s"\ue001\ue002]|$)/gu, (stops) => (stops.includes("?") ? "?" : "."));
  marks = marks.replace(/\ue001+/gu, "|").replace(/\s+/gu, "");
  const endsBlock = marks.includes(blockEnd);
  if (endsBlock) marks = marks.replace(/[|\ue002]+/gu, "");
  return endsBlock && !/[.?:;,…]"*$/u.test(marks) ? `${marks}¶` : marks;
}

/** Dashes by what they do: `—` parts clauses, `-` joins two words, `–` may do either. */
function withDashes(raw: string, hasBefore: boolean, hasAfter: boolean): string {
  if (!dashes.test(raw)) return raw;
  return raw.replace(/[-‐‑‒–—―−﹘﹣－]+/gu, (run, index: number) => {
    const isSpaced = (unit: string | undefined, isEdge: boolean) =>
      unit === undefined ? isEdge : /[\s\ue001\ue002]/u.test(unit);
    const before = isSpaced(raw[index - 1], !hasBefore);
    const after = isSpaced(raw[index + run.length], !hasAfter);
    // At the end of a word or line, the dash joins it to the next one.
    if (before || (after && !/^[-‐‑]$/u.test(run))) return "—";
    if (emDash.test(run)) return "―";
    return run === "–" ? "–" : "-";
  });
}

/** Dashes that stand for one another: the first joins, the last parts. */
const alike: Readonly<Record<string, string>> = { "-": "-–―", "–": "-–―—", "―": "-–―—", "—": "–―—" };

/** Whether the punctuation of a quote's gap is that of the text's, evened out in typography and markup alone. */
export function gapsAgree(own: Gap, quoted: Gap): boolean {
  if (quoted.target !== undefined && quoted.target !== own.target) return false;
  if (own.inCode) return own.withQuotationMarks === quoted.withQuotationMarks.replace("¶", "");
  const { marks: there } = own;
  const { marks: here } = quoted;
  if (marksAgree(there, here)) return true;
  const cells = there.replaceAll("|", "");
  if (cells !== there && marksAgree(cells, here.replaceAll("|", ""))) return true;
  if (there.endsWith("¶")) {
    const open = there.slice(0, -1);
    if (marksAgree(open, here) && quoted.hasLineBreak) return true;
    return /[.;]$/u.test(here) && marksAgree(open, here.slice(0, -1));
  }
  // A blank line says less than a mark, and white space is nobody's words.
  return here.endsWith("¶") && marksAgree(there, here.slice(0, -1));
}

function marksAgree(there: string, here: string): boolean {
  if (there === here) return true;
  if (there.length !== here.length) return false;
  for (let index = 0; index < there.length; index++) {
    if (there[index] !== here[index] && !alike[there[index]!]?.includes(here[index]!)) return false;
  }
  return true;
}
