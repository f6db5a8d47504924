import type { Searchable } from "../../core/ports.js";
import { given } from "../../core/given.js";
import { ownTurn } from "../../core/stream.js";
import type { AnswerEvent } from "../../core/types.js";
import { refusalOf } from "../guard/refusal.js";
import type { AnswerEnd, Metrics } from "../operations/metrics.js";
import { consideredIn } from "./considered-passages.js";
import { waitingCalls, wireCitation, wireEvent, wireFailure, wireNearest } from "./to-wire.js";
import type { WireEvent } from "./wire.js";

/** Abort reason of an answer that its reader has stopped, which is no failure. */
export class AnswerStopped extends Error {
  constructor() {
    super("The answer was stopped");
  }
}

interface AnswerContext {
  /** The documents that the reader may see. */
  readonly passages: Pick<Searchable, "hits">;
  readonly onError: ((error: unknown) => void) | undefined;
  /** Hears how many tokens it took. */
  readonly spent: (tokens: number) => void;
  /** Counts the answer; absent when nobody reads the figures. */
  readonly metrics: Metrics | undefined;
}

/** The events of an answer as readers get them; they end with exactly one `finish`, `stopped` or `error`. */
export function answerEvents(events: AsyncIterable<AnswerEvent>, context: AnswerContext): AsyncGenerator<WireEvent> {
  const sent = wireEvents(events, context);
  return context.metrics ? context.metrics.answer(sent, endOf) : sent;
}

function endOf(event: WireEvent): AnswerEnd | undefined {
  if (event.type === "error") return { outcome: "failed", code: event.error.code };
  if (event.type !== "finish") return undefined;
  const { answered, waiting, model, inputTokens, outputTokens } = event;
  const outcome = waiting.length > 0 ? "waiting" : answered ? "answered" : "declined";
  return { outcome, model, ...given({ inputTokens, outputTokens }) };
}

async function* wireEvents(
  events: AsyncIterable<AnswerEvent>,
  { passages, spent, metrics, onError }: AnswerContext,
): AsyncGenerator<WireEvent> {
  const failed = (thrown: unknown) => {
    if (refusalOf(thrown).status >= 500) onError?.(thrown);
    return wireFailure(thrown);
  };
  let text = "";
  // An answer that is left early is charged by what was read and written, at four characters for a token, so that leaving
  // saves nobody their limit.
  let uncharged = 0;
  try {
    for await (const event of events) {
      if (event.type === "text-delta") text += event.text;
      uncharged += charactersOf(event);
      if (event.type === "error") {
        yield event.error instanceof AnswerStopped ? { type: "stopped", text } : failed(event.error);
      } else if (event.type === "finish") {
        const { answer } = event;
        await ownTurn();
        spent((answer.usage?.inputTokens ?? 0) + (answer.usage?.outputTokens ?? 0));
        uncharged = 0;
        const { cost } = answer.account.paid;
        if (cost !== undefined) metrics?.paid(cost);
        yield {
          type: "finish",
          text: answer.text,
          answered: answer.answered,
          citations: answer.citations.map(wireCitation),
          considered: await consideredIn(answer.trace, passages),
          remarks: [...answer.remarks],
          ...(answer.nearest && { nearest: wireNearest(answer.nearest) }),
          waiting: waitingCalls(answer),
          model: answer.model,
          finishReason: answer.finishReason,
          ...given({
            inputTokens: answer.usage?.inputTokens,
            cachedTokens: answer.usage?.cachedTokens,
            reasoningTokens: answer.usage?.reasoningTokens,
            outputTokens: answer.usage?.outputTokens,
          }),
        };
      } else yield wireEvent(event);
    }
  } catch (thrown) {
    yield failed(thrown);
  } finally {
    if (uncharged > 0) spent(Math.ceil(uncharged / 4));
  }
}

function charactersOf(event: AnswerEvent): number {
  if (event.type === "retrieved") return event.hits.reduce((sum, { chunk }) => sum + chunk.text.length, 0);
  return event.type === "text-delta" || event.type === "reasoning-delta" ? event.text.length : 0;
}
