import type { Exchange } from "../../state/chat.js";
import { usePage } from "../../state/page.js";
import { IconButton } from "../icon-button.js";
import { useFocus } from "../use-focus.js";
import { isSendKey } from "./send-key.js";

export interface QuestionProps {
  readonly exchange: Exchange;
  readonly mayEdit: boolean;
  readonly isEditing: boolean;
  readonly onEditing: (isEditing: boolean) => void;
}

/** The question as it was asked, which can be asked differently in a new conversation. */
export function Question({ exchange, mayEdit, isEditing, onEditing }: QuestionProps) {
  const words = usePage().preferences.words.value;
  if (isEditing) return <EditForm exchange={exchange} onClose={() => onEditing(false)} />;
  const { images = [] } = exchange;
  return (
    <div class="question">
      {images.length > 0 && (
        <ul class="question-pictures">
          {images.map((address, index) => (
            <li key={address}>
              <img src={address} alt={words.pictureOfQuestion(index + 1)} />
            </li>
          ))}
        </ul>
      )}
      <h2>
        <span class="for-screen-readers">{words.you} </span>
        {exchange.question}
      </h2>
      {mayEdit && <IconButton icon="pencil" label={words.editQuestion} onClick={() => onEditing(true)} />}
    </div>
  );
}

function EditForm({ exchange, onClose }: { readonly exchange: Exchange; readonly onClose: () => void }) {
  const { act, chat, preferences } = usePage();
  const words = preferences.words.value;
  const field = useFocus<HTMLTextAreaElement>();
  const submit = () => {
    const question = field.current!.value.trim();
    if (question === "") return;
    onClose();
    act(chat.edit(exchange, question));
  };
  return (
    <form
      class="editing"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
        if (!isSendKey(event) || event.target !== field.current) return;
        event.preventDefault();
        submit();
      }}
    >
      <textarea ref={field} rows={2} aria-label={words.editQuestion} defaultValue={exchange.question} />
      <p class="quiet">{words.editExplained}</p>
      <div class="buttons">
        <button type="button" class="plain" onClick={onClose}>
          {words.cancel}
        </button>
        <button class="primary small">{words.send}</button>
      </div>
    </form>
  );
}
