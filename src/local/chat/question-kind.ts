import { terms } from "../../text/terms.js";
import { rarity } from "../rarity.js";

/** Something that an answer to a question would have in it. */
export interface WantedKind {
  readonly has: RegExp;
  /** Terms with which the question names the kind: what is of the kind need not say so. */
  readonly named: ReadonlySet<string>;
  /** What it adds to a statement's score, 0 to 1. */
  readonly bonus: number;
}

const usualBonus = 0.3;
/** Nothing else answers. */
const decisiveBonus = 0.7;

const asksForVariable = /environment variable|\benv(?:ironment)? ?vars?\b|环境变量/i;
const variable = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

/** What an answer to the question would have in it. */
const kinds: readonly { readonly asks: RegExp; readonly has: RegExp; readonly bonus?: number }[] = [
  { asks: asksForVariable, has: new RegExp(variable.source), bonus: decisiveBonus },
  {
    asks: /\bdefaults?\b|默认|缺省/i,
    has: /\bdefaults?\b[^.]*(?:\d|`|"|')|(?:\d|`|"|')[^.]*\bdefaults?\b|\b(?:dis|en)abled by default\b|默认|缺省/i,
  },
  {
    asks: /\bhow (?:many|much|long|often|old|far|large|big|tall|high|deep)\b|多少|几[个次年天种人]|多[长久大远高]/i,
    has: /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred|thousand|million)\b|[一二三四五六七八九十百千万两]+[个次年天种人名座]/i,
  },
  {
    asks: /\bwhen\b|\b(?:what|which|in what|in which) (?:year|date|day|month|century|decade)\b|何时|什么时候|哪[一]?年|哪[一]?天|时间/i,
    has: /\b\d{3,4}\b|\d{1,2} ?[年月日]|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b/i,
  },
  { asks: /\bports?\b|端口/i, has: /(?<![\d.])\d{2,5}(?![\d.]*\.\d)/ },
  {
    asks: /\bcommand\b|\binstall\b|命令|安装/i,
    has: /^(?:\$ )?(?:sudo )?(?:npm|npx|yarn|pnpm|pip|pip3|go|docker|kubectl|helm|apt|apt-get|yum|dnf|rpm|dpkg|brew|cargo|dotnet|composer|gem|bundle|curl|wget|git|mix|cpan|choco|winget)\b/m,
  },
  { asks: /^(?:by )?who(?:m|se)?\b|谁/i, has: /\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+|·/u },
];

/** Whether lines of code may answer the question. */
export function asksForCode(question: string): boolean {
  return codeQuestion.test(question);
}

const codeQuestion =
  /\b(?:code|command|run|install|example|snippet|how (?:do|can|to|should))\b|命令|代码|安装|示例|如何|怎么|怎样/i;

/** Whether the text names a variable of which the question says what it is for. */
export function namesVariable(question: string, text: string): boolean {
  if (!asksForVariable.test(question)) return false;
  const asked = new Set(terms(question));
  const variables = text.match(variable) ?? [];
  return variables.some((name) => terms(name).some((term) => asked.has(term) && rarity(term) >= 0.9));
}

/** The kinds that a question asks for. */
export function wantedKinds(question: string): readonly WantedKind[] {
  return kinds.flatMap(({ asks, has, bonus = usualBonus }) => {
    const named = asks.exec(question)?.[0];
    return named === undefined ? [] : [{ has, named: new Set(terms(named)), bonus }];
  });
}

const asksForPlace =
  /\bwhere\b|\b(?:what|which) (?:city|country|state|town|place|region|area|location|river|island|county|continent)\b/i;
const asksForNumber =
  /\bhow (?:many|much|long|old|far|large|big|tall|high|deep|often)\b|\bwhat (?:percent|percentage|number|amount)\b/i;
const number =
  /\d[\d,.]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred|thousand|million|half|third|quarter)\b/gi;
const numberWeight = 0.26;
const placeWeight = 0.13;

/**
 * Whether a statement brings a number or a name to a question that asks for one, and not merely those of the question:
 * what it adds to the statement's score, below 0 when it brings none.
 */
export function bringsNews(question: string, asked: readonly string[], text: string): number {
  const own = new Set(asked);
  const brings = (found: readonly string[]) => found.some((word) => terms(word).some((term) => !own.has(term)));
  let news = 0;
  if (asksForNumber.test(question)) news += brings(text.match(number) ?? []) ? numberWeight : -numberWeight;
  if (asksForPlace.test(question)) {
    const names = text.replace(/^\s*[\p{L}'’]+/u, "").match(/\p{Lu}[\p{L}'’-]+/gu) ?? [];
    news += brings(names) ? placeWeight : -placeWeight;
  }
  return news;
}

const asksForTime =
  /\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|centuries|decade|era|season|time|period)s?\b|何时|什么时候|哪一?[年天]|哪个?时期/i;
const date =
  /\b(?:1\d{3}|20\d{2}|[5-9]\d{2})s?\b|\b\d{1,2}(?:st|nd|rd|th)[ -]century|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b(?= ?\d| of|,|\.)|\bcentur(?:y|ies)\b|\b\d+ (?:BC|AD|BCE|CE)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\d{1,4} ?[年月日]|世纪/gi;

/**
 * Tells of a text whether it brings a time to a question that asks for one, and not merely that of the question: 1 when
 * it does, -1 when it does not, 0 of every text when the question asks for something else.
 *
 * @param own The question's own terms.
 */
export function timesIn(question: string, own: ReadonlySet<string>): (text: string) => number {
  if (!asksForTime.test(question) || asksForNumber.test(question)) return () => 0;
  return (text) => ((text.match(date) ?? []).some((found) => terms(found).some((term) => !own.has(term))) ? 1 : -1);
}
