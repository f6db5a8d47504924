import { useLayoutEffect, useRef } from "preact/hooks";
import type { WireCitation } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { Icon } from "../icon.js";
import { DescribedPicture } from "../source/described-picture.js";

export interface ShownCard {
  /** The number in the answer that the card belongs to. */
  readonly mark: HTMLElement;
  readonly citation: WireCitation;
}

/** Longest quotation in a card, in characters: the whole of it opens with a click. */
const maxQuote = 320;
const gap = 6;

/** The quotation behind a number, its document and the result of its check, while the number has the pointer or the focus. */
export function CitationCard({ mark, citation }: ShownCard) {
  const words = usePage().preferences.words.value;
  const card = useRef<HTMLDivElement>(null);
  const { quote, supported, uri } = citation;
  useLayoutEffect(() => {
    const element = card.current!;
    const around = element.parentElement!.getBoundingClientRect();
    const at = mark.getBoundingClientRect();
    const isRoomBelow = at.bottom + element.offsetHeight + gap < window.innerHeight;
    const top = isRoomBelow ? at.bottom + gap : at.top - element.offsetHeight - gap;
    const left = Math.min(at.left, around.left + around.width - element.offsetWidth);
    // Set by script, since the policy forbids styles in markup.
    element.style.top = `${top - around.top}px`;
    element.style.left = `${Math.max(0, left - around.left)}px`;
    mark.setAttribute("aria-describedby", element.id);
    return () => mark.removeAttribute("aria-describedby");
  }, [mark, citation]);
  const place = supported ? words.place(citation) : "";
  return (
    <div ref={card} class="citation-card" role="tooltip" id="citation-card">
      <p class="cited-title">
        {titleOf({ title: citation.title, uri })}
        {place !== "" && <span class="place">{place}</span>}
      </p>
      {citation.picture && <DescribedPicture uri={uri} picture={citation.picture} />}
      <blockquote>{quote.length > maxQuote ? `${quote.slice(0, maxQuote).trimEnd()}…` : quote}</blockquote>
      <p class={supported ? "check" : "check doubtful"}>
        <Icon name={supported ? "check" : "warning"} />
        {words.supportNote(citation) || words.foundInDocument}
      </p>
    </div>
  );
}
