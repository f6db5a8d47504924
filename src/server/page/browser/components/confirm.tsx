import { usePage } from "../state/page.js";
import { Dialog } from "./dialog.js";

export interface ConfirmProps {
  readonly title: string;
  readonly explanation: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something is deleted for good. */
export function Confirm({ title, explanation, onConfirm, onClose }: ConfirmProps) {
  const words = usePage().preferences.words.value;
  return (
    <Dialog label={title} kind="question" onClose={onClose}>
      <h2>{title}</h2>
      <p>{explanation}</p>
      <form method="dialog" class="buttons">
        <button class="plain">{words.cancel}</button>
        <button class="danger" onClick={onConfirm}>
          {words.delete}
        </button>
      </form>
    </Dialog>
  );
}
