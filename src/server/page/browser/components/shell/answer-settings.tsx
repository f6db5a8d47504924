import { useSignal } from "@preact/signals";
import type { Choices } from "../../api/client.js";
import { usePage } from "../../state/page.js";
import { takenChoices } from "../../state/choices.js";
import { Dialog } from "../dialog.js";
import { useFocus } from "../use-focus.js";

/** The settings of answers that the server leaves to its callers. They hold for the questions that follow. */
export function AnswerSettings({ onClose }: { readonly onClose: () => void }) {
  const { choices, preferences, status } = usePage();
  const words = preferences.words.value;
  const offered = status.value?.choices;
  const edited = useSignal<Choices>(takenChoices(choices.chosen.value, offered) ?? {});
  const done = useFocus<HTMLButtonElement>();
  const change = (part: { readonly [Name in keyof Choices]: Choices[Name] | undefined }) => {
    const { chatModel, passages, instructions } = { ...edited.value, ...part };
    edited.value = {
      ...(chatModel !== undefined && { chatModel }),
      ...(passages !== undefined && { passages }),
      ...(instructions !== undefined && { instructions }),
    };
  };
  const { chatModels = [], maxPassages, maxInstructionCharacters } = offered ?? {};
  return (
    <Dialog label={words.answerSettings} kind="question" onClose={onClose}>
      <h2>{words.answerSettings}</h2>
      <p>{words.answerSettingsExplained}</p>
      <form
        method="dialog"
        class="answer-settings"
        onSubmit={() => choices.choose(takenChoices(edited.value, offered) ?? {})}
      >
        {chatModels.length > 0 && (
          <label>
            {words.chatModel}
            <select
              value={edited.value.chatModel ?? ""}
              onChange={({ currentTarget }) => change({ chatModel: currentTarget.value || undefined })}
            >
              <option value="">{words.usual}</option>
              {chatModels.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
          </label>
        )}
        {maxPassages !== undefined && (
          <label>
            {words.passagesToAnswerFrom}
            <input
              type="number"
              min={1}
              max={maxPassages}
              placeholder={words.usual}
              value={edited.value.passages ?? ""}
              onInput={({ currentTarget }) => change({ passages: currentTarget.valueAsNumber || undefined })}
            />
          </label>
        )}
        {maxInstructionCharacters !== undefined && (
          <label>
            {words.ownInstructions}
            <textarea
              rows={4}
              maxLength={maxInstructionCharacters}
              placeholder={words.ownInstructionsPlaceholder}
              value={edited.value.instructions ?? ""}
              onInput={({ currentTarget }) => change({ instructions: currentTarget.value || undefined })}
            />
          </label>
        )}
        <div class="buttons">
          <button type="button" class="plain" onClick={() => (edited.value = {})}>
            {words.allAsUsual}
          </button>
          <button ref={done} class="primary">
            {words.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
