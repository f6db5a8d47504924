/**
 * How much a term tells, known without a corpus. Query and passage both carry the weight, so that it counts squared:
 * the range is kept narrow. benchmarks/local.ts measures what search and reranking make of it on public collections;
 * weights near these differ by less than those collections can tell apart.
 */
export function rarity(term: string): number {
  return isUnspaced(term) ? pairRarity(term) : (remembered.get(term) ?? wordRarity(term));
}

function wordRarity(term: string): number {
  const digits = /\d/.test(term) ? 0.2 : 0;
  const joined = /[._]/.test(term) ? 0.3 : 0;
  return Math.min(1.4, 0.5 + 0.1 * term.length) + digits + joined;
}

/** Pairs with a particle in them are mostly no words. */
function pairRarity(term: string): number {
  for (const character of term) if (chineseParticles.has(character)) return 0.5;
  return 1;
}

/** Whether a term comes from a script without spaces. */
export function isUnspaced(term: string): boolean {
  return term.charCodeAt(0) >= 0x0e00 && /^[\p{L}\p{M}]/u.test(term);
}

/** Words of questions and of grammar, as stems: they say nothing of the subject. */
const functionWords =
  "what which who whom whose when where why how doe do did done can could should would may might must shall have ha had " +
  "been were am i me my we our us you your he him hi she her it them from than so too veri also about over under " +
  "between among dure through after befor abov below up down out off again more most some ani each other own same onli " +
  "both all few mani much while until sinc becaus upon within without via per cannot let just now here then there ever";

/** Words that stand in texts on any subject, as stems. */
const commonWords =
  "us includ make made take taken give given get got go come becom show shown see seen find found know known call name " +
  "follow provid need want work help allow requir creat contain hold keep set start begin end chang increas reduc " +
  "mean say said tell ask think consid describ present discuss relat base gener differ import larg small high low long " +
  "short new old good first second last next well like even still howev therefor thu although though often usual " +
  "sever certain variou possibl abl avail part place point case exampl way thing time year dai number amount valu " +
  "result effect caus reason studi test method type kind form group peopl person world state countri area one two " +
  "three four five six seven eight nine ten mai line order level rate term total real full sure against toward near";

const chineseParticles = new Set("的了是在和有为与之以及于中也被等由其这个一不人吗呢吧么什哪谁怎几多少何");

const remembered: ReadonlyMap<string, number> = new Map([
  ...commonWords.split(" ").map((term) => [term, 0.6] as const),
  ...functionWords.split(" ").map((term) => [term, 0.15] as const),
]);
