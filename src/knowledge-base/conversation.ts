import { asError, OptionsError } from "../core/errors.js";
import type { Conversations, StoredExchange } from "../store/conversations.js";
import type { AnswerEvent, Question, Turn } from "../core/types.js";

/** Answers a question with its history. */
export type AskInTurn<Options> = (question: Question, options?: Options) => AsyncIterable<AnswerEvent>;

/**
 * A conversation that is kept in the store. A question is kept before it is answered, and its answer when it is whole:
 * whatever happens in between leaves a question without an answer, which the model is not told of later.
 */
export interface Conversation<Options> {
  readonly id: string;
  /** Asks with all earlier turns as history; ends with exactly one `finish` or `error`. */
  readonly ask: (question: string, options?: Options) => AsyncIterable<AnswerEvent>;
  /**
   * Answers the last question anew. The old answer stays until the new one is whole, so that a stop or a failure in
   * between loses nothing.
   *
   * @throws OptionsError when nothing was asked yet.
   */
  readonly regenerate: (options?: Options) => AsyncIterable<AnswerEvent>;
  /** Questions in order, each with its answer if it has one. */
  readonly exchanges: () => readonly StoredExchange[];
  /** The answered questions with their answers, oldest first, as a model is shown them. */
  readonly turns: () => readonly Turn[];
  /**
   * A new conversation that begins with the first `exchanges` of this one; default: all.
   *
   * @throws OptionsError when there is one of that id.
   */
  readonly branch: (id: string, exchanges?: number) => Conversation<Options>;
  /** Deletes the conversation. */
  readonly delete: () => void;
}

/** @throws OptionsError when the id is blank. */
export function conversation<Options>(id: string, kept: Conversations, ask: AskInTurn<Options>): Conversation<Options> {
  if (id.trim() === "") throw new OptionsError("options", "conversation: id is blank");

  async function* answered(
    { question, position = kept.ask(id, question) }: { readonly question: string; readonly position?: number },
    history: readonly Turn[],
    options?: Options,
  ): AsyncGenerator<AnswerEvent> {
    for await (const event of ask({ question, history }, options)) {
      // The answer is stored before its end is reported, so that whoever has seen the end finds it again.
      if (event.type === "finish" && event.answer.turn.role === "assistant") {
        try {
          kept.answer(id, position, event.answer.turn);
        } catch (thrown) {
          // An answer that cannot be kept, as when the knowledge base was closed meanwhile, ends the events like any failure.
          yield { type: "error", error: asError(thrown), account: event.answer.account };
          return;
        }
      }
      yield event;
    }
  }

  return {
    id,
    ask: (question, options) => answered({ question }, turnsOf(kept.exchanges(id)), options),
    regenerate: (options) => {
      const exchanges = kept.exchanges(id);
      const last = exchanges.at(-1);
      if (!last) throw new OptionsError("options", `conversation ${id}: nothing was asked yet`);
      return answered(last, turnsOf(exchanges.slice(0, -1)), options);
    },
    exchanges: () => kept.exchanges(id),
    turns: () => turnsOf(kept.exchanges(id)),
    branch: (newId, count = Infinity) => {
      const positions = kept.exchanges(id).slice(0, count);
      const branched = conversation(newId, kept, ask);
      kept.branch(id, newId, positions.at(-1)?.position ?? 0);
      return branched;
    },
    delete: () => {
      kept.delete(id);
    },
  };
}

function turnsOf(exchanges: readonly StoredExchange[]): readonly Turn[] {
  return exchanges.flatMap(({ question, answer }): Turn[] =>
    answer === undefined ? [] : [{ role: "user", text: question }, answer],
  );
}
