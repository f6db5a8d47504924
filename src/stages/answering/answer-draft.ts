import type { WaitingAnswer } from "../../core/approval.js";
import type { ChatEvent } from "../../core/ports.js";
import { askableTrace } from "./trace.js";
import type {
  Answer,
  AnswerAccount,
  AnswerEvent,
  AnswerRemark,
  Citation,
  FinishReason,
  ModelRequest,
  Retrieved,
  ToolExchange,
  TraceStep,
  Usage,
} from "../../core/types.js";
import { withoutNoise } from "../../core/types.js";
import { CitedText, type CitedPart, type CitedTextState } from "../../text/citations/cited-text.js";
import type { Folded } from "../../text/prompt/fold-messages.js";
import { isAbstention } from "../../text/prompt/prompt.js";
import { asksForNothing } from "../../text/words/small-talk.js";
import type { ClaimedSource } from "../../text/prompt/structured-reply.js";
import { addUsage, noUsage } from "../calls/model-request.js";
import type { AnswerSources } from "./answer-sources.js";
import { nearestPassages } from "./nearest-passages.js";
import { remarksSentence } from "./remarks.js";
import type { RoundCall } from "./tools/run-tool-round.js";
import type { ModelCall } from "./tools/toolbox.js";

/** All events but the last, which the caller sends. */
export type AnswerProgress = Exclude<AnswerEvent, { readonly type: "finish" | "error" }>;

export type ChatFinish = Extract<ChatEvent, { readonly type: "finish" }>;

/** The model's reply to one request. */
export interface ModelReply {
  /** Its text, without citation markers. */
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** Its thinking before the text and the calls. */
  readonly reasoning: string;
  readonly finish: ChatFinish;
}

/** The parts of a finished answer that the draft does not know. */
export interface AnswerEnding {
  /** The model as the service named it. */
  readonly model: string;
  readonly finishReason: FinishReason;
  /** The last reply, without markers. */
  readonly lastReply: string;
  /** Present for an answer with a schema; `text` is the text that the reader saw. */
  readonly structured?: { readonly answered: boolean; readonly value: unknown; readonly text: string };
  /** Present for an answer that waits for approvals. */
  readonly waiting?: WaitingAnswer;
}

/** An answer while it is made, as plain JSON. */
export interface DraftState {
  readonly cited: CitedTextState;
  /** All tool calls, as later turns read them. */
  readonly exchanges: ToolExchange[];
  readonly citations: Citation[];
  readonly warnings: string[];
  /** Claims of the text that nothing backs. */
  remarks?: readonly AnswerRemark[];
  readonly requests: ModelRequest[];
  /** Absent until a request was answered with a count. */
  usage?: Usage | undefined;
  /** How the conversation was shortened for the last request. */
  fold?: string;
  /** Whether everything that the model read can be cited. */
  citable: boolean;
  /** Time spent on it before now. */
  readonly milliseconds: number;
}

/** Explains why a citation of a structured answer does not hold. */
const unsupported = {
  near: "Slightly different words are in the source it cites",
  missing: "Not found in the source it cites",
} as const;

/** Collects an answer while it is made. Every event passes through it once, so the whole matches the parts. */
export class AnswerDraft {
  readonly cited: CitedText;
  readonly #state: DraftState;
  readonly #sources: AnswerSources;
  readonly #retrieved: Retrieved;
  #unanswered: (() => ModelRequest) | undefined;
  readonly #started = performance.now();

  /** @param state the answer to continue. */
  constructor(retrieved: Retrieved, sources: AnswerSources, state?: DraftState) {
    this.cited = new CitedText(sources.checker, state?.cited);
    this.#state = state ?? {
      cited: this.cited.state,
      exchanges: [],
      citations: [],
      warnings: [],
      requests: [],
      citable: true,
      milliseconds: 0,
    };
    this.#retrieved = retrieved;
    this.#sources = sources;
  }

  get state(): DraftState {
    return { ...this.#state, milliseconds: this.#milliseconds };
  }

  get #milliseconds(): number {
    return this.#state.milliseconds + performance.now() - this.#started;
  }

  warn(message: string, about?: "claims"): AnswerProgress {
    this.#state.warnings.push(message);
    return { type: "warning", message, ...(about && { about }) };
  }

  /** Ids of the calls that tools have answered. */
  get callIds(): ReadonlySet<string> {
    return new Set(this.#state.exchanges.map(({ id }) => id));
  }

  /** Turns a part of the reply into an event. */
  tell(part: CitedPart): AnswerProgress {
    if (part.type === "citation") this.#state.citations.push(part.citation);
    if (part.type !== "stray-marker") return part;
    return this.warn(`The answer cites source ${part.number}; there are ${this.#sources.size} sources`);
  }

  /** Records how the conversation was shortened for a request. */
  fold({ foldedTurns, foldedRounds, droppedTurns, droppedRounds }: Folded): void {
    if (foldedTurns + foldedRounds === 0) return;
    this.#state.fold =
      `shortened ${foldedTurns} earlier turns and ${foldedRounds} rounds of tools, ` +
      `and left out ${droppedTurns} and ${droppedRounds} of them`;
  }

  /** Records a request to the model; `unanswered` describes it in case no reply ever comes. */
  requestSent(unanswered: () => ModelRequest): void {
    this.#unanswered = unanswered;
  }

  requestAnswered(request: ModelRequest, usage: Usage | undefined): void {
    this.#unanswered = undefined;
    this.#state.usage = addUsage(this.#state.usage, usage);
    this.#state.requests.push(request);
  }

  /** Records the calls of a round of tools. */
  remember(round: readonly RoundCall[]): void {
    this.#state.exchanges.push(...round.map(({ remembered }) => remembered));
    this.#state.requests.push(...round.flatMap(({ requests }) => requests));
    this.#state.citable &&= round.every(({ citable }) => citable);
  }

  /** Warns the reader about the last reply: it was cut, is empty, or makes claims that nothing backs. */
  review({ text, calls, finish }: ModelReply): AnswerProgress[] {
    const found: string[] = [];
    if (calls.length > 0) found.push("The model called a tool after the last round; it was not run");
    if (finish.reason === "length") {
      const after = finish.usage ? `, after ${finish.usage.outputTokens} tokens` : "";
      found.push(`The answer was cut off at its length limit${after}`);
    }
    if (text.trim() === "") found.push("The model said nothing");
    // Claims that rest on a tool's result have no source to cite.
    if (this.#state.citable && !isAbstention(text)) {
      const { question, asked = question } = this.#retrieved;
      // A reply to a greeting is about no source.
      const needsNone = asksForNothing(asked);
      const remarks = this.cited
        .unbacked()
        .map(({ start, end, support }): AnswerRemark => ({ start, end, reason: support ?? "uncited" }))
        .filter(({ reason }) => reason !== "uncited" || !needsNone);
      this.#state.remarks = remarks;
      if (remarks.length > 0) {
        return [...found.map((message) => this.warn(message)), this.warn(remarksSentence(remarks, question), "claims")];
      }
    }
    return found.map((message) => this.warn(message));
  }

  /** Checks the citations of a structured answer, and warns about those that fail. */
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
      const { support, quote } = citation;
      if (support === "near" || support === "missing") yield this.warn(`${unsupported[support]}: ${quote}`);
    }
    if (this.#state.citable && !this.#state.citations.some(({ supported }) => supported)) {
      yield this.warn("The answer has no citation that holds");
    }
  }

  finish({ model, finishReason, lastReply, structured, waiting }: AnswerEnding): Answer {
    const retrieved = this.#retrieved;
    const { citations, exchanges, requests, usage, warnings } = this.#state;
    const isUncounted = requests.some(({ step }) => step === "answer");
    const answered = structured?.answered ?? (lastReply.trim() !== "" && !isAbstention(lastReply));
    const nearest = answered || waiting ? undefined : nearestPassages(retrieved, this.#sources.hits);
    const { text, plain } = structured ? { text: structured.text, plain: structured.text } : this.cited;
    return {
      question: retrieved.asked ?? retrieved.question,
      ...(retrieved.searchedFor !== undefined && { searchedFor: retrieved.searchedFor }),
      text,
      answered,
      ...(nearest && { nearest }),
      remarks: this.#state.remarks ?? [],
      ...(structured?.value !== undefined && { value: structured.value }),
      citations,
      hits: this.#sources.hits,
      trace: askableTrace(this.#trace()),
      usage: addUsage(retrieved.usage, usage) ?? (isUncounted ? undefined : noUsage),
      account: this.account(),
      model,
      finishReason,
      // Later turns get no markers: the next question comes with sources of other numbers.
      turn: { role: "assistant", text: plain.trim(), ...(exchanges.length > 0 && { tools: exchanges }) },
      warnings,
      ...(waiting && { waiting }),
    };
  }

  #trace(): readonly TraceStep[] {
    const { fold: note } = this.#state;
    const fold = note === undefined ? [] : [{ step: "fold", kept: this.#sources.chunkIds, dropped: [], note }];
    return [...this.#retrieved.trace, ...this.#sources.steps, ...fold];
  }

  /** The account so far, as one object that can be written as JSON. */
  account(): AnswerAccount {
    const { question, asked, filter, history = [], requests: earlier = [] } = this.#retrieved;
    const trace = this.#trace();
    const requests = [...earlier, ...this.#state.requests, ...(this.#unanswered ? [this.#unanswered()] : [])];
    const milliseconds: Record<string, number> = {};
    const add = (step: string, time: number) => (milliseconds[step] = (milliseconds[step] ?? 0) + time);
    for (const { step, milliseconds: time } of trace) if (time !== undefined) add(step, time);
    // A step without an entry in the trace took as long as its requests.
    const timed = new Set([...Object.keys(milliseconds), "answer"]);
    for (const { step, milliseconds: time } of requests) if (!timed.has(step)) add(step, time);
    add("answer", this.#milliseconds);
    const costs = requests.map(({ cost }) => cost);
    const uncounted = requests.filter(({ inputTokens }) => inputTokens === undefined).length;
    return {
      asked: {
        question: asked ?? question,
        ...(asked !== undefined && { standalone: question }),
        ...(filter && { filter }),
        historyTurns: history.length,
      },
      trace: [...trace],
      requests,
      paid: {
        ...requests.reduce<Usage>((sum, request) => addUsage(sum, request), noUsage),
        ...(uncounted > 0 && { uncounted }),
        ...(costs.every((cost) => cost !== undefined) && {
          cost: withoutNoise(costs.reduce((sum, cost) => sum + cost, 0)),
        }),
        failedAttempts: requests.reduce((sum, { failedAttempts = [] }) => sum + failedAttempts.length, 0),
      },
      milliseconds,
    };
  }
}
