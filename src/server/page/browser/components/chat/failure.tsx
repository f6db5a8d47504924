import type { WireFailure } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { Icon } from "../icon.js";

export interface FailureProps {
  /** Absent when a question has no answer and the reason is no longer known. */
  readonly failure: WireFailure | undefined;
  readonly mayRetry: boolean;
}

/** The reason for a missing answer, in plain words, with the server's own message below. */
export function Failure({ failure, mayRetry }: FailureProps) {
  const { act, chat, preferences } = usePage();
  const words = preferences.words.value;
  // A refusal that the page has no words for is the server's: its message has names of fields, and stands below.
  const explanation = failure && (words.failures[failure.code] ?? words.failureOfOtherKind);
  return (
    <section class="failure">
      <Icon name="warning" />
      <div>
        <p>
          <strong>{failure ? words.failed : words.noAnswer}</strong>
        </p>
        {explanation && <p>{explanation}</p>}
        {failure && failure.message !== "" && (
          <details>
            <summary>{words.failureDetails}</summary>
            <p class="details">{failure.message}</p>
          </details>
        )}
        {mayRetry && (
          <button type="button" class="plain" onClick={() => act(chat.retry())}>
            {words.tryAgain}
          </button>
        )}
      </div>
    </section>
  );
}
