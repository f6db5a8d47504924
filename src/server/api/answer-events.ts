import type { Searchable } from "../../core/ports.js";
import { given } from "../../core/given.js";
import type { AnswerEvent } from "../../core/types.js";
import { refusalOf } from "../guard/refusal.js";
import { consideredIn } from "./considered.js";
import { waitingCalls, wireCitation, wireEvent, wireFailure } from "./to-wire.js";
import type { WireEvent } from "./wire.js";

/** The reason of an answer that its reader has stopped, which is no failure. */
export class AnswerStopped extends Error {
  constructor() {
    super("The answer was stopped");
  }
}

interface AnswerContext {
  /** The documents that the reader may see. */
  readonly passages: Pick<Searchable, "hits">;
  readonly onError: ((error: unknown) => void) | undefined;
}

/** The events of an answer as readers get them; they end with exactly one `finish`, `stopped` or `error`. */
export async function* answerEvents(
  events: AsyncIterable<AnswerEvent>,
  { passages, onError }: AnswerContext,
): AsyncGenerator<WireEvent> {
  const failed = (thrown: unknown) => {
    if (refusalOf(thrown).status >= 500) onError?.(thrown);
    return wireFailure(thrown);
  };
  let text = "";
  try {
    for await (const event of events) {
      if (event.type === "text-delta") text += event.text;
      if (event.type === "error") {
        yield event.error instanceof AnswerStopped ? { type: "stopped", text } : failed(event.error);
      } else if (event.type === "finish") {
        const { answer } = event;
        yield {
          type: "finish",
          text: answer.text,
          answered: answer.answered,
          citations: answer.citations.map(wireCitation),
          considered: await consideredIn(answer.trace, passages),
          waiting: waitingCalls(answer),
          model: answer.model,
          ...given({ inputTokens: answer.usage?.inputTokens, outputTokens: answer.usage?.outputTokens }),
        };
      } else yield wireEvent(event);
    }
  } catch (thrown) {
    yield failed(thrown);
  }
}
