import type { WireCitation } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { Icon } from "../icon.js";

/** The places that an answer refers to, each once, in the order in which it names them. */
export function SourceList({ citations }: { readonly citations: readonly WireCitation[] }) {
  const { act, preferences, source } = usePage();
  const words = preferences.words.value;
  if (citations.length === 0) return null;
  const places = new Map(
    citations.map((currentCitation) => [
      `${currentCitation.number} ${currentCitation.start} ${currentCitation.end} ${currentCitation.supported}`,
      currentCitation,
    ]),
  );
  return (
    <section class="sources" aria-label={words.sources}>
      <h3>{words.sources}</h3>
      <ol>
        {[...places].map(([key, citation]) => (
          <li key={key}>
            <button type="button" onClick={() => act(source.openCitation(citation, citations))}>
              <span class={citation.supported ? "number" : "number unsupported"}>{citation.number}</span>
              <span class="title">{titleOf(citation)}</span>
              <span class="place">{words.place(citation)}</span>
              {!citation.supported && (
                <span class="unsupported-note">
                  <Icon name="warning" />
                  {words.supportNote(citation)}
                </span>
              )}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
