import { usePage } from "../../state/page.js";
import { IconButton } from "../icon-button.js";

/** Folders to go into, and the kind and order of the documents that are listed. */
export function DocumentChoice() {
  const { act, documents, preferences } = usePage();
  const words = preferences.words.value;
  const { folder, folders, kind, kinds, sort } = documents;
  const choose = (change: () => void) => {
    change();
    act(documents.refresh());
  };
  return (
    <>
      <div class="document-choice">
        {kinds.value.length > 1 && (
          <select
            aria-label={words.kind}
            value={kind.value ?? ""}
            onChange={({ currentTarget }) => choose(() => (kind.value = currentTarget.value || undefined))}
          >
            <option value="">{words.allKinds}</option>
            {kinds.value
              .filter((each) => each.kind !== "")
              .map((each) => (
                <option key={each.kind} value={each.kind}>
                  {words.kindCount(each.kind, each.documents)}
                </option>
              ))}
          </select>
        )}
        <select
          aria-label={words.sort}
          value={sort.value}
          onChange={({ currentTarget }) => choose(() => (sort.value = currentTarget.value as typeof sort.value))}
        >
          {Object.entries(words.sorts).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {folder.value !== undefined && (
        <p class="open-folder">
          <IconButton icon="up" label={words.folderUp} onClick={() => choose(documents.leaveFolder)} />
          <span>{documents.folderNames.value.join(" / ")}</span>
        </p>
      )}
      {folders.value.length > 0 && (
        <ul class="folders" aria-label={words.folders}>
          {folders.value.map((each) => (
            <li key={each.address}>
              <button type="button" onClick={() => choose(() => documents.enterFolder(each))}>
                <span>{each.name}</span>
                <span class="count">{each.documents}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
