import { terms } from "../../../../text/words/terms.js";
import { rarity } from "../../rarity.js";

/** Something that an answer to a question would have in it. */
export interface WantedKind {
  readonly has: RegExp;
  /** Terms with which the question names the kind: what is of the kind need not say so. */
  readonly named: ReadonlySet<string>;
  /** Added to the score of a statement that has it, 0 to 1. */
  readonly bonus: number;
}

const usualBonus = 0.3;
/** Nothing else answers. */
const decisiveBonus = 0.7;

const asksForVariable = /environment variable|\benv(?:ironment)? ?vars?\b|环境变量/i;
const variable = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

const packageWord =
  "\\b(?:packages?|dependenc(?:y|ies)|modules?|librar(?:y|ies)|artifacts?|gems?|crates?)\\b|包|库|依赖|模块";
const packageName = "`[^`\\s]+[-./:][^`\\s]+`";

/** The kinds, by the words with which a question asks for them. */
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
  {
    asks: /\b(?:which|what) (?:\p{L}+ ){0,2}(?:package|dependency|module|library|artifact|gem|crate)\b|[哪什][个些么]?(?:软件)?(?:包|库|依赖|模块)/iu,
    has: new RegExp(`(?:${packageWord})[^]{0,150}?${packageName}|${packageName}[^]{0,150}?(?:${packageWord})`, "i"),
  },
  {
    asks: /\bwhat (?:will |would )?happens? (?:when|if|once|after)\b|会怎[么]?样|会发生什么/i,
    has: /\b(?:if|when|whenever|once)\b|如果|若|当|一旦/i,
  },
  { asks: /\bports?\b|端口/i, has: /(?<![\d.])\d{2,5}(?![\d.]*\.\d)/ },
  {
    asks: /\bcommand\b|\binstall\b|命令|安装/i,
    has: /^(?:\$ )?(?:sudo )?(?:npm|npx|yarn|pnpm|pip|pip3|go|docker|kubectl|helm|apt|apt-get|yum|dnf|rpm|dpkg|brew|cargo|dotnet|composer|gem|bundle|curl|wget|git|mix|cpan|choco|winget)\b/m,
  },
  {
    asks: /\bhow (?:much|many) (?:\p{L}+ )?(?:memory|ram|disk|storage|space|[kmgt]i?b|(?:[kmgt]i?|mega|giga)bytes)\b|多少(?:[\p{Script=Han}]{0,2})(?:内存|磁盘|存储|空间)/iu,
    has: /\d\s*(?:[KMGTkmgt]i?[Bb]\b|[KMGT]i\b|(?:[Kk]ilo|[Mm]ega|[Gg]iga|[Tt]era)?[Bb]ytes?\b|字节)/,
    bonus: decisiveBonus,
  },
  {
    asks: /^why\b|为什么|为何/i,
    has: /\b(?:because|since|due to|reason|so that|caused? by|in order to|prevents?|otherwise)\b|因为|由于|原因|导致|以便|否则/i,
  },
  { asks: /^(?:by )?who(?:m|se)?\b|谁/i, has: /\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+|·/u },
];

/** Whether lines of code may answer the question. */
export function asksForCode(question: string): boolean {
  return codeQuestion.test(question);
}

/** Whether the question asks why: the reason mostly stands beside what it repeats. */
export function asksForReason(question: string): boolean {
  return /^why\b|为什么|为何/i.test(question);
}

/** Whether a list answers the question. */
export function asksForList(question: string): boolean {
  return listQuestion.test(question);
}

const listQuestion =
  /\b(?:what|which) (?:are|\p{L}+(?: \p{L}+)? (?:are|do|does|has|have|can))\b|\bwhat (?:do|does) .*\b(?:include|contain|consist of|comprise|manage|support)\b|\b(?:values|options|types|kinds|methods|ways|reasons|advantages|disadvantages|upsides|downsides|benefits|goals|modes|features|steps)\b|哪些|哪几|有几/iu;

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

/** Words of a question that are written like code: between backticks, with an underscore, a point or a capital inside. */
export function identifiersIn(question: string): readonly string[] {
  const quoted = [...question.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const shaped =
    question.match(
      /(?<![\w$])(?:[A-Za-z$_][\w$]*(?:_[\w$]+|[a-z\d][A-Z][\w$]*)(?:\.[\w$]+)*|[a-z][\w$]*(?:\.[a-z][\w$]*)+)/g,
    ) ?? [];
  return [...new Set([...quoted, ...shaped])];
}

/** Whether a text holds an identifier itself, not merely a longer one that it is part of. */
export function holdsIdentifier(text: string, identifier: string): boolean {
  return position(text, identifier) !== undefined;
}

/** Whether a text is on an identifier: it begins with it. */
export function beginsWithIdentifier(text: string, identifier: string): boolean {
  const at = position(text, identifier);
  return at !== undefined && !/[\p{L}\p{N}]/u.test(text.slice(0, at));
}

function position(text: string, identifier: string): number | undefined {
  const [lower, wanted] = [text.toLowerCase(), identifier.toLowerCase()];
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    if (!/[\w$]/.test(lower.charAt(at - 1)) && !/[\w$]/.test(lower.charAt(at + wanted.length))) return at;
  }
  return undefined;
}

const time =
  /\b(?:1\d{3}|20\d{2}|[5-9]\d{2})s?\b|\b\d{1,2}(?:st|nd|rd|th)[ -]century|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b(?= ?\d| of|,|\.)|\bcentur(?:y|ies)\b|\b\d+ (?:BC|AD|BCE|CE)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\d{1,4} ?[年月日]|世纪/gi;
const number =
  /\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|half|dozens?|hundreds?|thousands?|millions?|billions?)\b|[一二三四五六七八九十百千万两]+(?=[个次年天种人名座只条位部家所米岁])/gi;
/** Names within a sentence, or of two words: a single capital at the beginning is any word. */
const name = /(?<=[\p{Ll}\p{N},;:"“(’'] ?)(?<= )\p{Lu}[\p{L}'’-]+|\p{Lu}\p{Ll}+(?= \p{Lu}\p{Ll})/gu;

/** A number with its unit. */
const measure =
  /(?:\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|hundred|thousand|million|several|few|many))[ -](?:\p{L}+ )?(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|decades?|centur(?:y|ies)|km|miles?|m|met(?:er|re)s?|feet|foot|ft|kilomet(?:er|re)s?|inch(?:es)?|acres?|square|degrees?|percent|people|times|tons?|pounds?|kg)\b|\d ?[%°]/giu;

/** What a question asks for that its answer has to bring, beside what the question names itself. */
const brought: readonly { readonly asks: RegExp; readonly has: RegExp }[] = [
  {
    asks: /\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|centuries|decade|era|season|time|period)s?\b|何时|什么时候|哪一?[年天]|哪个?时期/i,
    has: time,
  },
  { asks: /\bhow (?:long|far|tall|large|big|high|deep|wide|fast|hot|cold|heavy)\b/i, has: measure },
  {
    asks: /\bhow (?:many|much|old)\b|\bwhat (?:percentage|percent|portion|share|number)\b|多少|几[个次年天种人岁]|多[大]岁?/i,
    has: number,
  },
  { asks: /^(?:\p{L}+ )?(?:who|whose|whom)\b/iu, has: name },
  {
    asks: /^(?:\p{L}+ )?where\b|\b(?:what|which) (?:city|country|state|town|continent|river|region|county)\b/iu,
    has: name,
  },
];

/** Whether a text lacks what the question asks for and does not name itself, such as a time. */
export function lacksAsked(question: string, text: string): boolean {
  const kind = brought.find(({ asks }) => asks.test(question));
  if (kind === undefined) return false;
  const own = new Set(terms(question));
  return !(text.match(kind.has) ?? []).some((found) => terms(found).some((term) => !own.has(term)));
}
