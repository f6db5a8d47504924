import { english } from "./english.js";

/** The texts of the page in one language. */
export type Words = typeof english;

export type Language = "en" | "zh";

/** The first of the reader's languages that the page speaks; English when it speaks none. */
export function preferredLanguage(languages: readonly string[]): Language {
  const known = languages
    .map((language) => language.toLowerCase().split("-")[0])
    .find((language) => language === "en" || language === "zh");
  return known ?? "en";
}
