import type { TokenCounter } from "../../core/ports.js";
import { citationChecker, type CitationChecker } from "../../text/citations/check-citation.js";
import { packSources, type Packed, type Passage } from "../../text/prompt/pack.js";
import { renderSource } from "../../text/prompt/prompt.js";
import type { Hit, TraceStep } from "../../core/types.js";
import { maxSources } from "./answer-options.js";

export interface AddLimits {
  /** The step's name in the trace. */
  readonly step: string;
  /** Maximum tokens of `content`. */
  readonly maxTokens: number;
  readonly tokens: TokenCounter;
}

export interface AddedSources {
  /** For the model in this answer: the sources under their numbers. */
  readonly content: string;
  /** For later turns: where the sources came from. */
  readonly summary: string;
}

/** Reserved for the line about known sources, and for numbers with more digits than the packer counted. */
const lineTokens = 48;

/** The sources of an answer, as plain JSON. */
export interface SourcesState {
  readonly passages: Passage[];
  /** How many of the passages came with the question; tools found the others. */
  readonly given: number;
  /** All hits, from the search and from tools, each once. */
  readonly hits: Hit[];
  readonly steps: TraceStep[];
}

/** Sources from the hits of a question alone. */
export function packedSources(hits: readonly Hit[], { passages, step }: Packed): SourcesState {
  const byId = new Map(hits.map((hit) => [hit.chunk.id, hit]));
  return { passages: [...passages], given: passages.length, hits: [...byId.values()], steps: [step] };
}

/** The numbered sources of an answer: those that came with the question, and those that tools found. */
export class AnswerSources {
  readonly checker: CitationChecker;
  readonly state: SourcesState;
  readonly #passages: Passage[];

  constructor(state: SourcesState) {
    this.state = state;
    this.#passages = state.passages;
    this.checker = citationChecker(this.#passages);
  }

  get size(): number {
    return this.#passages.length;
  }

  /** The sources that came with the question. */
  get given(): readonly Passage[] {
    return this.#passages.slice(0, this.state.given);
  }

  /** All hits, from the search and from tools, each once. */
  get hits(): readonly Hit[] {
    return this.state.hits;
  }

  /** The chunks that sources are made of, in the order of the sources. */
  get chunkIds(): readonly string[] {
    return [...new Set(this.#passages.flatMap(({ hits }) => hits.map(({ chunk }) => chunk.id)))];
  }

  /** Trace steps that record the outcome of hits: the packing before the first request, and each search by a tool. */
  get steps(): readonly TraceStep[] {
    return this.state.steps;
  }

  /**
   * Adds more hits, best first. A hit within a known source adds nothing: a source that came with the question is only
   * mentioned, and one that a tool found is shown again, since its round may have been shortened since.
   */
  add(found: readonly Hit[], { step, maxTokens, tokens }: AddLimits): AddedSources {
    const holders = found.map((hit) => this.#passages.find((passage) => holds(passage, hit)));
    const known = [...new Set(holders.filter((passage) => passage !== undefined))];
    const { given, hits, steps } = this.state;
    const named = known.filter(({ number }) => number <= given);
    let left = maxTokens - lineTokens;
    const shown = known.filter((passage) => {
      if (passage.number <= given || passage.tokens > left) return false;
      left -= passage.tokens;
      return true;
    });

    const fresh = found.filter((_, index) => holders[index] === undefined).slice(0, maxSources - this.size);
    const { passages, step: packing } = packSources(fresh, { maxTokens: Math.max(0, left), tokens });
    const added = passages.map((passage, index) => ({ ...passage, number: this.size + index + 1 }));
    this.#passages.push(...added);
    for (const hit of found) if (!hits.some(({ chunk }) => chunk.id === hit.chunk.id)) hits.push(hit);
    steps.push({ ...packing, step, kept: this.chunkIds });

    const again = named.length === 0 ? [] : [`Also found, and given before: ${named.map(mark).join(" ")}`];
    const content = [...[...shown, ...added].map(renderSource), ...again].join("\n");
    const uris = [...new Set([...known, ...added].map(({ uri }) => uri))];
    return {
      content: content === "" ? "Nothing was found." : content,
      summary: uris.length === 0 ? "Nothing was found." : `Found passages of ${uris.join(", ")}`,
    };
  }
}

function holds({ uri, start, end, text }: Passage, { uri: ofHit, chunk }: Hit): boolean {
  return (
    uri === ofHit &&
    start <= chunk.start &&
    chunk.end <= end &&
    text.slice(chunk.start - start, chunk.end - start) === chunk.text
  );
}

function mark({ number }: Passage): string {
  return `[${number}]`;
}
