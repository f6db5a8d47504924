import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { usePage } from "../../state/page.js";

/** Takes files that are dropped anywhere on the page. */
export function DropZone() {
  const { act, preferences, status, uploads } = usePage();
  const isOver = useSignal(false);
  const limits = status.value?.uploads;
  useEffect(() => {
    if (!limits) return undefined;
    const listening = new AbortController();
    const { signal } = listening;
    const holdsFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false;
    window.addEventListener(
      "dragover",
      (event) => {
        if (!holdsFiles(event)) return;
        event.preventDefault();
        isOver.value = true;
      },
      { signal },
    );
    window.addEventListener(
      "dragleave",
      ({ relatedTarget }) => {
        if (relatedTarget === null) isOver.value = false;
      },
      { signal },
    );
    window.addEventListener(
      "drop",
      (event) => {
        isOver.value = false;
        if (!holdsFiles(event)) return;
        event.preventDefault();
        act(uploads.add([...event.dataTransfer!.files], limits));
      },
      { signal },
    );
    return () => listening.abort();
  }, [limits]);
  return isOver.value ? <div class="drop-zone">{preferences.words.value.dropHere}</div> : null;
}
