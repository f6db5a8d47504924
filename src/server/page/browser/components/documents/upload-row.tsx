import type { WireUpload } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import type { Refusal, Sending } from "../../state/uploads.js";
import { knownEndings } from "../../text/file-kinds.js";
import { fileSize } from "../../text/file-size.js";
import type { Words } from "../../words/words.js";
import { IconButton } from "../icon-button.js";

/** A file that the server has: how far it has been read, and what was wrong with it. */
export function UploadRow({ upload, onDismiss }: { readonly upload: WireUpload; readonly onDismiss?: () => void }) {
  const { act, preferences, uploads } = usePage();
  const words = preferences.words.value;
  const { bytes, chunks, error, name, state, warnings } = upload;
  return (
    <li class={`upload ${state}`}>
      <p class="head">
        <span class="title">{name}</span>
        <span class="place">{fileSize(bytes)}</span>
        <span class="state">
          {words.uploadStates[state]}
          {state === "done" && chunks !== undefined && ` · ${words.passages(chunks)}`}
        </span>
        {state === "failed" && (
          <IconButton icon="again" label={words.retryFile(name)} onClick={() => act(uploads.retry(name))} />
        )}
        <IconButton icon="bin" label={words.removeFile(name)} onClick={() => act(uploads.remove(name))} />
        {onDismiss && state === "done" && <IconButton icon="close" label={words.dismiss} onClick={onDismiss} />}
      </p>
      {(state === "waiting" || state === "reading") && (
        <progress aria-label={`${name}: ${words.uploadStates[state]}`} />
      )}
      {error !== undefined && <p class="problem">{error}</p>}
      {warnings.map((warning) => (
        <p key={warning} class="quiet">
          {warning}
        </p>
      ))}
    </li>
  );
}

/** A file that is being sent, or that was refused. */
export function SendingRow({ sending }: { readonly sending: Sending }) {
  const { act, preferences, status, uploads } = usePage();
  const words = preferences.words.value;
  const { file, refusal, share } = sending;
  const limits = status.value?.uploads;
  return (
    <li class={refusal ? "upload failed" : "upload"}>
      <p class="head">
        <span class="title">{file.name}</span>
        <span class="place">{fileSize(file.size)}</span>
        <span class="state">{refusal ? words.uploadStates.failed : words.uploading(Math.round(share * 100))}</span>
        {refusal === "broken" && (
          <IconButton icon="again" label={words.retryFile(file.name)} onClick={() => act(uploads.retrySending(file))} />
        )}
        <IconButton icon="close" label={words.removeFile(file.name)} onClick={() => uploads.cancelSending(file)} />
      </p>
      {!refusal && <progress value={share} aria-label={words.uploading(Math.round(share * 100))} />}
      {refusal && limits && <p class="problem">{reasonOf(refusal, limits, words)}</p>}
    </li>
  );
}

interface Limits {
  readonly maxBytes: number;
  readonly endings: readonly string[];
}

function reasonOf(refusal: Refusal, { maxBytes, endings }: Limits, words: Words): string {
  if (refusal === "too-large") return words.uploadTooLarge(fileSize(maxBytes));
  if (refusal === "other-kind") return words.uploadOfOtherKind(knownEndings(endings));
  return refusal === "broken" ? words.uploadBroken : refusal.message;
}
