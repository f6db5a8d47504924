import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { WireEvent } from "../../../api/wire.js";
import { ApiError } from "./http.js";

/** One event of an answer, with its number in the answer's stream. */
export interface NumberedEvent {
  readonly number: number | undefined;
  readonly event: WireEvent;
}

/** The events of a response, as they arrive. Throws an `ApiError` of code `offline` when the connection breaks. */
export async function* eventsOf(response: Response, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
  const arrived: NumberedEvent[] = [];
  const parser = createParser({ onEvent: (message) => arrived.push(numbered(message)) });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: Error) => {
        if (signal.aborted) throw error;
        throw new ApiError(0, { code: "offline", message: error.message });
      });
      if (done) return;
      parser.feed(value);
      yield* arrived.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function numbered({ id, data }: EventSourceMessage): NumberedEvent {
  return { number: id === undefined ? undefined : Number(id), event: JSON.parse(data) as WireEvent };
}
