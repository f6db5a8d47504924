import { terms } from "./terms.js";

/** Chinese words that only make a question of a sentence, longest first; 吗 and 呢 begin other words, so only at an end. */
const askingWords =
  /请问|什么样|什么时候|什么是|是什么|为什么|怎么样|怎么办|怎么|怎样|如何|多少|哪些|哪个|哪里|哪儿|哪种|哪一个?|是否|能否|可否|什么|谁|[吗呢](?=[?？。！!\s]|$)/gu;

/**
 * Terms to look for: those of a text, without the words that make it a question in Chinese. They say nothing of what is
 * asked for, and where few texts ask anything, as in documentation, two characters of them outweigh all others. A text of
 * nothing else keeps them. English has most of its own among the stop words, and the others are common in any text.
 */
export function queryTerms(text: string): readonly string[] {
  if (!/\p{Script=Han}/u.test(text) || /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return terms(text);
  const found = terms(text.replace(askingWords, " "));
  return found.length > 0 ? found : terms(text);
}
