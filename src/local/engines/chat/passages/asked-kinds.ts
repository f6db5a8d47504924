import { terms } from "../../../../text/words/terms.js";

/** Something that an answer to a question has in it. */
export interface AskedKind {
  /** Whether a text holds one that the question does not name itself. */
  readonly isIn: (text: string) => boolean;
  /** The words with which the question names the kind: what is of the kind need not say so. */
  readonly named: string;
  /** Whether nothing else answers. */
  readonly required: boolean;
}

const number =
  /\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|half|quarter|dozens?|hundreds?|thousands?|millions?|billions?|once|twice|single|none|unlimited|infinite(?:ly)?|infinity|indefinitely|forever|no limit|zero)\b|[一二三四五六七八九十百千万两半]+|无限/giu;
const time =
  /\b(?:1\d{3}|20\d{2}|[5-9]\d{2})s?\b|\b\d{1,2}(?:st|nd|rd|th)[ -]century|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b(?= ?\d| of|,|\.)|\bcentur(?:y|ies)\b|\b\d+ (?:BC|AD|BCE|CE)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\d{1,4} ?[年月日]|世纪/giu;
/** Names within a sentence, or of two words: a single capital at the beginning is any word. */
const name = /(?<=[\p{Ll}\p{N},;:"“(’'] ?)(?<= )\p{Lu}[\p{L}'’-]+|\p{Lu}\p{Ll}+(?= \p{Lu}\p{Ll})|·/gu;
const frequency =
  /\bevery\b|\bdaily\b|\bhourly\b|\b(?:week|month|year)ly\b|\beach (?:day|week|month|year|hour)\b|每/giu;

const duration =
  /\b(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?|centur(?:y|ies)|until)\b|[天周月年]/giu;

/** The kinds, by the words with which a question asks for them. The first that fits counts. */
const kinds: readonly { readonly asks: RegExp; readonly has: readonly RegExp[]; readonly required?: boolean }[] = [
  {
    asks: /\bhow much (?:\p{L}+ ){0,6}(?:costs?|charge[ds]?|pay)\b|\b(?:what|which)\b[^?]{0,40}\b(?:prices?|fees?|costs?)\b|多少钱|价格|费用是/iu,
    has: [
      /[$€£¥]\s?\d|\d[\d.,]*\s?(?:USD|EUR|GBP|CNY|dollars?|euros?|pounds?|cents?|元|美元|欧元)\b|\bfree\b|\bno (?:cost|charge)\b|免费|元/giu,
    ],
    required: true,
  },
  {
    asks: /\bhow (?:much|many) (?:\p{L}+ )?(?:memory|ram|disk|storage|space|[kmgt]i?b|(?:[kmgt]i?|mega|giga)?bytes)\b|多少(?:[\p{Script=Han}]{0,2})(?:内存|磁盘|存储|空间)/iu,
    has: [/\d\s*(?:[KMGTkmgt]i?[Bb]\b|[KMGT]i\b|(?:[Kk]ilo|[Mm]ega|[Gg]iga|[Tt]era)?[Bb]ytes?\b|字节)/gu],
    required: true,
  },
  {
    asks: /\b(?:what|which) (?:\p{L}+ ){0,3}ports?\b(?! of\b)|(?:哪个|什么|哪些)端口|端口(?:号)?是/iu,
    has: [/(?<![\d.])\d{2,5}(?![\d.]*\.\d)/gu],
    required: true,
  },
  {
    asks: /\b(?:what|which|from what|since which) (?:\p{L}[\p{L}.]* ){0,4}versions?\b|哪个版本|什么版本/iu,
    has: [/\bv?\d+(?:\.\d+)*\b/giu],
    required: true,
  },
  {
    asks: /\bwhat(?:'s|’s| is| are) the (?:\p{L}+ )?(?:max(?:imum)?|min(?:imum)?|upper limit|limit|longest|largest|highest|smallest)\b|(?:最大|最小|上限|最多|最长)[^?？]{0,20}(?:是|为|多少|几)/iu,
    has: [number],
    required: true,
  },
  { asks: /\bhow long\b(?! (?:as|ago)\b)|多[长久]时间|多久(?!一次)/iu, has: [number, duration], required: true },
  { asks: /\bhow often\b|多久一次/iu, has: [number, frequency], required: true },
  {
    asks: /\bhow (?:many|much|old|far|tall|large|big|high|deep|wide|fast|hot|cold|heavy)\b|\bwhat (?:percentage|percent|portion|share|number)\b|多少|几[个次年天种人岁]|多[长久大远高]/iu,
    has: [number],
    required: true,
  },
  {
    asks: /\bwhen (?:was|were|did|is|are|has|had|will)\b|\b(?:what|which) (?:year|date|day|month|century|centuries|decade|era|season)s?\b|何时|什么时候|哪一?[年天]|哪个?时期/iu,
    has: [time],
  },
  { asks: /^(?:\p{L}+ )?(?:who|whose|whom)\b|谁/iu, has: [name] },
  {
    asks: /^(?:\p{L}+ )?where\b|\b(?:what|which) (?:city|country|state|town|continent|river|region|county)\b/iu,
    has: [name],
  },
  {
    asks: /\benvironment variable|\benv(?:ironment)? ?vars?\b|环境变量/iu,
    has: [/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/gu],
  },
  {
    asks: /\bdefaults?\b|默认|缺省/iu,
    has: [/\bdefaults?\b[^.]*(?:\d|`|"|')|(?:\d|`|"|')[^.]*\bdefaults?\b|\b(?:dis|en)abled by default\b|默认|缺省/giu],
  },
  {
    asks: /\bcommand\b|\binstall\b|命令|安装/iu,
    has: [
      /^[ \t]*`?(?:[$>] )?(?:sudo )?(?:npm|npx|yarn|pnpm|pip3?|python3?|go|docker|kubectl|helm|apt|apt-get|yum|dnf|rpm|dpkg|brew|cargo|dotnet|composer|gem|bundle|curl|wget|git|mix|choco|winget|\w+(?: \w+){0,3} --?\w)/gmu,
    ],
  },
  {
    asks: /^why\b|为什么|为何/iu,
    has: [
      /\b(?:because|since|due to|reason|so that|caused? by|in order to|prevents?|otherwise)\b|因为|由于|原因|导致|以便|否则/giu,
    ],
  },
  {
    asks: /\bwhat (?:will |would )?happens? (?:when|if|once|after)\b|会怎么?样|会发生什么/iu,
    has: [/\b(?:if|when|whenever|once)\b|如果|若|当|一旦/giu],
  },
];

/** The kinds that a question asks for. */
export function kindsAsked(question: string): readonly AskedKind[] {
  const own = new Set(terms(question));
  const isNew = (found: string) => {
    const words = terms(found);
    return words.length === 0 || words.some((term) => !own.has(term));
  };
  const asked = kinds.filter(({ asks }) => asks.test(question));
  return asked.slice(0, 1).map(({ asks, has, required = false }) => ({
    required,
    named: asks.exec(question)?.[0] ?? "",
    isIn: (text) => has.some((form) => (text.match(form) ?? []).some(isNew)),
  }));
}

/** Whether a question asks how to do something, so that code answers it. */
export function asksHow(question: string): boolean {
  return /\b(?:code|command|run|install|example|snippet|how (?:do|can|to|should))\b|命令|代码|安装|示例|如何|怎么|怎样/iu.test(
    question,
  );
}

/** Whether a list answers the question. */
export function asksForList(question: string): boolean {
  return /\b(?:what|which) (?:are|\p{L}+(?: \p{L}+)? (?:are|do|does|has|have|can))\b|\bwhat (?:do|does) .*\b(?:include|contain|consist of|comprise|manage|support)\b|\b(?:values|options|types|kinds|methods|ways|reasons|advantages|disadvantages|benefits|goals|modes|features|steps)\b|哪些|哪几|有几/iu.test(
    question,
  );
}

/** Words of a question that are written like code: between backticks, with an underscore, a point or a capital inside. */
export function identifiersIn(question: string): readonly string[] {
  const quoted = [...question.matchAll(/`([^`]+)`/g)].map(([, one = ""]) => one);
  const shaped =
    question.match(
      /(?<![\w$])(?:[A-Za-z$_][\w$]*(?:_[\w$]+|[a-z\d][A-Z][\w$]*)(?:\.[\w$]+)*|[a-z][\w$]*(?:\.[a-z][\w$]*)+)/g,
    ) ?? [];
  return [...new Set([...quoted, ...shaped])];
}
