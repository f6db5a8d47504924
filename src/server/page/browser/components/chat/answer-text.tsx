import { useMemo, useRef } from "preact/hooks";
import type { WireCitation } from "../../../../api/wire.js";
import { type Answer, isRunning } from "../../state/answer.js";
import { usePage } from "../../state/page.js";
import { useTellingWords } from "../use-telling-words.js";
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
    return render(text, marks, words.copy, before, answer.remarks);
  }, [text, marks, words, answer.remarks]);
  earlier.current = { words, rendered };
  const element = useTellingWords<HTMLDivElement>(question, isRunning(answer) ? undefined : rendered);
  if (text === "") return null;

  const onClick = ({ target }: Event) => {
    const button = (target as Element).closest("button");
    const citation = citations[Number(button?.dataset["citation"])];
    if (citation) act(source.openCitation(citation, citations));
    if (button?.className === "copy-code") act(copyText(button.nextElementSibling!.textContent));
  };
  return (
    <div ref={element} class={isRunning(answer) ? "answer markdown writing" : "answer markdown"} onClick={onClick}>
      {rendered.blocks.map(({ raw, html }, index) =>
        raw.trim() === "" ? null : <div key={index} class="block" dangerouslySetInnerHTML={{ __html: html }} />,
      )}
    </div>
  );
}

function markOf(citation: WireCitation, words: Words) {
  const { number, supported: isSupported } = citation;
  const details = [titleOf(citation), words.place(citation), words.supportNote(citation)];
  return { number, label: words.openSource(number, details.filter(Boolean).join(", ")), isSupported };
}
