import { useSignal } from "@preact/signals";
import { usePage } from "../../state/page.js";
import { Confirm } from "../confirm.js";

/** Deletes all chosen documents, once that was confirmed. */
export function DeleteChosen() {
  const { act, deleteDocument, documents, preferences, status } = usePage();
  const words = preferences.words.value;
  const isDeleting = useSignal(false);
  const chosen = documents.chosen.value;
  if (!status.value?.mayWrite) return null;
  const remove = async () => {
    // One after the other: a failure then leaves those behind it, which are still chosen.
    for (const uri of chosen) await deleteDocument(uri);
    document.querySelector<HTMLElement>("main h1")?.focus();
  };
  return (
    <>
      <button type="button" class="plain" onClick={() => (isDeleting.value = true)}>
        {words.deleteChosen(chosen.size)}
      </button>
      {isDeleting.value && (
        <Confirm
          title={words.deleteChosenQuestion(chosen.size)}
          explanation={words.deleteChosenExplained}
          onConfirm={() => act(remove())}
          onClose={() => (isDeleting.value = false)}
        />
      )}
    </>
  );
}
