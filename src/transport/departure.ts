import { DecoratorHandler, type Dispatcher } from "undici";

/**
 * Sends as the dispatcher does, and says when a request goes onto a connection. Until then it waits for one to stand,
 * and nothing of it can have arrived.
 */
export function tellingDeparture(dispatcher: Dispatcher, departed: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const inner: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
    return dispatch(options, {
      onRequestStart: (controller, context) => {
        inner.onRequestStart?.(controller, context);
        // One that was given up meanwhile is not written.
        if (!controller.aborted) departed();
      },
      onResponseStart: (...reply) => inner.onResponseStart?.(...reply),
      onResponseData: (...piece) => inner.onResponseData?.(...piece),
      onResponseEnd: (...end) => inner.onResponseEnd?.(...end),
      onResponseError: (...failure) => inner.onResponseError?.(...failure),
    });
  });
}
