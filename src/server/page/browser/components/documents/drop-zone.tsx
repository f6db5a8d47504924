import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { usePage } from "../../state/page.js";

/** Takes files that are dropped anywhere on the page: pictures over the question's field go with the question. */
export function DropZone() {
  const { act, addPictures, preferences, status, uploads } = usePage();
  const isOver = useSignal(false);
  const limits = status.value?.uploads;
  const seesPictures = status.value?.images ?? false;
  useEffect(() => {
    if (!limits && !seesPictures) return undefined;
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
        const files = [...event.dataTransfer!.files];
        // The field lies under what is shown while dragging.
        const under = document.elementsFromPoint(event.clientX, event.clientY);
        const isQuestion = !limits || under.some((element) => element.closest(".composer") !== null);
        const isPicture = ({ type }: File) => seesPictures && isQuestion && type.startsWith("image/");
        const pictures = files.filter(isPicture);
        if (pictures.length > 0) addPictures(pictures);
        const others = files.filter((file) => !isPicture(file));
        if (limits && others.length > 0) act(uploads.add(others, limits));
      },
      { signal },
    );
    return () => listening.abort();
  }, [limits, seesPictures]);
  return isOver.value ? <div class="drop-zone">{preferences.words.value.dropHere}</div> : null;
}
