import { useSignal } from "@preact/signals";
import type { WireDocument } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { shownAddress } from "../../text/addresses.js";
import { titleOf } from "../../text/answer-as-text.js";
import { Confirm } from "../confirm.js";
import { IconButton } from "../icon-button.js";
import { FirstPage } from "./first-page.js";

/** The button that was pressed is gone with its row. */
function focusHeading(): void {
  document.querySelector<HTMLElement>("main h1")?.focus();
}

/** A document of the collection, which can be opened, searched alone, and deleted when allowed. */
export function DocumentRow({ entry }: { readonly entry: WireDocument }) {
  const { act, deleteDocument, documents, preferences, source, status } = usePage();
  const words = preferences.words.value;
  const isDeleting = useSignal(false);
  const { chunks, uri } = entry;
  const title = titleOf(entry);
  return (
    <li class="document">
      <input
        type="checkbox"
        aria-label={words.chooseDocument(title)}
        checked={documents.chosen.value.has(uri)}
        onChange={({ currentTarget }) => documents.choose(uri, currentTarget.checked)}
      />
      <FirstPage uri={uri} />
      <button
        type="button"
        class="document-open"
        onClick={() => act(source.open({ uri, title: entry.title, start: 0, end: 0 }))}
      >
        <span class="title">{title}</span>
        <span class="place">{shownAddress(uri)}</span>
      </button>
      <span class="count">{words.passages(chunks)}</span>
      {status.value?.mayWrite && (
        <IconButton icon="bin" label={words.deleteDocument(title)} onClick={() => (isDeleting.value = true)} />
      )}
      {isDeleting.value && (
        <Confirm
          title={words.deleteDocumentQuestion}
          explanation={words.deleteDocumentExplained(title)}
          onConfirm={() => act(deleteDocument(uri).then(focusHeading))}
          onClose={() => (isDeleting.value = false)}
        />
      )}
    </li>
  );
}
