import { useSignalEffect } from "@preact/signals";
import { usePage } from "../../state/page.js";
import { IconButton } from "../icon-button.js";

const shownMs = 8000;

/** A line about something that went wrong beside the answers. */
export function Notice() {
  const { notice, preferences } = usePage();
  useSignalEffect(() => {
    if (notice.value === undefined) return undefined;
    const timer = setTimeout(() => (notice.value = undefined), shownMs);
    return () => clearTimeout(timer);
  });
  return (
    <div class="notice-place" role="alert">
      {notice.value !== undefined && (
        <div class="notice">
          <span>{notice}</span>
          <IconButton icon="close" label={preferences.words.value.dismiss} onClick={() => (notice.value = undefined)} />
        </div>
      )}
    </div>
  );
}
