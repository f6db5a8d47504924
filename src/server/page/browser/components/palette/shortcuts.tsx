import { usePage } from "../../state/page.js";
import { Dialog } from "../dialog.js";
import { useFocus } from "../use-focus.js";

/** The list of keys that do something anywhere on the page. */
export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const words = usePage().preferences.words.value;
  const done = useFocus<HTMLButtonElement>();
  return (
    <Dialog label={words.shortcuts} kind="question" onClose={onClose}>
      <h2>{words.shortcuts}</h2>
      <dl class="shortcuts">
        {words.shortcutList.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog" class="buttons">
        <button ref={done} class="plain">
          {words.close}
        </button>
      </form>
    </Dialog>
  );
}
