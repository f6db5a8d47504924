import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { UploadButton } from "../documents/upload-button.js";

/** The view of a new conversation: what can be asked, with example questions about the collection's own documents. */
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
  const titles = documents.list.value
    .filter((document) => documents.chosen.value.size === 0 || documents.chosen.value.has(document.uri))
    .map(titleOf);
  // Titles such as 2021 suggest no question, so they come last.
  const telling = [...titles.filter(saysSomething), ...titles].slice(0, words.examples.length);
  const examples = [...new Set(telling)].map((example, index) => words.examples[index]!(example));
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

/** Whether a title has words, rather than a number or a name of a single part. */
function saysSomething(title: string): boolean {
  return /\p{L}{2}.*\s.*\p{L}{2}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{3}/u.test(title);
}
