import { z } from "zod";
import type { ApprovalBook, Approvals, WaitingAnswer } from "../core/approval.js";
import { AnswerError, asError, OptionsError, StoreError } from "../core/errors.js";
import { optionsOf, resolve } from "../core/options.js";
import type { AnswerEvent, Citation, Metadata, Question, Turn } from "../core/types.js";
import type { ConversationInfo } from "../store/conversations/conversation-list.js";
import type { ScopedConversations } from "../store/conversations/conversations.js";
import type {
  AnswerFeedback,
  AnswerToResume,
  StoredAnswer,
  StoredExchange,
} from "../store/conversations/stored-exchange.js";
import { checkImages } from "./question-images.js";
import { askOptions, type AskOptions, type ResumeOptions, resumeOptions } from "./question-options.js";

/** Answers the questions of a conversation. */
export interface Answering {
  readonly ask: (question: Question, options?: AskOptions) => AsyncIterable<AnswerEvent>;
  readonly resume: (
    waiting: WaitingAnswer,
    approvals: Approvals,
    options: ResumeOptions | undefined,
    book: ApprovalBook,
  ) => AsyncIterable<AnswerEvent>;
}

/** Identity of a conversation. */
export interface ConversationOptions {
  /** Any text that is not blank. Another scope may have a conversation of the same id, which is another one. */
  readonly id: string;
  /**
   * Owner, by whom conversations are listed. A conversation of another owner is refused when it is first used, by an
   * `OptionsError`. Default: the stored owner is kept.
   */
  readonly owner?: string;
}

/**
 * A conversation that is kept in the store. A question is stored before it is answered; its answer is stored when
 * complete, or, if stopped, with the text so far. A failure or the end of the process leaves a question without an
 * answer, which is left out of later prompts.
 */
export interface Conversation<Fields extends object = Metadata> {
  /** The id that it was opened by. */
  readonly id: string;
  /** Title, owner, times and number of questions; `undefined` until something is asked. */
  readonly info: () => Promise<ConversationInfo | undefined>;
  /**
   * Asks with all earlier turns as history, once the events are read; they end with exactly one `finish` or `error`. Leaving
   * the loop or aborting the signal keeps the text so far, marked as stopped.
   */
  readonly ask: (question: string, options?: AskOptions<Fields>) => AsyncIterable<AnswerEvent>;
  /**
   * Answers the last question again. The old answer stays until the new one is complete, so that a stop or a failure in
   * between loses nothing.
   *
   * @throws OptionsError, to the reader of the events, when nothing was asked yet.
   */
  readonly regenerate: (options?: AskOptions<Fields>) => AsyncIterable<AnswerEvent>;
  /**
   * Continues an answer that waits for approval, as `KnowledgeBase.resume` does: with decisions on its calls, or, given
   * `{}`, the last waiting answer with the decisions made before. If stopped or failed, it still waits for
   * `resume({})`.
   *
   * @throws OptionsError, to the reader of the events, when nothing waits, or no call has these ids.
   */
  readonly resume: (approvals: Approvals, options?: ResumeOptions) => AsyncIterable<AnswerEvent>;
  /** Questions in order, each with its answer if it has one: text and citations as they were shown. */
  readonly exchanges: () => Promise<readonly StoredExchange[]>;
  /**
   * Rates the answer to the question at `position`, in place of an earlier rating; without a rating, takes that back. It is kept
   * with the answer, and `KnowledgeBase.feedback` lists it. An answer that is made anew has none.
   *
   * @example
   * await conversation.rate(1, { rating: "down", note: "The port is out of date" });
   * @throws OptionsError when there is no answer at that position.
   */
  readonly rate: (position: number, feedback?: AnswerFeedback) => Promise<void>;
  /** The answered questions with their answers, oldest first, as a model is shown them. */
  readonly turns: () => Promise<readonly Turn[]>;
  /**
   * Gives it a name in place of its first question.
   *
   * @throws OptionsError when the name is blank or nothing was asked yet.
   */
  readonly rename: (title: string) => Promise<void>;
  /**
   * A new conversation that begins with the first `exchanges` of this one; default: all. An answer that waits stays behind.
   *
   * @throws OptionsError when there is one of that id.
   */
  readonly branch: (id: string, exchanges?: number) => Promise<Conversation<Fields>>;
  /** Deletes all but the first `exchanges`, so that an earlier question can be asked in other words. Nothing is left of them. */
  readonly truncate: (exchanges: number) => Promise<void>;
  /** Deletes the conversation. */
  readonly delete: () => Promise<void>;
}

const answerFeedback = optionsOf<AnswerFeedback>()({
  rating: z.enum(["up", "down"]),
  note: z.string().max(4000).exactOptional(),
});

const conversationOptions = optionsOf<ConversationOptions>()({
  id: z.string().regex(/\S/, "must not be blank"),
  owner: z.string().regex(/\S/, "must not be blank").optional(),
});

/** @throws OptionsError when the id is blank. */
export function conversation(
  given: ConversationOptions,
  kept: ScopedConversations,
  answering: Answering,
): Conversation {
  const which = resolve("conversation", conversationOptions, given);
  const { id, owner } = which;

  /** @param from the answer that these events continue. */
  async function* keeping(
    events: AsyncIterable<AnswerEvent>,
    position: number,
    signal: AbortSignal | undefined,
    from?: AnswerToResume,
  ): AsyncGenerator<AnswerEvent> {
    const shown = new ShownAnswer(from);
    const keep = (answer: StoredAnswer | AnswerToResume) =>
      kept.answer(which, position, answer, from?.waiting.calls[0]?.approvalId);
    let last: "finish" | "error" | undefined;
    try {
      for await (const event of events) {
        shown.take(event);
        if (event.type === "finish" || event.type === "error") last = event.type;
        // The answer is stored before its end is reported, so that a caller who has seen the end finds it stored.
        if (event.type === "finish" && event.answer.turn.role === "assistant") {
          const { text, citations, turn, waiting, remarks, nearest } = event.answer;
          const shownToo = { ...(remarks.length > 0 && { remarks }), ...(nearest && { nearest }) };
          try {
            const isKept = await keep({
              text,
              citations,
              turn,
              ...shownToo,
              ...(waiting ? { waiting } : { stopped: false }),
            });
            if (!isKept && from) throw answeredMeanwhile(id);
          } catch (thrown) {
            // An answer that cannot be stored, for example because the knowledge base was closed, ends the events like
            // any failure.
            yield { type: "error", error: asError(thrown), account: event.answer.account };
            return;
          }
        }
        if (event.type === "error" && signal?.aborted) await keepStopped();
        yield event;
      }
    } finally {
      if (last === undefined) await keepStopped();
    }

    async function keepStopped(): Promise<void> {
      const stopped = shown.stopped();
      try {
        if (stopped) await keep(stopped);
      } catch {
        // Closing the knowledge base stops the answer too, and leaves no store to keep it in.
      }
    }
  }

  return {
    id,
    info: () => kept.info(which),
    ask: (question, options = {}) => {
      checkImages("ask", resolve("ask", askOptions, options).images);
      return onceFound(async () => {
        const events = answering.ask({ question, history: turnsOf(await kept.exchanges(which)) }, options);
        return keeping(events, await kept.ask(which, question), options.signal);
      });
    },
    regenerate: (options = {}) => {
      checkImages("regenerate", resolve("ask", askOptions, options).images);
      return onceFound(async () => {
        const exchanges = await kept.exchanges(which);
        const last = exchanges.at(-1);
        if (!last) throw nothingAsked(id);
        const { question, position } = last;
        const events = answering.ask({ question, history: turnsOf(exchanges.slice(0, -1)) }, options);
        return keeping(events, position, options.signal);
      });
    },
    resume: (approvals, options = {}) => {
      resolve("resume", resumeOptions, options);
      return onceFound(async () => {
        const ids = Object.keys(approvals);
        const book = kept.approvals(which);
        const waiting = [...(await kept.waiting(which))];
        const asked = ({ calls }: WaitingAnswer) =>
          ids.length === 0 || calls.some(({ approvalId }) => ids.includes(approvalId));
        const [position, from] = waiting.findLast(([, exchange]) => asked(exchange.waiting)) ?? [];
        if (position !== undefined && from) {
          return keeping(answering.resume(from.waiting, approvals, options, book), position, options.signal, from);
        }
        if ((await book.decisions(ids)).size > 0) return failing(answeredMeanwhile(id));
        throw nothingWaits(
          id,
          ids,
          waiting.map(([, exchange]) => exchange.waiting),
        );
      });
    },
    exchanges: () => kept.exchanges(which),
    rate: async (position, feedback) => {
      const rating = feedback && resolve("rate", answerFeedback, feedback);
      if (await kept.rate(which, position, rating)) return;
      const message = `conversation ${id} has no answer to a question ${position}: see exchanges()`;
      throw new OptionsError("options", message, { call: "rate", option: "position" });
    },
    turns: async () => turnsOf(await kept.exchanges(which)),
    rename: async (title) => {
      if (title.trim() === "") throw new OptionsError("options", "title is blank", { call: "rename", option: "title" });
      if (!(await kept.rename(which, title))) throw nothingAsked(id);
    },
    branch: async (newId, count = Infinity) => {
      const branched = conversation({ id: newId, ...(owner !== undefined && { owner }) }, kept, answering);
      await kept.branch(which, newId, count);
      return branched;
    },
    truncate: (count) => kept.truncate(which, count),
    delete: () => kept.delete(which),
  };
}

/** The events of an answer that something has to be read for first. A store that fails ends them like any failure. */
async function* onceFound(find: () => Promise<AsyncIterable<AnswerEvent>>): AsyncGenerator<AnswerEvent> {
  let events: AsyncIterable<AnswerEvent>;
  try {
    events = await find();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    yield { type: "error", error };
    return;
  }
  yield* events;
}

/** The answer as the reader has seen it so far. */
class ShownAnswer {
  #text: string;
  #plain: string;
  readonly #citations: Citation[];
  readonly #turn: StoredAnswer["turn"];

  /** @param from the answer up to now. */
  constructor({ text, citations, turn }: Omit<StoredAnswer, "stopped"> = nothingShown) {
    this.#text = text;
    this.#plain = turn.text;
    this.#citations = [...citations];
    this.#turn = turn;
  }

  take(event: AnswerEvent): void {
    if (event.type === "citation") this.#citations.push(event.citation);
    if (event.type !== "text-delta") return;
    this.#text += event.text;
    // A number comes as a part of its own, right before its citation.
    if (!/^\[\d+\]$/.test(event.text)) this.#plain += event.text;
  }

  /** The answer so far, marked as stopped; `undefined` when nothing was shown. */
  stopped(): StoredAnswer | undefined {
    if (this.#plain.trim() === "") return undefined;
    const turn = { ...this.#turn, text: this.#plain.trim() };
    return { text: this.#text, citations: this.#citations, turn, stopped: true };
  }
}

const nothingShown = { text: "", citations: [], turn: { role: "assistant", text: "" } } as const;

async function* failing(error: Error): AsyncGenerator<AnswerEvent> {
  yield { type: "error", error };
}

function answeredMeanwhile(id: string): AnswerError {
  const message = `conversation ${id}: the calls were decided before, and their question has been answered: see exchanges()`;
  return new AnswerError("decided", message);
}

function nothingWaits(id: string, ids: readonly string[], waiting: readonly WaitingAnswer[]): OptionsError {
  const calls = waiting.flatMap((wait) => wait.calls.map(({ approvalId, name }) => `${approvalId} (${name})`));
  const known = calls.length > 0 ? `These calls wait: ${calls.join(", ")}` : "Nothing waits for approval";
  const unknown = ids.length > 0 ? `No call waits under ${ids.join(", ")}. ` : "";
  const message = `conversation ${id}: ${unknown}${known}`;
  return new OptionsError("options", message, { call: "resume", option: "approvals" });
}

function nothingAsked(id: string): OptionsError {
  return new OptionsError("options", `conversation ${id}: nothing was asked yet`);
}

function turnsOf(exchanges: readonly StoredExchange[]): readonly Turn[] {
  return exchanges.flatMap(({ question, answer }): Turn[] =>
    answer === undefined ? [] : [{ role: "user", text: question }, answer.turn],
  );
}
