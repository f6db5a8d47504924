import { usePage } from "../../state/page.js";
import { SendingRow, UploadRow } from "./upload-row.js";

/** The files that were added just now, above the question field. */
export function UploadTray() {
  const { preferences, uploads } = usePage();
  const sending = uploads.sending.value;
  const recent = uploads.recent.value;
  if (sending.length + recent.length === 0) return null;
  return (
    <ul class="tray" aria-label={preferences.words.value.uploads}>
      {sending.map((upload) => (
        <SendingRow key={upload.file} sending={upload} />
      ))}
      {recent.map((each) => (
        <UploadRow key={each.name} upload={each} onDismiss={() => uploads.dismiss(each.name)} />
      ))}
    </ul>
  );
}
