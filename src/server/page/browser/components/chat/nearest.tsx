import type { WireNearest } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { plainWords } from "../../text/plain-words.js";
import { useTellingWords } from "../use-telling-words.js";

/** Characters of a passage that are shown, enough to see what it is about. */
const maxShown = 180;

/** The nearest matches of a question that was not answered: passages to open, and headings to ask about. */
export function Nearest({ nearest, question }: { readonly nearest: WireNearest; readonly question: string }) {
  const { act, chat, preferences, source } = usePage();
  const words = preferences.words.value;
  const { passages, headings } = nearest;
  const element = useTellingWords<HTMLElement>(question, nearest);
  return (
    <section ref={element} class="nearest" aria-label={words.nearest}>
      <h3>{words.nearest}</h3>
      <ul>
        {passages.map((passage) => (
          <li key={passage.chunkId}>
            <button type="button" class="plain" onClick={() => act(source.open(passage))}>
              {titleOf(passage)} <span class="place">{words.place(passage)}</span>
            </button>
            <p>{shortened(plainWords(passage.text))}</p>
          </li>
        ))}
      </ul>
      {headings.length > 0 && (
        <p class="ask-about">
          {words.askAbout}{" "}
          {headings.map((heading) => (
            <button key={heading} type="button" class="plain" onClick={() => act(chat.ask(heading))}>
              {heading}
            </button>
          ))}
        </p>
      )}
    </section>
  );
}

function shortened(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown).trimEnd()}…` : text;
}
