/** Words of questions and of grammar, as stems: they say nothing of the subject. */
const english =
  "what which who whom whose when where why how doe do did done can could should would may might must shall have ha had " +
  "been were am i me my we our us you your he him hi she her them ani some each other both all few mani much own same " +
  "from than about over under between among dure through after befor abov below up down out off upon within without via " +
  "per until sinc becaus while against toward near so too veri also again more most onli cannot let just now here then " +
  "there ever";

/** Chinese characters that mark grammar or a question: pairs with one of them are mostly no words. */
const chinese = "的了是在和有为与之以及于也被等由其这么什哪谁怎几何";

const englishWords: ReadonlySet<string> = new Set(english.split(" "));
const chineseCharacters: ReadonlySet<string> = new Set(chinese);

/**
 * Whether a term of a question says little of what is asked for. Texts that never ask, such as abstracts, make "what" and
 * "how" rare, so that rarity alone would give them the weight of a subject.
 *
 * @param language `chinese` where the question is in Chinese: in Japanese the same characters begin and end nouns.
 */
export function isFunctionWord(term: string, language?: "chinese"): boolean {
  if (language !== "chinese" || term.charCodeAt(0) < 0x3400) return englishWords.has(term);
  for (const character of term) if (chineseCharacters.has(character)) return true;
  return false;
}
