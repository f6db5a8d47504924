import { useSignal } from "@preact/signals";
import { isRunning } from "../../state/answer.js";
import type { Exchange } from "../../state/chat.js";
import { usePage } from "../../state/page.js";
import { AnswerActions } from "./answer-actions.js";
import { AnswerText } from "./answer-text.js";
import { Approvals } from "./approvals.js";
import { Considered } from "./considered.js";
import { Failure } from "./failure.js";
import { Question } from "./question.js";
import { SourceList } from "./source-list.js";
import { ToolSteps } from "./tool-steps.js";

export interface ExchangeViewProps {
  readonly exchange: Exchange;
  readonly isLast: boolean;
}

/** A question with its answer, and with all that came of it. */
export function ExchangeView({ exchange, isLast }: ExchangeViewProps) {
  const { chat, preferences } = usePage();
  const words = preferences.words.value;
  const answer = exchange.answer.value;
  const isEditing = useSignal(false);
  const { phase, failure } = answer;
  const isBusy = isRunning(answer);
  // All its calls were decided, and yet it did not go on.
  const isInterrupted = phase === "waiting" && answer.waiting.every(({ decision }) => decision);
  return (
    <article class="exchange" aria-busy={isBusy}>
      <Question
        exchange={exchange}
        isEditing={isEditing.value}
        mayEdit={!chat.running.value && chat.id.value !== undefined}
        onEditing={(to) => (isEditing.value = to)}
      />
      {answer.reasoning !== "" && (
        <details class="reasoning">
          <summary>{words.thinking}</summary>
          <p>{answer.reasoning}</p>
        </details>
      )}
      <ToolSteps steps={answer.steps.filter(({ id }) => !answer.waiting.some((call) => call.id === id))} />
      <AnswerText answer={answer} />
      {isBusy && answer.text === "" && (
        <p class="progress">{answer.passages > 0 ? words.reading(answer.passages) : words.searching}</p>
      )}
      {phase === "stopped" && <p class="remark">{answer.text === "" ? words.stoppedEmpty : words.stopped}</p>}
      {phase === "whole" && !answer.answered && <p class="remark">{words.unanswered}</p>}
      {answer.warnings.length > 0 && (
        <details class="remarks">
          <summary>{words.remarks(answer.warnings.length)}</summary>
          <ul>
            {answer.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </details>
      )}
      {phase === "waiting" && <Approvals calls={answer.waiting} />}
      {(failure || phase === "missing" || isInterrupted) && <Failure failure={failure} mayRetry={isLast} />}
      {!isBusy && <SourceList citations={answer.citations} />}
      {!isBusy && <AnswerActions answer={answer} isLast={isLast} />}
      <Considered exchange={exchange} />
    </article>
  );
}
