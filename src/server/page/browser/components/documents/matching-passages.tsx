import { useSignal, useSignalEffect } from "@preact/signals";
import type { WireConsidered } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { plainWords } from "../../text/plain-words.js";

const maxPassages = 8;
const searchDelayMs = 300;

/** Passages of the documents that match what is searched for, below the documents whose titles do. */
export function MatchingPassages() {
  const { act, client, documents, preferences, source } = usePage();
  const words = preferences.words.value;
  const passages = useSignal<readonly WireConsidered[]>([]);
  useSignalEffect(() => {
    const wanted = documents.search.value.trim();
    if (wanted === "") {
      passages.value = [];
      return undefined;
    }
    let isOvertaken = false;
    const timer = setTimeout(() => {
      act(
        client.search(wanted).then(({ considered }) => {
          if (!isOvertaken) passages.value = considered.slice(0, maxPassages);
          return undefined;
        }),
      );
    }, searchDelayMs);
    return () => {
      isOvertaken = true;
      clearTimeout(timer);
    };
  });
  if (passages.value.length === 0) return null;
  return (
    <section class="matching" aria-label={words.inTheText}>
      <h2>{words.inTheText}</h2>
      <ul>
        {passages.value.map((passage) => {
          const { chunkId, end, start, text, title, uri } = passage;
          return (
            <li key={chunkId}>
              <button type="button" onClick={() => act(source.open({ uri, title, start, end }))}>
                <span class="title">{titleOf(passage)}</span> <span class="place">{words.place(passage)}</span>
                <span class="extract">{plainWords(text) || text}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
