import { computed, effect, signal } from "@preact/signals";
import { chinese } from "../words/chinese.js";
import { english } from "../words/english.js";
import { preferredLanguage, type Language, type Words } from "../words/words.js";

export type Theme = "system" | "light" | "dark";

export const languages: Readonly<Record<Language, Words>> = { en: english, zh: chinese };

/** Language and appearance, kept in this browser. */
export function createPreferences() {
  const language = signal<Language>(stored("language", ["en", "zh"]) ?? preferredLanguage(navigator.languages));
  const theme = signal<Theme>(stored("theme", ["light", "dark"]) ?? "system");
  effect(() => {
    document.documentElement.lang = language.value === "zh" ? "zh-CN" : "en";
  });
  effect(() => {
    if (theme.value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
  });
  return {
    language,
    theme,
    words: computed(() => languages[language.value]),
    setLanguage: (to: Language) => {
      language.value = to;
      store("language", to);
    },
    setTheme: (to: Theme) => {
      theme.value = to;
      store("theme", to);
    },
  };
}

/** A browser that refuses storage still shows the page, and forgets the choice. */
function stored<T extends string>(name: string, allowed: readonly T[]): T | undefined {
  try {
    const value = localStorage.getItem(`citewell.${name}`);
    return allowed.find((preference) => preference === value);
  } catch {
    return undefined;
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(`citewell.${name}`, value);
  } catch {
    // The choice holds until the page is closed.
  }
}
