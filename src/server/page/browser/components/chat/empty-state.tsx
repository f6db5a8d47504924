import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { UploadButton } from "../documents/upload-button.js";

/** What a new conversation shows: what can be asked, with questions about the collection's own documents. */
export function EmptyState() {
  const { act, chat, documents, preferences, status } = usePage();
  const words = preferences.words.value;
  if (!status.value) return null;
  const { documents: count, title, uploads } = status.value;
  if (count === 0) {
    return (
      <section class="empty">
        <h1>{words.emptyTitle}</h1>
        <p>{uploads ? words.emptyMayUpload : words.emptyMayNotUpload}</p>
        {uploads && <UploadButton isLabelled />}
      </section>
    );
  }
  const examples = documents.list.value
    .filter((each) => documents.chosen.value.size === 0 || documents.chosen.value.has(each.uri))
    .slice(0, words.examples.length)
    .map((each, index) => words.examples[index]!(titleOf(each)));
  return (
    <section class="empty">
      <h1>{words.askTitle(title)}</h1>
      <p>{words.askExplained(count)}</p>
      <ul class="examples" aria-label={words.examplesLabel}>
        {examples.map((question) => (
          <li key={question}>
            <button type="button" onClick={() => act(chat.ask(question))}>
              {question}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
