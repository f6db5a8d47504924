import type { z } from "zod";
import { OptionsError, asError } from "../errors.js";
import { resolve } from "../options.js";
import { stage, type RunContext, type Stage } from "../pipeline.js";
import type { ChatModel } from "../ports.js";
import type { AnswerEvent, Retrieved } from "../types.js";
import type { AnswerDraft } from "./answer-draft.js";
import { AnswerOptions } from "./answer-options.js";
import { composeAnswer } from "./compose-answer.js";
import { answerStructure, repairMessageCount } from "./structured-answer.js";
import { toolbox } from "./toolbox.js";
import { untilAborted } from "../stream.js";

/** Most sources a citation's number can name. */
const mostHits = 999;

/**
 * Answers each question from its hits, told as it is made: `retrieved`, then text, citations as they are checked, calls
 * of tools, warnings, and exactly one `finish` or `error`. Nothing is thrown while a question is being answered:
 *
 * - a failing model or a failing search before it is an `error` event with that very error;
 * - an abort is an `error` event with the caller's own reason, as it is when it is an `Error`;
 * - a question that does not fit is an `error` event with an `AnswerError`, before anything is sent.
 *
 * With a `schema` the answer is its `value`: text and citations are told when the whole reply was read and fits. A reply
 * that does not, also when it was shown to the model with what is wrong, is an `error` event with an `AnswerError`
 * (`schema`).
 *
 * Without hits and without tools no model is asked: the answer then is the abstention in the question's language.
 *
 * @throws OptionsError when an option is out of range, two tools share a name, the schema has no JSON Schema, or the model
 * takes fewer than 2 messages, 4 with a schema.
 */
export function answer<Schema extends z.ZodType>(
  model: ChatModel,
  options: AnswerOptions & { readonly schema: Schema },
): Stage<Retrieved, AnswerEvent<z.output<Schema>>>;
export function answer(model: ChatModel, options?: AnswerOptions): Stage<Retrieved, AnswerEvent>;
export function answer(model: ChatModel, options: AnswerOptions = {}): Stage<Retrieved, AnswerEvent> {
  const settings = resolve("answer", AnswerOptions, options);
  const structure = settings.schema && answerStructure(settings.schema);
  const fewestMessages = structure ? 2 + repairMessageCount : 2;
  if (model.maxMessages < fewestMessages) {
    throw new OptionsError(
      "options",
      `answer: ${model.model} takes ${model.maxMessages} messages, at least ${fewestMessages} are needed`,
    );
  }
  const tools = toolbox(settings.tools, settings.approve);

  async function* answerOne(retrieved: Retrieved, context: RunContext): AsyncGenerator<AnswerEvent> {
    let last: AnswerEvent;
    let draft: AnswerDraft | undefined;
    const onDraft = (made: AnswerDraft) => void (draft = made);
    const events = composeAnswer(retrieved, { model, settings, structure, tools, context, onDraft });
    try {
      for (;;) {
        context.signal.throwIfAborted();
        const next = await events.next();
        if (next.done) {
          last = { type: "finish", answer: next.value };
          break;
        }
        yield next.value;
      }
    } catch (thrown) {
      last = { type: "error", error: asError(thrown), ...(draft && { account: draft.account() }) };
    } finally {
      // Also when the reader left in the middle: lets go of the model's stream and of tools still running.
      await events.return(undefined as never);
    }
    yield last;
  }

  return stage(
    "answer",
    async function* (source, context) {
      let answered = false;
      try {
        for await (const retrieved of untilAborted(source, context.signal)) {
          yield* answerOne(retrieved, context);
          answered = true;
          if (context.signal.aborted) return;
        }
      } catch (thrown) {
        if (!answered) yield { type: "error", error: asError(thrown) };
        else if (!context.signal.aborted) throw thrown;
      }
    },
    { takes: { hits: mostHits } },
  );
}
