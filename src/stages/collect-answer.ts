import { TransportError } from "../errors.js";
import type { Source } from "../stream.js";
import type { Answer, AnswerEvent } from "../types.js";

/**
 * The whole answer of one question's events.
 *
 * @throws the error of an `error` event, as it is; TransportError (`truncated`) when the events end without a last one.
 */
export async function collectAnswer<Value>(events: Source<AnswerEvent<Value>>): Promise<Answer<Value>> {
  for await (const event of events) {
    if (event.type === "finish") return event.answer;
    if (event.type === "error") throw event.error;
  }
  throw new TransportError("truncated", "The answer's events ended before one that finishes it");
}
