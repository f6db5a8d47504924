import { CitedText, type CitedPart } from "../text/cited-text.js";
import type { Folded } from "../text/fold-messages.js";
import { isAbstention } from "../text/prompt.js";
import type { ClaimedSource } from "../text/structured-reply.js";
import type {
  Answer,
  AnswerAccount,
  AnswerEvent,
  Citation,
  ModelRequest,
  Retrieved,
  ToolExchange,
  TraceStep,
  Usage,
} from "../types.js";
import { askableTrace } from "../text/why.js";
import { addUsage } from "./add-usage.js";
import { answerAccount } from "./answer-account.js";
import type { AnswerSources } from "./answer-sources.js";
import type { ModelReply } from "./model-reply.js";
import type { RoundCall } from "./tool-round.js";

/** All events but the last, which is for the caller to send. */
export type AnswerProgress = Exclude<AnswerEvent, { readonly type: "finish" | "error" }>;

/** What a finished answer is made of beside the draft itself. */
export interface AnswerEnding {
  /** As the service named it. */
  readonly model: string;
  /** The last reply, without markers. */
  readonly lastReply: string;
  /** Of an answer with a schema. */
  readonly structured?: StructuredEnding;
}

export interface StructuredEnding {
  readonly answered: boolean;
  readonly value: unknown;
  /** What the reader saw. */
  readonly text: string;
}

/** An answer in the making: everything that was told goes through it once, so the whole is what the parts were. */
export class AnswerDraft {
  readonly cited: CitedText;
  /** All calls of tools, as later turns read them. */
  readonly exchanges: ToolExchange[] = [];
  readonly #sources: AnswerSources;
  readonly #citations: Citation[] = [];
  readonly #warnings: string[] = [];
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  #fold: string | undefined;
  #citable = true;
  readonly #retrieved: Retrieved;
  readonly #requests: ModelRequest[] = [];
  #unanswered: (() => ModelRequest) | undefined;
  readonly #started = performance.now();

  constructor(retrieved: Retrieved, sources: AnswerSources) {
    this.cited = new CitedText(sources.checker);
    this.#retrieved = retrieved;
    this.#sources = sources;
  }

  warn(message: string): AnswerProgress {
    this.#warnings.push(message);
    return { type: "warning", message };
  }

  /** A part of the reply as an event. */
  tell(part: CitedPart): AnswerProgress {
    if (part.type === "citation") this.#citations.push(part.citation);
    if (part.type !== "stray-marker") return part;
    return this.warn(`The answer cites source ${part.number}; there are ${this.#sources.size} sources`);
  }

  /** Notes what of the conversation goes out in shortened form. */
  fold({ foldedTurns, foldedRounds, droppedTurns, droppedRounds }: Folded): void {
    if (foldedTurns + foldedRounds === 0) return;
    this.#fold =
      `shortened ${foldedTurns} earlier turns and ${foldedRounds} rounds of tools, ` +
      `and left out ${droppedTurns} and ${droppedRounds} of them`;
  }

  /** A request to the model is on its way; `unanswered` says what it came to if nothing ever comes of it. */
  asks(unanswered: () => ModelRequest): void {
    this.#unanswered = unanswered;
  }

  /** Counts a request to the model that was answered. */
  count(request: ModelRequest, usage: Usage): void {
    this.#unanswered = undefined;
    this.#usage = addUsage(this.#usage, usage);
    this.#requests.push(request);
  }

  /** What it came to so far. */
  account(): AnswerAccount {
    const unanswered = this.#unanswered ? [this.#unanswered()] : [];
    return answerAccount({
      retrieved: this.#retrieved,
      trace: this.#trace(),
      requests: [...(this.#retrieved.requests ?? []), ...this.#requests, ...unanswered],
      answerMilliseconds: performance.now() - this.#started,
    });
  }

  #trace(): readonly TraceStep[] {
    const fold: TraceStep[] =
      this.#fold === undefined ? [] : [{ step: "fold", kept: this.#sources.chunkIds, dropped: [], note: this.#fold }];
    return [...this.#retrieved.trace, ...this.#sources.steps, ...fold];
  }

  /** Keeps the calls of a round. */
  remember(round: readonly RoundCall[]): void {
    this.exchanges.push(...round.map(({ remembered }) => remembered));
    this.#requests.push(...round.flatMap(({ requests }) => requests));
    this.#citable &&= round.every(({ citable }) => citable);
  }

  /** What a reader should know of the last reply: that it was cut, is empty, or claims what nothing backs. */
  review({ text, calls, finish }: ModelReply): AnswerProgress[] {
    const found: string[] = [];
    if (calls.length > 0) found.push("The model called a tool after the last round; it was not run");
    if (finish.reason === "length") {
      found.push(`The answer was cut by the limit on its length, after ${finish.usage.outputTokens} tokens`);
    }
    if (text.trim() === "") found.push("The model said nothing");
    // What rests on the result of a tool has no source to cite.
    if (this.#citable && !isAbstention(text)) {
      for (const { sentence, cited } of this.cited.unbacked()) {
        found.push(cited ? `Not found in the source it cites: ${sentence}` : `Without a citation: ${sentence}`);
      }
    }
    return found.map((message) => this.warn(message));
  }

  /** The citations of a structured answer, checked, and what a reader should know of them. */
  *cite(claims: readonly ClaimedSource[]): Generator<AnswerProgress> {
    const numbers = new Map<number, number>();
    for (const claim of claims) {
      const citation = this.#sources.checker.check(claim, "");
      if (!citation) {
        yield this.tell({ type: "stray-marker", number: claim.number });
        continue;
      }
      const number = numbers.get(claim.number) ?? numbers.size + 1;
      numbers.set(claim.number, number);
      yield this.tell({ type: "citation", citation: { ...citation, number } });
      if (!citation.supported) yield this.warn(`Not found in the source it cites: ${citation.quote}`);
    }
    if (this.#citable && !this.#citations.some(({ supported }) => supported)) {
      yield this.warn("The answer has no citation that holds");
    }
  }

  finish({ model, lastReply, structured }: AnswerEnding): Answer {
    const retrieved = this.#retrieved;
    const { text, plain } = structured ? { text: structured.text, plain: structured.text } : this.cited;
    return {
      question: retrieved.asked ?? retrieved.question,
      text,
      answered: structured?.answered ?? (lastReply.trim() !== "" && !isAbstention(lastReply)),
      ...(structured?.value !== undefined && { value: structured.value }),
      citations: this.#citations,
      hits: this.#sources.hits,
      trace: askableTrace(this.#trace()),
      usage: addUsage(retrieved.usage, this.#usage),
      account: this.account(),
      model,
      // Without markers: the next question comes with sources of other numbers.
      turn: { role: "assistant", text: plain.trim(), ...(this.exchanges.length > 0 && { tools: this.exchanges }) },
      warnings: this.#warnings,
    };
  }
}
