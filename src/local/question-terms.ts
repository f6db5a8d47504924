import { terms } from "../text/terms.js";
import { rarity } from "./rarity.js";

/** Chinese words that ask, and what makes them a polite sentence: cut out before characters are paired across them. */
const askingWords =
  /请问|为什么|什么时候|什么|怎么样|怎么|怎样|如何|何时|何地|哪[一]?[个些里年天种位座]|哪|多少|多[长久高大远]|谁|是否|能否|吗|呢|(?:我|你|您)?(?:应该|可以|需要)?(?=[?？]?$)/gu;

/** Chinese words of grammar, and common verbs: what stands beside them makes no word with them. */
const grammarWords = /通过|使用|利用|进行|可以|需要|应该|能够|以及|或者/gu;
const commonVerbs = /设置|配置|安装|运行|创建|启用|禁用|部署|添加|更换|修改/gu;

/** Terms up to this rarity are grammar. */
const grammarRarity = 0.15;

/**
 * Terms of what a question is about: without the words that only make it a question. All its terms when nothing else is
 * left.
 */
export function questionTerms(question: string): readonly string[] {
  const found = terms(
    question.replace(askingWords, " ").replace(grammarWords, " ").replace(commonVerbs, " $& "),
  ).filter((term) => rarity(term) > grammarRarity && !/^[是的]$/.test(term));
  return found.length > 0 ? found : terms(question);
}
