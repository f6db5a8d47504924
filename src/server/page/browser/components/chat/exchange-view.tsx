import { useSignal } from "@preact/signals";
import type { WireRemark } from "../../../../api/wire.js";
import { isRunning } from "../../state/answer.js";
import type { Exchange } from "../../state/chat.js";
import { usePage } from "../../state/page.js";
import { AnswerActions } from "./answer-actions.js";
import { AnswerText } from "./answer-text.js";
import { Approvals } from "./approvals.js";
import { Considered } from "./considered.js";
import { Nearest } from "./nearest.js";
import { Failure } from "./failure.js";
import { Question } from "./question.js";
import { SourceList } from "./source-list.js";
import { ToolSteps } from "./tool-steps.js";

export interface ExchangeViewProps {
  readonly exchange: Exchange;
  readonly isLast: boolean;
}

/** A question with its answer, tool calls and sources. */
export function ExchangeView({ exchange, isLast }: ExchangeViewProps) {
  const { act, chat, preferences } = usePage();
  const words = preferences.words.value;
  const answer = exchange.answer.value;
  const isEditing = useSignal(false);
  const { phase, failure } = answer;
  const isBusy = isRunning(answer);
  // All its calls were decided, but it did not continue.
  const isInterrupted = phase === "waiting" && answer.waiting.every(({ decision }) => decision);
  return (
    <article class="exchange" aria-busy={isBusy}>
      <Question
        exchange={exchange}
        isEditing={isEditing.value}
        mayEdit={!chat.running.value && chat.id.value !== undefined}
        onEditing={(to) => (isEditing.value = to)}
      />
      {answer.searchedFor !== undefined && <p class="remark">{words.searchedFor(answer.searchedFor)}</p>}
      {answer.reasoning !== "" && (
        <details class="reasoning">
          <summary>{words.thinking}</summary>
          <p>{answer.reasoning}</p>
        </details>
      )}
      <ToolSteps steps={answer.steps.filter(({ id }) => !answer.waiting.some((call) => call.id === id))} />
      <AnswerText answer={answer} question={exchange.question} />
      {isBusy && answer.text === "" && (
        <p class="progress">{answer.passages > 0 ? words.reading(answer.passages) : words.searching}</p>
      )}
      {phase === "stopped" && <p class="remark">{answer.text === "" ? words.stoppedEmpty : words.stopped}</p>}
      {phase === "whole" && !answer.answered && answer.text === "" && <p class="remark">{words.unanswered}</p>}
      {phase === "whole" && answer.nearest && <Nearest nearest={answer.nearest} question={exchange.question} />}
      {!isBusy && answer.remarks.length > 0 && <p class="remark">{words.claims(countRemarks(answer.remarks))}</p>}
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
      {(failure || isInterrupted) && <Failure failure={failure} mayRetry={isLast} />}
      {phase === "missing" && !failure && (
        <p class="remark">
          {words.noAnswer}{" "}
          {isLast && (
            <button type="button" class="plain" onClick={() => act(chat.retry())}>
              {words.tryAgain}
            </button>
          )}
        </p>
      )}
      {!isBusy && <SourceList citations={answer.citations} />}
      {!isBusy && <AnswerActions exchange={exchange} isLast={isLast} />}
      <Considered exchange={exchange} />
    </article>
  );
}

function countRemarks(remarks: readonly WireRemark[]) {
  const count = (wanted: WireRemark["reason"]) => remarks.filter(({ reason }) => reason === wanted).length;
  return { missing: count("missing"), near: count("near"), uncited: count("uncited") };
}
