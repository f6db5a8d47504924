import { useComputed } from "@preact/signals";
import { isRunning } from "../../state/answer.js";
import { usePage } from "../../state/page.js";

/**
 * Tells screen readers the progress of an answer: that it is searched for, that it is being written, and then all of it at
 * once. The words that arrive one by one are not read out.
 */
export function LiveRegion() {
  const { chat, preferences } = usePage();
  const announced = useComputed(() => {
    const words = preferences.words.value;
    const answer = chat.live.value?.answer.value;
    if (!answer) return "";
    if (isRunning(answer)) return answer.phase === "searching" ? words.searching : words.writing;
    if (answer.failure) return words.failures[answer.failure.code] ?? words.failed;
    if (answer.phase === "waiting") return words.approvalTitle;
    return `${answer.phase === "stopped" ? words.stopped : words.answerDone} ${answer.text}`;
  });
  return (
    <div class="for-screen-readers" role="status">
      {announced}
    </div>
  );
}
