import type { PrintedToken } from "./printed-tokens.js";
import { isEnglishNumber } from "./number-words.js";

/** Maximum number of words that a quote may leave out with an ellipsis. */
const maxOmitted = 40;

/**
 * Whether a quote may leave out the tokens from index `from` up to `to`, marked by an ellipsis, because the sentence says
 * the same of what remains. Nobody can list all words that turn a sentence. So what is left out must have a form that turns
 * none: a phrase of place behind a word ("the keys in the vault"), or a remark that is set off on both sides and begins as a
 * description does (", which …,"). On top of that it has no word of those that deny, refuse, limit, count or condition.
 * English and Chinese are known; in other languages nothing may be left out.
 */
export function mayBeOmitted(tokens: readonly PrintedToken[], from: number, to: number): boolean {
  // An ellipsis that stands for no word must not stand for the end of a sentence either.
  if (from === to) return !/[.?¶|]/u.test(tokens[from]?.gap.marks ?? "");
  if (to - from > maxOmitted) return false;
  const omitted = tokens.slice(from, to);
  const gaps = tokens.slice(from, to + 1).map(({ gap }) => gap.marks);
  if (omitted.some(({ kind, isStruck }) => isStruck || kind === "number" || kind === "sign")) return false;
  if (gaps.some((marks) => /[.?¶|:;…]/u.test(marks))) return false;
  const language = languageOf(tokens, from, to);
  const text = omitted.map(({ form }) => form);
  if (language === "chinese") return setOff(gaps) && isHarmlessChinese(text.join(""));
  return language === "english" && isHarmlessEnglish(text, gaps);
}

/** Whether a remark has a comma, dash or bracket on both sides. */
function setOff(gaps: readonly string[]): boolean {
  const [first, last] = [gaps[0]!, gaps.at(-1)!];
  return (first === "," && last === ",") || (first === "—" && last === "—") || (first === "(" && /^\),?$/u.test(last));
}

function isHarmlessEnglish(words: readonly string[], gaps: readonly string[]): boolean {
  if (words.some((word) => turning.test(word) || isEnglishNumber(word))) return false;
  if (setOff(gaps)) return remarkStarts.has(words[0]!);
  if (gaps.some((marks) => marks !== "")) return false;
  const phrase = words.at(-1) === "and" ? words.slice(0, -1) : words;
  return places.has(words[0]!) && phrase.length <= 8 && !phrase.some((word) => clauseWords.test(word));
}

const remarkStarts = new Set("which who whose where including namely a an the".split(" "));
const places = new Set("in on at of under near inside behind beside under along across".split(" "));
/** Words that begin or carry a clause, so that leaving them out would join two of them. */
const clauseWords =
  /^(?:and|or|but|nor|yet|so|while|whereas|although|though|because|since|when|where|which|who|whom|whose|that|than|as|to|is|are|was|were|be|been|being|has|have|had|does|do|did|it|they|he|she|we|you|i)$|(?:[a-z]{2}ed|[a-z]{2}ing)$/u;

/** English words that turn a sentence, by how they begin. Refused too often does no harm: the quote is then near. */
const turning = new RegExp(
  `^(?:${[
    "no|not|none|never|neither|nor|nobody|nothing|nowhere|cannot|without|un(?!der$).+|non.*|dis.+|mis.+|anti.*|counter.*|contra.*|.+n't|.+less|.+ly",
    "if|unless|except.*|excep.*|excl.*|only|until|till|provided|providing|subject|condition.*|case|cases|event|assum.*|suppos.*|where.*|otherwise|else|once|depend.*|contingen.*|pending|save|bar|barring|but|despite|notwithstanding|regardless|instead|rather|unlike|against|contrary|opposite",
    "may|might|can|could|should|would|must|shall|will|need.*|ought|option.*|able|possib.*|potential.*|perhaps|maybe|theory|principle|practice",
    "all|any|every.*|each|some.*|most|many|much|few.*|several|both|half|more|less|least|fewer|enough|almost|nearly|about|around|up|over|above|below|between|maximum|minimum|max|min|limit.*|part|parts|half|double|twice|single|first|last|other|others|another|same|different|certain|sole|majority|minority|rest|often|seldom|always|sometimes|usual|barely|hardly|scarce|long|longer|still|already|yet|ever",
    "refus.*|reject.*|declin.*|den[iy].*|forb.*|prohibit.*|ban|bans|banned|bar|barred|block.*|prevent.*|preclud.*|exclu.*|exempt.*|waiv.*|withh?.*|withdr.*|revok.*|repeal.*|cancel.*|annul.*|void.*|null.*|invalid.*|illegal.*|illicit|irregular.*|terminat.*|stop.*|ceas.*|end|ends|ended|halt.*|suspend.*|abandon.*|abol.*|abort.*|fail.*|lack.*|absen.*|miss.*|omit.*|omiss.*|avoid.*|evad.*|escap.*|neglect.*|ignor.*|forgo.*|forget.*|forgot.*|lose.*|loss.*|lost|quit.*|resist.*|oppos.*|object.*|veto.*|protest.*|shun.*|spurn.*|eschew.*|refrain.*|abstain.*|restrict.*|delay.*|defer.*|postpon.*|remov.*|delet.*|drop.*|reduc.*|withou.*",
    "fals.*|fake.*|wrong.*|incorrect.*|erron.*|error.*|mistak.*|myth.*|rumou?r.*|alleg.*|claim.*|believ.*|belief.*|doubt.*|pretend.*|pretens.*|hop(?:e|ing).*|wish.*|plan.*|intend.*|intent.*|want.*|try|tries|tried|attempt.*|seem.*|appear.*|argu.*|assert.*|say|says|said|think.*|thought.*|propos.*|draft.*|former.*|ex|ineligib.*|inadmiss.*|inaccura.*|incomplet.*|insuffic.*|impossib.*|improper.*|imposs.*|immun.*",
  ].join("|")})$`,
  "u",
);

const chineseRemarks = /^(?:包括|例如|譬如|比如|即|也就是|简称|又称|亦称|俗称|位于)/u;
const turningChinese =
  /[不没沒未无無非勿莫否免除禁拒绝絕仅僅只若如果但却卻须須必应應当當可能会會得准許许允要需该該宜或凡每各全都皆均半约約超足至最少多几幾数數止停废廢撤取消驳駁失败敗缺避防阻限弃棄反难難罕几别別假伪偽误誤错錯称稱谓謂据據待经經后後前时時以]/u;

function isHarmlessChinese(text: string): boolean {
  const [start] = chineseRemarks.exec(text) ?? [];
  return start !== undefined && !turningChinese.test(text.slice(start.length));
}

const englishEvidence = new Set(
  "the and are that with for from this which who by has have its their must may will shall not been were your you they belongs is to of it".split(
    " ",
  ),
);

/** The language of the sentence around what is left out. */
function languageOf(tokens: readonly PrintedToken[], from: number, to: number): "english" | "chinese" | undefined {
  const around = tokens.slice(Math.max(0, from - 20), to + 20);
  const words = around.filter(({ kind }) => kind === "word");
  const characters = around.length - words.length;
  const isHan = (form: string) => /^\p{Script=Han}$/u.test(form);
  if (characters > words.length) {
    return tokens.slice(from, to).every(({ kind, form }) => kind === "character" && isHan(form)) &&
      around.every(({ kind, form }) => kind !== "character" || isHan(form))
      ? "chinese"
      : undefined;
  }
  if (tokens.slice(from, to).some(({ form }) => !/^[a-z']+$/u.test(form))) return undefined;
  const evidence = words.filter(({ form }) => englishEvidence.has(form)).length;
  const the = words.some(({ form }) => form === "the" || form === "and");
  return the && evidence >= 2 && evidence >= words.length / 8 ? "english" : undefined;
}
