import type { MessagePort } from "node:worker_threads";
import { type Calls, isCall, type SentAnswer, type SentCall } from "./calls.js";
import { sent } from "./sent-error.js";

/** Carries out one call each. */
export type Handlers<Known extends Calls> = {
  readonly [Name in keyof Known]: (
    argument: Known[Name]["takes"],
  ) => Known[Name]["gives"] | Promise<Known[Name]["gives"]>;
};

/**
 * Answers the calls that come in through `port`; what they throw is thrown where they were made.
 *
 * @param last the call after which the thread has nothing more to do and ends, whatever came of it. Default: none, it is ended
 *   from outside.
 */
export function serveCalls<Known extends Calls>(
  port: MessagePort,
  handlers: Handlers<Known>,
  last?: keyof Known & string,
): void {
  const outcome = async ({ call, id, argument }: SentCall): Promise<SentAnswer> => {
    try {
      return { answered: id, result: await handlers[call]!(argument) };
    } catch (error) {
      return { answered: id, error: sent(error) };
    }
  };
  const serve = async (message: SentCall) => {
    port.postMessage(await outcome(message));
    if (message.call === last) port.close();
  };
  port.on("message", (message: unknown) => {
    if (isCall(message)) void serve(message);
  });
}
