import { given } from "../../core/given.js";
import type { Searchable } from "../../core/ports.js";
import type { AnswerEvent } from "../../core/types.js";
import { consideredIn } from "./considered.js";
import { waitingCalls, wireCitation, wireEvent, wireFailure } from "./to-wire.js";
import type { WireEvent } from "./wire.js";

/** The reason of an answer that its reader has stopped, which is no failure. */
export class AnswerStopped extends Error {
  constructor() {
    super("The answer was stopped");
  }
}

/** The events of an answer as readers get them; they end with exactly one `finish`, `stopped` or `error`. */
export async function* answerEvents(
  events: AsyncIterable<AnswerEvent>,
  passages: Pick<Searchable, "hits">,
): AsyncGenerator<WireEvent> {
  let text = "";
  try {
    for await (const event of events) {
      if (event.type === "text-delta") text += event.text;
      if (event.type === "error") {
        yield event.error instanceof AnswerStopped ? { type: "stopped", text } : wireFailure(event.error);
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
    yield wireFailure(thrown);
  }
}
