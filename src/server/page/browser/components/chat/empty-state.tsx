import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { UploadButton } from "../documents/upload-button.js";

const maxExamples = 3;

/** The view of a new conversation: what can be asked, with example questions that the collection's own documents answer. */
export function EmptyState() {
  const { act, chat, client, documents, preferences, status } = usePage();
  const words = preferences.words.value;
  const suggested = useSignal<readonly string[] | undefined>(undefined);
  const language = preferences.language.value;
  const chosen = [...documents.chosen.value];
  const count = status.value?.documents ?? 0;
  useEffect(() => {
    if (count === 0) return undefined;
    let isLeft = false;
    const show = (questions: readonly string[]) => {
      if (!isLeft) suggested.value = questions;
    };
    // Without suggestions, the titles are asked about.
    client.suggestions(chosen, language).then(
      (found) => show(found.map(({ question }) => question)),
      () => show([]),
    );
    return () => {
      isLeft = true;
    };
  }, [language, count, chosen.join("\n")]);
  if (!status.value) return null;
  const { title, uploads } = status.value;
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
  const telling = [...new Set([...titles.filter(saysSomething), ...titles])];
  const aboutTitles = telling.slice(0, maxExamples).map((example) => words.aboutTitle(example));
  const examples =
    suggested.value === undefined ? [] : [...new Set([...suggested.value, ...aboutTitles])].slice(0, maxExamples);
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
