import { IconButton } from "../icon-button.js";
import { usePage } from "../../state/page.js";
import { languages, type Theme } from "../../state/preferences.js";
import type { Language } from "../../words/words.js";

/** Language and appearance, and the ways to the settings of answers and the list of keys. */
export function Settings() {
  const { overlay, preferences, status } = usePage();
  const { language, setLanguage, setTheme, theme, words } = preferences;
  const { answerSettings, appearance, languageLabel, shortcuts, themes } = words.value;
  return (
    <div class="settings">
      <select
        aria-label={languageLabel}
        title={languageLabel}
        value={language.value}
        onChange={({ currentTarget }) => setLanguage(currentTarget.value as Language)}
      >
        {Object.entries(languages).map(([code, { language: name }]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label={appearance}
        title={appearance}
        value={theme.value}
        onChange={({ currentTarget }) => setTheme(currentTarget.value as Theme)}
      >
        {Object.entries(themes).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      {status.value?.choices && (
        <IconButton icon="sliders" label={answerSettings} onClick={() => (overlay.value = "answers")} />
      )}
      <IconButton icon="keyboard" label={shortcuts} onClick={() => (overlay.value = "shortcuts")} />
    </div>
  );
}
