import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../../state/page.js";
import { UploadButton } from "../documents/upload-button.js";
import { UploadTray } from "../documents/upload-tray.js";
import { Icon } from "../icon.js";
import { IconButton } from "../icon-button.js";
import { PictureButton, QuestionPictures } from "./question-pictures.js";
import { isSendKey } from "./send-key.js";

export interface ComposerProps {
  readonly onAsk: () => void;
}

/** The field for a question, with the documents it is limited to and the files that are being added. */
export function Composer({ onAsk }: ComposerProps) {
  const { act, addPictures, chat, documents, pictures, preferences, status } = usePage();
  const words = preferences.words.value;
  const { draft } = chat;
  const field = useRef<HTMLTextAreaElement>(null);
  const isRunning = chat.running.value;
  const chosen = documents.chosen.value.size;
  useEffect(() => {
    // On a touch screen the focus would cover half of the page with a keyboard.
    if (!matchMedia("(pointer: coarse)").matches) field.current?.focus();
  }, [chat.id.value]);

  const ask = () => {
    const question = draft.value.trim();
    if (question === "" || isRunning) return;
    draft.value = "";
    act(chat.ask(question, pictures.take()));
    onAsk();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isRunning) return;
        event.preventDefault();
        act(chat.stop());
      }}
    >
      <UploadTray />
      <QuestionPictures />
      {chosen > 0 && (
        <p class="within">
          {words.askingWithin(chosen)}
          <IconButton icon="close" label={words.askEverything} onClick={documents.chooseAll} />
        </p>
      )}
      <div class="composer-box">
        {status.value?.uploads && <UploadButton />}
        <PictureButton />
        <textarea
          id="question"
          ref={field}
          rows={1}
          aria-label={words.question}
          aria-describedby="question-keys"
          placeholder={words.questionPlaceholder}
          value={draft}
          onInput={({ currentTarget }) => (draft.value = currentTarget.value)}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
            if (files.length === 0 || !status.value?.images) return;
            event.preventDefault();
            addPictures(files);
          }}
          onKeyDown={(event) => {
            if (!isSendKey(event)) return;
            event.preventDefault();
            ask();
          }}
        />
        {isRunning ? (
          <button
            type="button"
            class="round"
            aria-label={words.stop}
            title={words.stop}
            onClick={() => act(chat.stop())}
          >
            <Icon name="stop" />
          </button>
        ) : (
          <button class="round primary" aria-label={words.send} title={words.send} disabled={draft.value.trim() === ""}>
            <Icon name="send" />
          </button>
        )}
      </div>
      <p id="question-keys" class="keys">
        {words.keysExplained}
      </p>
    </form>
  );
}
