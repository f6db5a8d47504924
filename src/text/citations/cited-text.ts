import type { Citation, Support } from "../../core/types.js";
import type { CitationChecker } from "./check-citation.js";
import { CitationMarkerParser, type CitationMarker, type MarkedText } from "./citation-markers.js";
import { claims } from "./claims.js";
import { quoteLocator } from "./locate-quote.js";
import { sentences } from "../blocks/sentences.js";

/** A part of a checked reply. */
export type CitedPart =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "citation"; readonly citation: Citation }
  /** A marker whose number no source has. */
  | { readonly type: "stray-marker"; readonly number: number };

/** An unsupported claim of a reply. */
export interface Unbacked {
  /** Offsets into the reply with its marks, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The support of its best citation; absent if it has none. */
  readonly support?: Extract<Support, "near" | "missing">;
}

/** A reply so far, as plain JSON. */
export interface CitedTextState {
  text: string;
  plain: string;
  /** Offsets of markers in `plain`, with the support of their citations and the length of all marks up to there in `text`. */
  readonly marks: { readonly offset: number; readonly support: Support; shift: number }[];
  /** The words of the supported citations. */
  readonly quotes: string[];
  /** The model's numbers of the cited sources, in the order in which the text first cites them. */
  readonly cited: number[];
}

/** How far back the sentence before a marker may start, in UTF-16 units. */
const maxSentenceLength = 1000;

/** A reply on its way to the reader: checks every marker as it arrives and removes its quote from the text. */
export class CitedText {
  readonly state: CitedTextState;
  readonly #checker: CitationChecker;
  #parser = new CitationMarkerParser();

  /** @param state the reply to go on with. */
  constructor(
    checker: CitationChecker,
    state: CitedTextState = { text: "", plain: "", marks: [], quotes: [], cited: [] },
  ) {
    this.#checker = checker;
    this.state = state;
  }

  /** The text as the reader sees it, with markers as `[1]`, numbered in the order in which sources are first cited. */
  get text(): string {
    return this.state.text;
  }

  /** The text without markers and the spaces before them. */
  get plain(): string {
    return this.state.plain;
  }

  push(delta: string): CitedPart[] {
    return this.#parser.push(delta).flatMap((part) => this.#partsOf(part));
  }

  /** Ends a reply; another may follow. */
  end(): CitedPart[] {
    const parts = this.#parser.end().flatMap((part) => this.#partsOf(part));
    this.#parser = new CitationMarkerParser();
    return parts;
  }

  #partsOf(part: MarkedText): CitedPart[] {
    return part.type === "text" ? [this.#say(part.text, part.text)] : this.#mark(part.marker);
  }

  #say(text: string, plain: string): CitedPart {
    this.state.text += text;
    this.state.plain += plain;
    return { type: "text-delta", text };
  }

  #mark(marker: CitationMarker): CitedPart[] {
    while (this.plain.endsWith(" ")) this.state.plain = this.plain.slice(0, -1);
    const citation = this.#checker.check(marker, lastSentence(this.plain));
    const mark = { offset: this.plain.trimEnd().length, support: citation?.support ?? ("missing" as const), shift: 0 };
    this.state.marks.push(mark);
    if (citation?.supported === true) this.state.quotes.push(citation.quote);
    const number = citation ? this.#numberFor(marker.number) : marker.number;
    const said = this.#say(`[${number}]`, "");
    mark.shift = this.text.length - this.plain.length;
    return [
      said,
      citation
        ? { type: "citation", citation: { ...citation, number } }
        : { type: "stray-marker", number: marker.number },
    ];
  }

  /** Numbers for the reader follow the text, numbers of the model the order of its sources. */
  #numberFor(source: number): number {
    const { cited } = this.state;
    if (!cited.includes(source)) cited.push(source);
    return cited.indexOf(source) + 1;
  }

  /** Claims without a supported citation that are not in the words of a quotation either. */
  unbacked(): Unbacked[] {
    const { marks, quotes } = this.state;
    const locators = quotes.map(quoteLocator);
    return claims(this.plain).flatMap(({ start, end }): Unbacked[] => {
      const found = new Set(
        marks.filter(({ offset }) => offset > start && offset <= end).map(({ support }) => support),
      );
      if (found.has("exact") || found.has("normalised")) return [];
      const claim = this.plain.slice(start, end);
      const isQuoted = locators.some((locate) => /exact|normalised/.test(locate(claim)?.support ?? ""));
      if (found.size === 0 && isQuoted) return [];
      const place = { start: this.#placeInText(start, true), end: this.#placeInText(end, false) };
      return [{ ...place, ...(found.size > 0 && { support: found.has("near") ? "near" : "missing" }) }];
    });
  }

  /** The place in the text with marks of a place in the text without; a mark right there stands before what starts and behind what ends. */
  #placeInText(index: number, starts: boolean): number {
    const before = this.state.marks.findLast((mark) => (starts ? mark.offset <= index : mark.offset < index));
    return index + (before?.shift ?? 0);
  }
}

function lastSentence(text: string): string {
  const recent = text.slice(-maxSentenceLength);
  const last = sentences(recent).at(-1);
  return last ? recent.slice(last.start, last.end) : "";
}
