import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { WireCitation } from "../../../../api/wire.js";
import { type Answer, isRunning } from "../../state/answer.js";
import { usePage } from "../../state/page.js";
import { useCodeColours } from "../use-code-colours.js";
import { useFormulas } from "../use-formulas.js";
import { useTellingWords } from "../use-telling-words.js";
import { CitationCard, type ShownCard } from "./citation-card.js";
import { titleOf } from "../../text/answer-as-text.js";
import { copyText } from "../../text/copy-text.js";
import { nothingRendered, render } from "../../text/markdown.js";
import type { Words } from "../../words/words.js";

/** The words of an answer. While they arrive, only the last block is read and drawn anew. */
export function AnswerText({ answer, question }: { readonly answer: Answer; readonly question: string }) {
  const { act, preferences, source } = usePage();
  const words = preferences.words.value;
  const { citations, text } = answer;
  const marks = useMemo(() => citations.map((citation) => markOf(citation, words)), [citations, words]);
  const earlier = useRef({ words, rendered: nothingRendered });
  const rendered = useMemo(() => {
    const before = earlier.current.words === words ? earlier.current.rendered : nothingRendered;
    return render(text, marks, words.copyCode, before, answer.remarks);
  }, [text, marks, words, answer.remarks]);
  earlier.current = { words, rendered };
  const element = useTellingWords<HTMLDivElement>(question, isRunning(answer) ? undefined : rendered);
  useFormulas(element, rendered);
  useCodeColours(element, undefined, rendered);
  const card = useSignal<ShownCard | undefined>(undefined);
  if (text === "") return null;

  const onClick = ({ target }: Event) => {
    const button = (target as Element).closest("button");
    const citation = citations[Number(button?.dataset["citation"])];
    if (citation) act(source.openCitation(citation, citations));
    if (button?.className === "copy-code") act(copyCode(button, words));
  };
  const showCard = ({ target }: Event) => {
    const mark = (target as Element).closest<HTMLElement>("button.mark");
    const citation = citations[Number(mark?.dataset["citation"])];
    if (mark && citation) card.value = { mark, citation };
  };
  const hideCard = () => {
    card.value = undefined;
  };
  return (
    <div class="answer-with-card" onPointerLeave={hideCard}>
      <div
        ref={element}
        class={isRunning(answer) ? "answer markdown writing" : "answer markdown"}
        onClick={onClick}
        onPointerOver={({ target, ...event }: PointerEvent) => {
          // A finger opens the document at once.
          if (event.pointerType === "touch") return;
          if ((target as Element).closest("button.mark")) showCard({ target } as Event);
          else hideCard();
        }}
        onFocusIn={showCard}
        onFocusOut={hideCard}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || card.value === undefined) return;
          event.stopPropagation();
          hideCard();
        }}
      >
        {rendered.blocks.map(({ raw, html }, index) =>
          raw.trim() === "" ? null : <div key={index} class="block" dangerouslySetInnerHTML={{ __html: html }} />,
        )}
      </div>
      {card.value && <CitationCard {...card.value} />}
    </div>
  );
}

const confirmedMs = 2000;

/** Copies a block of code, and says on the button that it was copied. */
async function copyCode(button: HTMLButtonElement, words: Words): Promise<void> {
  await copyText(button.closest(".code")!.querySelector("pre")!.textContent);
  button.textContent = words.copied;
  setTimeout(() => (button.textContent = words.copyCode), confirmedMs);
}

function markOf(citation: WireCitation, words: Words) {
  const { number, supported: isSupported, support } = citation;
  const place = support === "missing" ? "" : words.place(citation);
  const details = [titleOf(citation), place, words.supportNote(citation)];
  return { number, label: words.openSource(number, details.filter(Boolean).join(", ")), isSupported };
}
