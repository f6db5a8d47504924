import { useSignal } from "@preact/signals";
import type { Exchange } from "../../state/chat.js";
import { usePage } from "../../state/page.js";
import { IconButton } from "../icon-button.js";
import { useFocus } from "../use-focus.js";

/** Two buttons that say whether an answer helped, and a field for a note. */
export function RateAnswer({ exchange }: { readonly exchange: Exchange }) {
  const { act, chat, preferences } = usePage();
  const words = preferences.words.value;
  const isNoting = useSignal(false);
  const { feedback } = exchange.answer.value;
  const rate = (rating: "up" | "down") => {
    const isTakenBack = feedback?.rating === rating;
    isNoting.value = !isTakenBack;
    act(chat.rate(exchange, isTakenBack ? undefined : { rating }));
  };
  return (
    <>
      <IconButton
        icon="thumbUp"
        label={words.helpful}
        isPressed={feedback?.rating === "up"}
        onClick={() => rate("up")}
      />
      <IconButton
        icon="thumbDown"
        label={words.notHelpful}
        isPressed={feedback?.rating === "down"}
        onClick={() => rate("down")}
      />
      {isNoting.value && feedback && (
        <NoteForm
          note={feedback.note ?? ""}
          onSave={(note) => {
            isNoting.value = false;
            if (note !== "") act(chat.rate(exchange, { rating: feedback.rating, note }));
          }}
          onCancel={() => (isNoting.value = false)}
        />
      )}
    </>
  );
}

interface NoteFormProps {
  readonly note: string;
  readonly onSave: (note: string) => void;
  readonly onCancel: () => void;
}

function NoteForm({ note, onSave, onCancel }: NoteFormProps) {
  const words = usePage().preferences.words.value;
  const field = useFocus<HTMLInputElement>();
  return (
    <form
      class="note"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(field.current!.value.trim());
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <input ref={field} aria-label={words.note} placeholder={words.note} maxLength={4000} defaultValue={note} />
      <button class="plain small">{words.sendNote}</button>
    </form>
  );
}
