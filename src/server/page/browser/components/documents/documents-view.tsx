import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../../state/page.js";
import { knownEndings } from "../../text/file-kinds.js";
import { fileSize } from "../../text/file-size.js";
import { DeleteChosen } from "./delete-chosen.js";
import { DocumentChoice } from "./document-choice.js";
import { MatchingPassages } from "./matching-passages.js";
import { DocumentRow } from "./document-row.js";
import { UploadButton } from "./upload-button.js";
import { SendingRow, UploadRow } from "./upload-row.js";

const searchDelayMs = 200;

/** The collection: its documents, a search over them, and the files that were added by hand. */
export function DocumentsView() {
  const { act, documents, preferences, router, status, uploads } = usePage();
  const words = preferences.words.value;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    act(documents.showFacets());
  }, []);
  const { list, search, total } = documents;
  useDelayed(() => act(documents.refresh()), searchDelayMs, search.value);
  const limits = status.value?.uploads;
  const isSearching = search.value.trim() !== "";
  const files = uploads.sending.value.length + uploads.list.value.length;
  return (
    <div class="scroller">
      <div class="column documents">
        <header>
          <h1 ref={heading} tabindex={-1}>
            {words.documents}
          </h1>
          <p class="quiet" role="status">
            {isSearching ? words.documentsFound(total.value) : words.documentsCount(total.value)}
          </p>
          <UploadButton isLabelled />
        </header>
        {limits && <p class="quiet">{words.uploadLimits(knownEndings(limits.endings), fileSize(limits.maxBytes))}</p>}
        {files > 0 && (
          <details class="uploads" open>
            <summary>{words.uploads}</summary>
            <ul>
              {uploads.sending.value.map((upload) => (
                <SendingRow key={upload.file} sending={upload} />
              ))}
              {uploads.list.value.map((each) => (
                <UploadRow key={each.name} upload={each} />
              ))}
            </ul>
          </details>
        )}
        <input
          type="search"
          aria-label={words.searchDocuments}
          placeholder={words.searchDocuments}
          value={search}
          onInput={({ currentTarget }) => (search.value = currentTarget.value)}
        />
        <DocumentChoice />
        <p class="chosen">
          {documents.chosen.value.size === 0 ? (
            <>
              <span class="quiet">{words.chooseExplained}</span>
              {list.value.length > 1 && (
                <button type="button" class="plain" onClick={documents.chooseListed}>
                  {words.chooseListed(list.value.length)}
                </button>
              )}
            </>
          ) : (
            <>
              <span>{words.askingWithin(documents.chosen.value.size)}</span>
              <button type="button" class="primary small" onClick={() => router.go({ view: "chat" })}>
                {words.askNow}
              </button>
              <button type="button" class="plain" onClick={documents.chooseAll}>
                {words.askEverything}
              </button>
              <DeleteChosen />
            </>
          )}
        </p>
        {list.value.length === 0 && (
          <p class="quiet centred">{isSearching ? words.noDocumentsFound : words.emptyTitle}</p>
        )}
        <ul class="document-list">
          {list.value.map((document) => (
            <DocumentRow key={document.uri} entry={document} />
          ))}
        </ul>
        {list.value.length < total.value && (
          <button type="button" class="plain wide" onClick={() => act(documents.more())}>
            {words.more}
          </button>
        )}
        <MatchingPassages />
      </div>
    </div>
  );
}

/** Calls back when a value has not changed for a while; not for the initial value. */
function useDelayed(work: () => void, delayMs: number, value: string): void {
  const before = useRef(value);
  useEffect(() => {
    if (before.current === value) return undefined;
    before.current = value;
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  }, [value]);
}
