import { useSignal } from "@preact/signals";
import type { WireConsidered } from "../../../../api/wire.js";
import type { Exchange } from "../../state/chat.js";
import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { Icon } from "../icon.js";

/** The passages that were looked at, with their ranks and the reason why each was kept or dropped. */
export function Considered({ exchange }: { readonly exchange: Exchange }) {
  const { act, chat, preferences } = usePage();
  const words = preferences.words.value;
  const isOpen = useSignal(false);
  const answer = exchange.answer.value;
  const { considered, isLookedAgain } = answer;
  const isOld = considered.length === 0 && (answer.phase === "whole" || answer.phase === "stopped");
  if (considered.length === 0 && !isOld) return null;
  const toggle = (isNowOpen: boolean) => {
    isOpen.value = isNowOpen;
    if (isNowOpen && isOld) act(chat.lookAgain(exchange));
  };
  return (
    <details class="considered" onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
      <summary>{considered.length === 0 ? words.lookAgain : words.considered(considered.length)}</summary>
      {isOpen.value && isLookedAgain && <p class="remark">{words.lookedAgain}</p>}
      {isOpen.value && (
        <ul>
          {considered.map((candidate) => (
            <ConsideredPassage key={candidate.chunkId} passage={candidate} />
          ))}
        </ul>
      )}
    </details>
  );
}

function ConsideredPassage({ passage }: { readonly passage: WireConsidered }) {
  const { act, preferences, source } = usePage();
  const words = preferences.words.value;
  const { kept, ranks, start, end, text, title, uri, verdict } = passage;
  return (
    <li class={kept ? "kept" : "dropped"}>
      <p class="head">
        <button type="button" class="title" onClick={() => act(source.open({ uri, title, start, end }))}>
          {titleOf(passage)}
        </button>
        <span class="place">{words.place(passage)}</span>
        <span class="ranks">{ranks.map(words.rankBy).join(", ")}</span>
      </p>
      <p class="verdict">
        <Icon name={kept ? "check" : "close"} />
        <span>
          <strong>{kept ? words.kept : words.dropped}</strong> {words.verdicts[verdict]}
        </span>
      </p>
      <p class="extract">{text}</p>
    </li>
  );
}
