import { checkPort, shown } from "../../core/check-port.js";
import type { z } from "zod";
import type { ApprovalBook, Approvals, WaitingAnswer } from "../../core/approval.js";
import { asError, OptionsError, TransportError, withErrorInJson } from "../../core/errors.js";
import { isRecord } from "../../core/json.js";
import { resolve } from "../../core/options.js";
import { stage, type Stage } from "../../core/pipeline.js";
import type { ChatModel } from "../../core/ports.js";
import { type Source, untilAborted } from "../../core/stream.js";
import type { Answer, AnswerEvent, Retrieved } from "../../core/types.js";
import type { AnswerDraft } from "./answer-draft.js";
import { answerOptions, type AnswerOptions, maxSources, type StructuredAnswerOptions } from "./answer-options.js";
import type { composeAnswer as Compose, ResumedAnswer } from "./compose-answer.js";
import { readPaused, waitingIds } from "./paused-answer.js";
import { answerStructure, repairMessageCount } from "./structured-answer.js";
import { toolbox } from "./tools/toolbox.js";

/**
 * Answers each question from its hits and streams the answer as it is made: `retrieved`, then text, citations once they
 * are checked, tool calls, warnings, and exactly one `finish` or `error`. Nothing is thrown while a question is being
 * answered:
 *
 * - when the model or a stage before it fails, the `error` event carries that very error;
 * - on an abort, it carries the caller's own reason, unchanged if that is an `Error`;
 * - for a question that does not fit, it carries an `AnswerError`, before anything is sent.
 *
 * With a `schema` the answer is its `value`: text and citations come once the whole reply was read and fits. A reply
 * that does not fit is sent back to the model once with its mistakes; if the next one does not fit either, the `error`
 * event carries an `AnswerError` (`schema`).
 *
 * A call that `approve` leaves for later ends the answer as waiting: `resumeAnswer` goes on with `Answer.waiting`.
 *
 * Without hits and without tools to offer no model is asked: the answer is then the abstention in the question's language.
 *
 * @throws OptionsError when an option is out of range, two tools share a name, the schema has no JSON Schema, or the model
 * takes fewer than 2 messages, or 4 with a schema.
 * @example
 * ```ts
 * import { answer, Pipeline, rerank, search, type ChatModel, type Question, type Reranker, type Store } from "citewell";
 * export const asking = (store: Store, reranker: Reranker, chat: ChatModel) =>
 *   Pipeline.from<Question>()
 *     .pipe(search(store, { mode: "lexical", count: 40 }))
 *     .pipe(rerank(reranker, { topN: 6 }))
 *     .pipe(answer(chat, { temperature: 0 }));
 * ```
 */
export function answer<Schema extends z.core.$ZodType>(
  model: ChatModel,
  options: StructuredAnswerOptions<Schema>,
): Stage<Retrieved, AnswerEvent<z.output<Schema>>>;
export function answer(model: ChatModel, options?: AnswerOptions): Stage<Retrieved, AnswerEvent>;
export function answer(model: ChatModel, options: AnswerOptions = {}): Stage<Retrieved, AnswerEvent> {
  return stage(
    "answer",
    answerEach(model, options, (retrieved: Retrieved) => retrieved),
    { takes: { hits: maxSources } },
  );
}

/** An answer that waits, with decisions on its calls. Without any it continues with the recorded ones. */
export interface Resumption {
  /** The answer's `waiting`, as it came. */
  readonly waiting: WaitingAnswer;
  /** For each call that is undecided, true or false. */
  readonly approvals: Approvals;
}

/**
 * Continues answers that wait for approval, in any process: the decisions are recorded in the book before any call
 * runs, and neither the model nor a tool is asked again for known results. Only new events are streamed, and end with
 * exactly one `finish`, of the whole answer, or `error`. Pass the options of `answer` as they were.
 *
 * An `OptionsError` says that a decision is unknown or missing, or a call cannot be run; nothing was decided then. An
 * `AnswerError` (`decided`) says that a call was decided before; nothing ran again. When an answer fails after its decisions
 * were recorded, resume it without any.
 *
 * @throws OptionsError as `answer` does.
 * @example
 * ```ts
 * import { collectAnswer, Pipeline, resumeAnswer } from "citewell";
 * import type { ApprovalBook, ChatModel, Resumption, Tool, WaitingAnswer } from "citewell";
 * export function approveAll(chat: ChatModel, book: ApprovalBook, tools: readonly Tool[], waiting: WaitingAnswer) {
 *   const approvals = Object.fromEntries(waiting.calls.map(({ approvalId }) => [approvalId, true]));
 *   const resuming = Pipeline.from<Resumption>().pipe(resumeAnswer(chat, book, { tools, approve: "later" }));
 *   return collectAnswer(resuming.stream([{ waiting, approvals }]));
 * }
 * ```
 */
export function resumeAnswer(
  model: ChatModel,
  book: ApprovalBook,
  options: AnswerOptions = {},
): Stage<Resumption, AnswerEvent> {
  const resumed = ({ waiting, approvals }: Resumption) => ({ paused: readPaused(waiting), approvals, book });
  return stage("answer", answerEach(model, options, resumed));
}

function answerEach<In>(
  model: ChatModel,
  options: AnswerOptions,
  begin: (item: In) => Retrieved | ResumedAnswer,
): Stage<In, AnswerEvent>["run"] {
  const settings = resolve("answer", answerOptions, options);
  checkPort("answer", "chatModel", model);
  const structure = settings.schema && answerStructure(settings.schema);
  const minMessages = structure ? 2 + repairMessageCount : 2;
  if (model.maxMessages < minMessages) {
    throw new OptionsError(
      "options",
      `answer: ${model.model} takes ${model.maxMessages} messages, at least ${minMessages} are needed`,
    );
  }
  const tools = toolbox(settings.tools, settings.approve);

  return async function* (source, context) {
    let hasAnswered = false;
    try {
      for await (const item of untilAborted(source, context.signal)) {
        let last: AnswerEvent;
        let draft: AnswerDraft | undefined;
        let events: ReturnType<typeof Compose> | undefined;
        const onDraft = (made: AnswerDraft) => void (draft = made);
        try {
          const from = begin(item);
          const { composeAnswer } = await import("./compose-answer.js");
          events = composeAnswer(from, { model, settings, structure, tools, context, onDraft });
          for (;;) {
            context.signal.throwIfAborted();
            const next = await events.next();
            if (next.done) {
              if ("paused" in from) await from.book.end?.(waitingIds(from.paused));
              last = { type: "finish", answer: next.value };
              break;
            }
            yield next.value;
          }
        } catch (thrown) {
          const error = asError(thrown);
          last = withErrorInJson({ type: "error", error, ...(draft && { account: draft.account() }) });
        } finally {
          // Closes the model's stream and the tools still running, also when the reader leaves early.
          await events?.return(undefined as never);
        }
        yield last;
        hasAnswered = true;
        if (context.signal.aborted) return;
      }
    } catch (thrown) {
      if (!hasAnswered) yield withErrorInJson({ type: "error", error: asError(thrown) });
      else if (!context.signal.aborted) throw thrown;
    }
  };
}

/**
 * Reads one question's events to the end and returns the whole answer.
 *
 * @throws the error of an `error` event, unchanged; OptionsError for a value that is not a stream of events, or a
 *   stream that was read before; TransportError (`truncated`) when the events end without a last one.
 * @example
 * ```ts
 * import { collectAnswer, openKnowledgeBase } from "citewell";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const { text, citations } = await collectAnswer(kb.ask("When do keys expire?"));
 * ```
 */
export async function collectAnswer<Value>(events: Source<AnswerEvent<Value>>): Promise<Answer<Value>> {
  const refuse = (problem: string) =>
    new OptionsError("options", `events ${problem}`, { call: "collectAnswer", option: "events" });
  if (typeof events !== "object" || events === null || !(Symbol.asyncIterator in events || Symbol.iterator in events)) {
    throw refuse(`must be the stream that ask() returns (got ${shown(events)})`);
  }
  let isFirst = true;
  for await (const event of events) {
    if (!isRecord(event) || typeof event["type"] !== "string") {
      throw refuse(`must be those of an answer, as ask() returns them (got ${shown(event)} among them)`);
    }
    isFirst = false;
    if (event.type === "finish") return event.answer;
    if (event.type === "error") throw event.error;
  }
  if (isFirst) throw refuse("had none left: a stream is read once. Ask again, or read it in one place");
  throw new TransportError("truncated", "The answer's events ended without a finish or error event");
}
