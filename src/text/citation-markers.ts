/** A citation as the model wrote it. */
export interface CitationMarker {
  /** The source's number. */
  readonly number: number;
  /** The words it says it copied; absent for a bare `[1]`. */
  readonly quote?: string;
}

/** What became of some text: words for the reader, or a marker that stands behind all words before it. */
export type MarkedText =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "marker"; readonly marker: CitationMarker };

/** Longest quote in a marker, in UTF-16 units; what goes on longer is text in brackets, not a citation. */
const longestQuote = 1000;
const longestNumber = 3;
const mostNumbers = 10;

/**
 * Takes the citation markers out of a streamed text: `[1]`, `[1, 2]`, `[1: "copied words"]`, also with `【】`. It may be
 * cut into deltas anywhere and gives the same words and markers. Holds back only what may still become a marker, at most
 * about a thousand characters. Links, footnotes, and whatever stands in code are text.
 */
export class CitationMarkerParser {
  #held = "";
  readonly #code = new CodeSpans();

  /** The next delta. */
  push(delta: string): MarkedText[] {
    return this.#read(this.#held + delta, false);
  }

  /** The end of the text: what was held back is decided now. */
  end(): MarkedText[] {
    return this.#read(this.#held, true);
  }

  #read(text: string, final: boolean): MarkedText[] {
    const found: MarkedText[] = [];
    let plain = "";
    let at = 0;
    while (at < text.length) {
      const character = text[at]!;
      const marker = isOpening(character) && !this.#code.inside ? readMarker(text, at, final) : "none";
      if (marker === "more") break;
      if (marker === "none") {
        this.#code.read(character);
        plain += character;
        at++;
        continue;
      }
      if (plain !== "") found.push({ type: "text", text: plain });
      plain = "";
      for (const each of marker.markers) found.push({ type: "marker", marker: each });
      at = marker.end;
    }
    this.#held = text.slice(at);
    if (plain !== "") found.push({ type: "text", text: plain });
    return found;
  }
}

function isOpening(character: string): boolean {
  return character === "[" || character === "【";
}

interface ReadMarker {
  readonly markers: readonly CitationMarker[];
  /** Offset just behind the marker. */
  readonly end: number;
}

/** The marker at `start`; `more` when only the text to come can tell. */
function readMarker(text: string, start: number, final: boolean): ReadMarker | "none" | "more" {
  const undecided = final ? "none" : "more";
  const numbers: number[] = [];
  let at = start + 1;
  for (;;) {
    at = skipSpaces(text, at);
    const digits = /^\d*/u.exec(text.slice(at, at + longestNumber + 1))![0];
    at += digits.length;
    if (at >= text.length && digits.length <= longestNumber) return undecided;
    if (digits === "" || digits.length > longestNumber || Number(digits) === 0) return "none";
    numbers.push(Number(digits));
    at = skipSpaces(text, at);
    const next = text[at];
    if (next === undefined) return undecided;
    at++;
    if (",，、".includes(next)) {
      if (numbers.length === mostNumbers) return "none";
      continue;
    }
    if ((next === ":" || next === "：") && numbers.length === 1) return readQuote(text, start, at, numbers[0]!, final);
    if (next !== closingOf(text[start]!)) return "none";
    // Only the next character tells `[1](link)` and the definition `[1]: link` from a citation.
    const behind = text[at];
    if (behind === undefined && !final) return "more";
    return behind === "(" || behind === ":" ? "none" : { markers: numbers.map((number) => ({ number })), end: at };
  }
}

/** The rest of a marker with a quote. Where no quotation mark closes it, it ends at the first bracket on its lines. */
function readQuote(
  text: string,
  start: number,
  from: number,
  number: number,
  final: boolean,
): ReadMarker | "none" | "more" {
  const closing = closingOf(text[start]!);
  const open = skipSpaces(text, from);
  if (open >= text.length) return final ? "none" : "more";
  const quoted = quotationMarks.includes(text[open]!);
  const limit = open + longestQuote;
  let firstBracket: number | undefined;
  const ended = (bracket: number | undefined): ReadMarker | "none" => {
    if (bracket === undefined) return "none";
    const quote = withoutQuotationMarks(text.slice(open, bracket));
    return { markers: [quote === "" ? { number } : { number, quote }], end: bracket + 1 };
  };
  for (let at = open; at < text.length && at <= limit; at++) {
    const character = text[at];
    // A quote may run over a line break, as its source does, but not into the next paragraph.
    if (character === "\n" && (!quoted || text[at - 1] === "\n")) return ended(firstBracket);
    if (character !== closing) continue;
    if (!quoted || quotationMarks.includes(text.slice(open, at).trimEnd().at(-1)!)) return ended(at);
    firstBracket ??= at;
  }
  return text.length > limit || final ? ended(firstBracket) : "more";
}

const quotationMarks = "\"'“”„«»「」『』‘’`";

function withoutQuotationMarks(text: string): string {
  const words = text.trim();
  const from = quotationMarks.includes(words[0] ?? " ") ? 1 : 0;
  const to = words.length - (words.length > from && quotationMarks.includes(words.at(-1) ?? " ") ? 1 : 0);
  return words.slice(from, to).trim();
}

function closingOf(opening: string): string {
  return opening === "[" ? "]" : "】";
}

function skipSpaces(text: string, at: number): number {
  return text[at] !== " " ? at : text[at + 1] === " " ? at + 2 : at + 1;
}

/** Whether a place in Markdown lies in code: between equal runs of backticks, on one line unless they are three or more. */
class CodeSpans {
  #open = 0;
  #run = 0;

  get inside(): boolean {
    return this.#afterRun() > 0;
  }

  read(character: string): void {
    if (character === "`") {
      this.#run++;
      return;
    }
    this.#open = this.#afterRun();
    this.#run = 0;
    if (character === "\n" && this.#open < 3) this.#open = 0;
  }

  /** Length of the run that opened the code we are in, were the present run of backticks to end here. */
  #afterRun(): number {
    if (this.#run === 0) return this.#open;
    if (this.#open === 0) return this.#run;
    const closes = this.#open < 3 ? this.#run === this.#open : this.#run >= this.#open;
    return closes ? 0 : this.#open;
  }
}
