/** A citation as the model wrote it. */
export interface CitationMarker {
  /** The source's number. */
  readonly number: number;
  /** The words that the model claims to have copied; absent for a bare `[1]`. */
  readonly quote?: string;
}

/** A part of a streamed text: words for the reader, or a marker after all the words before it. */
export type MarkedText =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "marker"; readonly marker: CitationMarker };

/** Maximum length of a quote, in UTF-16 units; a longer text in brackets is not a citation. */
const maxQuoteLength = 1000;
/** Maximum length of a quoted block, such as code, between marks that no text has by chance. Blank lines are part of it. */
export const maxBlockLength = 4000;
const [blockOpening, blockClosing] = ["⟪", "⟫"];

/** Writes the marker of a source whose words are quoted as they stand, over several lines if they do. */
export function markerOf(number: number, quote?: string): string {
  if (quote === undefined || quote.includes(blockClosing) || quote.length > maxBlockLength) return `[${number}]`;
  // A bracket behind a quotation mark would end the quote within it.
  const isPlain = quote.length < maxQuoteLength - 2 && !/["“”„«»]\s*[\]】]|\n\s*\n|^["“”„«»]|["“”„«»]$/.test(quote);
  return isPlain ? `[${number}: "${quote}"]` : `[${number}: ${blockOpening}${quote}${blockClosing}]`;
}
const maxDigits = 3;
const maxNumbers = 10;

/**
 * Takes the citation markers out of a streamed text: `[1]`, `[1, 2]`, `[1: "copied words"]`, also with `【】`. The result
 * does not depend on where the text is cut into deltas. Holds back only what may still become a marker, at most about a
 * thousand characters, or four of a block. Links, footnotes and brackets in code are text.
 */
export class CitationMarkerParser {
  #held = "";
  readonly #code = new CodeSpans();

  /** The next delta. */
  push(delta: string): MarkedText[] {
    return this.#read(this.#held + delta, false);
  }

  /** Ends the text and resolves the held-back part. */
  end(): MarkedText[] {
    return this.#read(this.#held, true);
  }

  #read(text: string, final: boolean): MarkedText[] {
    const found: MarkedText[] = [];
    let plain = "";
    let offset = 0;
    while (offset < text.length) {
      const character = text[offset]!;
      const marker = isOpening(character) ? this.#readUnlessCode(text, offset, final) : "none";
      if (marker === "more") break;
      if (marker === "none") {
        this.#code.read(character);
        plain += character;
        offset++;
        continue;
      }
      if (plain !== "") found.push({ type: "text", text: plain });
      plain = "";
      for (const currentMarker of marker.markers) found.push({ type: "marker", marker: currentMarker });
      offset = marker.end;
    }
    this.#held = text.slice(offset);
    if (plain !== "") found.push({ type: "text", text: plain });
    return found;
  }

  #readUnlessCode(text: string, index: number, final: boolean): ReadMarker | "none" | "more" {
    if (this.#code.isFenced) return "none";
    const marker = readMarker(text, index, final);
    if (marker === "none" || marker === "more") return marker;
    const closes = this.#code.closesAfter(text, index, marker.end, final);
    if (closes === "no") this.#code.takeAsText();
    return closes === "yes" ? "none" : closes === "more" ? "more" : marker;
  }
}

function isOpening(character: string): boolean {
  return character === "[" || character === "【";
}

interface ReadMarker {
  readonly markers: readonly CitationMarker[];
  /** Offset after the marker. */
  readonly end: number;
}

/** The marker at `start`; `more` if that depends on the text to come. */
function readMarker(text: string, start: number, final: boolean): ReadMarker | "none" | "more" {
  const undecided = final ? "none" : "more";
  const numbers: number[] = [];
  let offset = start + 1;
  for (;;) {
    offset = skipSpaces(text, offset);
    const digits = /^\d*/u.exec(text.slice(offset, offset + maxDigits + 1))![0];
    offset += digits.length;
    if (offset >= text.length && digits.length <= maxDigits) return undecided;
    if (digits === "" || digits.length > maxDigits || Number(digits) === 0) return "none";
    numbers.push(Number(digits));
    offset = skipSpaces(text, offset);
    const next = text[offset];
    if (next === undefined) return undecided;
    offset++;
    if (",，、".includes(next)) {
      if (numbers.length === maxNumbers) return "none";
      continue;
    }
    if ((next === ":" || next === "：") && numbers.length === 1)
      return readQuote(text, start, offset, numbers[0]!, final);
    if (next !== closingOf(text[start]!)) return "none";
    // Only the next character distinguishes `[1](link)` and the definition `[1]: link` from a citation.
    const after = text[offset];
    if (after === undefined && !final) return "more";
    return after === "(" || after === ":" ? "none" : { markers: numbers.map((number) => ({ number })), end: offset };
  }
}

/** Reads the rest of a marker with a quote. Without a closing quotation mark it ends at the first bracket. */
function readQuote(
  text: string,
  start: number,
  from: number,
  number: number,
  final: boolean,
): ReadMarker | "none" | "more" {
  const closing = closingOf(text[start]!);
  const open = skipSpaces(text, from);
  const ownMarks = kindsOfMarks.find((marks) => marks.includes(text[open] ?? " "));
  const quoted = ownMarks !== undefined;
  const isBlock = text[open] === blockOpening;
  const limit = open + (isBlock ? maxBlockLength + 2 : maxQuoteLength);
  let firstBracket: number | undefined;
  let otherMarkBracket: number | undefined;
  const endAt = (bracket: number | undefined): ReadMarker | "none" => {
    if (bracket === undefined) return "none";
    const quote = withoutQuotationMarks(text.slice(open, bracket));
    return { markers: [quote === "" ? { number } : { number, quote }], end: bracket + 1 };
  };
  for (let offset = open; offset < text.length && offset <= limit; offset++) {
    const character = text[offset];
    // A quote may have a line break, as its source does, but no blank line.
    if (character === "\n" && !isBlock && (!quoted || text[offset - 1] === "\n"))
      return endAt(otherMarkBracket ?? firstBracket);
    if (character !== closing) continue;
    const mark = text.slice(open, offset).trimEnd().at(-1)!;
    // A link such as [`name`](address) within the quote has another mark before its bracket than the one that opened.
    if (ownMarks === undefined || ownMarks.includes(mark)) return endAt(offset);
    if (quotationMarks.includes(mark)) otherMarkBracket ??= offset;
    firstBracket ??= offset;
  }
  return text.length > limit || final ? endAt(otherMarkBracket ?? firstBracket) : "more";
}

/** Marks of which one may close what another opened. */
const kindsOfMarks = ['"“”„«»', "「」『』", "'‘’", "`", `${blockOpening}${blockClosing}`];
const quotationMarks = kindsOfMarks.join("");

function withoutQuotationMarks(text: string): string {
  const words = text.trim();
  const from = quotationMarks.includes(words[0] ?? " ") ? 1 : 0;
  const to = words.length - (words.length > from && quotationMarks.includes(words.at(-1) ?? " ") ? 1 : 0);
  return words.slice(from, to).trim();
}

function closingOf(opening: string): string {
  return opening === "[" ? "]" : "】";
}

function skipSpaces(text: string, index: number): number {
  return text[index] !== " " ? index : text[index + 1] === " " ? index + 2 : index + 1;
}

/** Further than this from a marker, the backticks that would make it code are not looked for. */
const maxCodeLength = 1000;

/**
 * Tracks Markdown code: text between equal runs of backticks, on one line unless a run has three or more. Backticks that
 * nothing closes are text, as in CommonMark (https://spec.commonmark.org/0.31.2/#code-spans).
 */
class CodeSpans {
  #open = 0;
  #run = 0;

  get isFenced(): boolean {
    return this.#afterRun() >= 3;
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

  /**
   * Whether the code that is open at a marker, if any, is closed behind the marker; `more` if that depends on the text to
   * come. A backtick within the marker is one of its quote: a whole marker is code, or none of it.
   */
  closesAfter(text: string, from: number, to: number, final: boolean): "yes" | "no" | "more" {
    const open = this.#afterRun();
    if (open === 0) return "no";
    const most = to - from + maxCodeLength;
    const [line = ""] = text.slice(from, from + most).split("\n", 1);
    const runs = [...line.matchAll(/`+/gu)].filter(({ index }) => from + index >= to);
    const atEnd = from + line.length === text.length;
    // A run at the end of what has come may become longer.
    const closing = runs.find(
      ({ index, 0: run }) => run.length === open && (final || from + index + open < text.length),
    );
    if (closing) return "yes";
    return atEnd && !final && line.length < most ? "more" : "no";
  }

  /** Treats the backticks that opened code as text. */
  takeAsText(): void {
    this.#open = 0;
    this.#run = 0;
  }

  /** Length of the run that opened the current code, if the present run of backticks ended here. */
  #afterRun(): number {
    if (this.#run === 0) return this.#open;
    if (this.#open === 0) return this.#run;
    const closes = this.#open < 3 ? this.#run === this.#open : this.#run >= this.#open;
    return closes ? 0 : this.#open;
  }
}
