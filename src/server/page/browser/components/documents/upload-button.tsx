import { useRef } from "preact/hooks";
import { usePage } from "../../state/page.js";
import { IconButton } from "../icon-button.js";

/** Chooses files to add. Only shown when the server accepts uploads. */
export function UploadButton({ isLabelled = false }: { readonly isLabelled?: boolean }) {
  const { act, preferences, status, uploads } = usePage();
  const words = preferences.words.value;
  const field = useRef<HTMLInputElement>(null);
  const limits = status.value?.uploads;
  if (!limits) return null;
  return (
    <>
      <IconButton icon="clip" label={words.addFiles} isLabelled={isLabelled} onClick={() => field.current?.click()} />
      <input
        ref={field}
        type="file"
        multiple
        hidden
        accept={limits.endings.join(",")}
        aria-label={words.addFiles}
        onChange={({ currentTarget }) => {
          act(uploads.add([...(currentTarget.files ?? [])], limits));
          // The same file can be chosen again after it was removed.
          currentTarget.value = "";
        }}
      />
    </>
  );
}
