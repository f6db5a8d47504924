import {
  type Calls,
  isCall,
  isCancelled,
  type SentAnswer,
  type SentCall,
  serialiseError,
  startedMessage,
} from "./calls.js";

/** Port where calls arrive: that of a thread, or its counterpart in a process. */
export interface CallPort {
  on(event: "message", listener: (message: unknown) => void): unknown;
  postMessage(message: unknown): void;
  /** Missing in threads of Deno. */
  readonly close?: () => void;
}

/** One handler for each call. Its signal is aborted when nobody waits for the result any more. */
export type Handlers<Known extends Calls> = {
  readonly [Name in keyof Known]: (
    argument: Known[Name]["argument"],
    signal: AbortSignal,
  ) => Known[Name]["result"] | Promise<Known[Name]["result"]>;
};

/**
 * Answers the calls that arrive on `port`. An error that a handler throws is thrown again at the caller. A thread that may
 * be torn down begins with this when it has read all its files.
 *
 * @param last the call that ends the thread, whether it succeeds or fails. Default: none, the thread is ended from outside.
 */
export function serveCalls<Known extends Calls>(
  port: CallPort,
  handlers: Handlers<Known>,
  last?: keyof Known & string,
): void {
  const pending = new Map<number, AbortController>();
  const answer = async ({ call, id, argument }: SentCall): Promise<SentAnswer> => {
    const cancelling = new AbortController();
    pending.set(id, cancelling);
    try {
      return { answered: id, result: await handlers[call]!(argument, cancelling.signal) };
    } catch (error) {
      return { answered: id, error: serialiseError(error) };
    } finally {
      pending.delete(id);
    }
  };
  const serve = async (message: SentCall) => {
    port.postMessage(await answer(message));
    if (message.call !== last) return;
    if (port.close) port.close();
    else process.exit();
  };
  port.on("message", (message: unknown) => {
    if (isCall(message)) void serve(message);
    else if (isCancelled(message)) pending.get(message.cancelled)?.abort();
  });
  port.postMessage(startedMessage);
}
