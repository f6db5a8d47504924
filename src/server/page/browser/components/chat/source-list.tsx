import { useMemo } from "preact/hooks";
import type { WireCitation } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { plainWords } from "../../text/plain-words.js";
import { countQuotations, groupSources } from "../../text/source-groups.js";
import { Icon } from "../icon.js";

/** Documents whose text is Markdown. In code its marks are code. */
const markdown = /\.(?:mdx?|markdown|html?|rst|adoc|org|tex|docx|odt|epub)(?:#|$)/i;

function asRead({ uri, quote }: WireCitation): string {
  return (markdown.test(uri) && plainWords(quote)) || quote;
}

/** The quotations of an answer by document, with the result of their check. */
export function SourceList({ citations }: { readonly citations: readonly WireCitation[] }) {
  const { act, preferences, source } = usePage();
  const words = preferences.words.value;
  const groups = useMemo(() => groupSources(citations), [citations]);
  if (groups.length === 0) return null;
  const counts = countQuotations(groups);
  return (
    <section class="sources" aria-label={words.sources}>
      <h3>{words.sources}</h3>
      <p class={counts.found + counts.described === counts.total ? "check" : "check doubtful"}>
        {words.quotationsFound(counts)}
      </p>
      {groups.map((group) => (
        <div key={group.uri} class="cited-document">
          <h4>{titleOf(group)}</h4>
          <ol>
            {group.citations.map((citation, index) => (
              <li key={index}>
                <button type="button" onClick={() => act(source.openCitation(citation, citations))}>
                  <span class={citation.supported ? "number" : "number unsupported"}>{citation.number}</span>
                  <q>{asRead(citation)}</q>
                  {citation.support !== "missing" && <span class="place">{words.place(citation)}</span>}
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
        </div>
      ))}
    </section>
  );
}
