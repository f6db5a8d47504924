import { stemmer } from "stemmer";

/**
 * The English stem of a lower-case word, by Porter's rules (https://tartarus.org/martin/PorterStemmer/). Words with other
 * letters than a to z stay as they are.
 */
export function stem(word: string): string {
  return word.length > 2 && /^[a-z]+$/.test(word) ? stemmer(word) : word;
}
