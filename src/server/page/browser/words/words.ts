import { english } from "./english.js";

/** What a language has to say. */
export type Words = typeof english;

export type Language = "en" | "zh";

/** The first of the reader's languages that the page speaks; English when it speaks none. */
export function preferredLanguage(languages: readonly string[]): Language {
  const known = languages
    .map((each) => each.toLowerCase().split("-")[0])
    .find((each) => each === "en" || each === "zh");
  return known ?? "en";
}
