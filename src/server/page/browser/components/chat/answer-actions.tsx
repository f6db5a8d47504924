import { useSignal } from "@preact/signals";
import type { Exchange } from "../../state/chat.js";
import { usePage } from "../../state/page.js";
import { answerAsText } from "../../text/answer-as-text.js";
import { copyText } from "../../text/copy-text.js";
import { IconButton } from "../icon-button.js";
import { RateAnswer } from "./rate-answer.js";

const confirmedMs = 2000;

/** Buttons below an answer. */
export function AnswerActions({ exchange, isLast }: { readonly exchange: Exchange; readonly isLast: boolean }) {
  const { act, chat, preferences } = usePage();
  const answer = exchange.answer.value;
  const words = preferences.words.value;
  const isCopied = useSignal(false);
  const copy = async () => {
    await copyText(answerAsText(answer.text, answer.citations, words));
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), confirmedMs);
  };
  const mayRegenerate = isLast && (answer.phase === "whole" || answer.phase === "stopped") && !answer.failure;
  return (
    <div class="actions">
      {answer.text !== "" && (
        <IconButton
          icon={isCopied.value ? "check" : "copy"}
          label={isCopied.value ? words.copied : words.copy}
          isLabelled
          onClick={() => act(copy())}
        />
      )}
      {mayRegenerate && (
        <IconButton icon="again" label={words.regenerate} isLabelled onClick={() => act(chat.regenerate())} />
      )}
      {(answer.phase === "whole" || answer.phase === "stopped") && <RateAnswer exchange={exchange} />}
    </div>
  );
}
