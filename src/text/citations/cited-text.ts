import type { Citation, Support } from "../../core/types.js";
import type { CitationChecker } from "./check-citation.js";
import { CitationMarkerParser, type CitationMarker, type MarkedText } from "./citation-markers.js";
import { meaningfulWords } from "./meaningful-words.js";
import { sentences } from "../blocks/sentences.js";

/** A part of a checked reply. */
export type CitedPart =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "citation"; readonly citation: Citation }
  /** A marker whose number no source has. */
  | { readonly type: "stray-marker"; readonly number: number };

/** A sentence of a reply that claims something without support. */
export interface Unbacked {
  readonly sentence: string;
  /** The support of its best citation; absent if it has none. */
  readonly support?: Extract<Support, "near" | "missing">;
}

/** A reply so far, as plain JSON. */
export interface CitedTextState {
  text: string;
  plain: string;
  /** Where in `plain` markers stood, and what their citations came to. */
  readonly marks: { readonly at: number; readonly support: Support }[];
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
  constructor(checker: CitationChecker, state: CitedTextState = { text: "", plain: "", marks: [], cited: [] }) {
    this.#checker = checker;
    this.state = state;
  }

  /** The text as the reader sees it, with markers as `[1]`, numbered in the order in which sources are first cited. */
  get text(): string {
    return this.state.text;
  }

  /** The same without markers and the spaces before them. */
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
    this.state.marks.push({ at: this.plain.trimEnd().length, support: citation?.support ?? "missing" });
    if (!citation) return [this.#say(`[${marker.number}]`, ""), { type: "stray-marker", number: marker.number }];
    const number = this.#numberFor(marker.number);
    return [this.#say(`[${number}]`, ""), { type: "citation", citation: { ...citation, number } }];
  }

  /** Numbers for the reader follow the text, numbers of the model the order of its sources. */
  #numberFor(source: number): number {
    const { cited } = this.state;
    if (!cited.includes(source)) cited.push(source);
    return cited.indexOf(source) + 1;
  }

  /** Sentences that claim something without a supported citation. Headings, questions, code and lead-ins claim nothing. */
  unbacked(): Unbacked[] {
    return sentences(this.plain).flatMap(({ start, end }): Unbacked[] => {
      const sentence = this.plain.slice(start, end);
      if (!claims(sentence)) return [];
      const found = new Set(this.state.marks.filter(({ at }) => at > start && at <= end).map(({ support }) => support));
      if (found.has("exact") || found.has("normalised")) return [];
      return [{ sentence, ...(found.size > 0 && { support: found.has("near") ? "near" : "missing" }) }];
    });
  }
}

function lastSentence(text: string): string {
  const recent = text.slice(-maxSentenceLength);
  const last = sentences(recent).at(-1);
  return last ? recent.slice(last.start, last.end) : "";
}

const minWords = 4;

function claims(sentence: string): boolean {
  if (/^\s*(?:#{1,6}\s|`{3}|~{3})|[:：?？]["”’*_`)]*$/u.test(sentence)) return false;
  return meaningfulWords(sentence).filter(({ joined }) => !joined).length >= minWords;
}
