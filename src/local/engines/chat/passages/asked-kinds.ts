import { terms } from "../../../../text/words/terms.js";

/** Something that an answer to a question has in it. */
export interface AskedKind {
  /** Whether a text holds one that the question does not name itself. */
  readonly isIn: (text: string) => boolean;
  /** Words with which the question names the kind, in lower case: what is of the kind need not say so. */
  readonly named: string;
  /** Whether nothing else answers. */
  readonly required: boolean;
}

const number =
  /\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|half|quarter|dozens?|hundreds?|thousands?|millions?|billions?|once|twice|single|none|unlimited|infinite(?:ly)?|infinity|indefinitely|forever|no limit|zero|every|(?:dai|hour|week|month|year)ly|each (?:day|week|month|year|hour)|until|(?:second|minute|hour|day|night|week|month|year|decade)s)\b|[一二三四五六七八九十百千万两半]+|无限|每|[天周月年]/giu;
const time =
  /\b(?:1\d{3}|20\d{2}|[5-9]\d{2})s?\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b(?= ?\d| of|,|\.)|\bcentur(?:y|ies)\b|\b\d+ (?:BC|AD|BCE|CE)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\d{1,4} ?[年月日]|世纪/giu;
/** Names within a sentence, or of two words: a single capital at the beginning is any word. */
const name = /(?<=[\p{Ll}\p{N},;:"“(’'] ?)(?<= )\p{Lu}[\p{L}'’-]+|\p{Lu}\p{Ll}+(?= \p{Lu}\p{Ll})|·/gu;

/** The kinds, by the words with which a question asks for them. The first that fits counts. */
const kinds: readonly { readonly asks: RegExp; readonly has: RegExp; readonly required?: boolean }[] = [
  {
    asks: /\bhow much (?:\p{L}+ ){0,6}(?:costs?|charge[ds]?|pay)\b|\b(?:what|which)\b[^?]{0,40}\b(?:prices?|fees?|costs?)\b|多少钱|价格|费用是/iu,
    has: /[$€£¥]\s?\d|\d[\d.,]*\s?(?:USD|EUR|GBP|CNY|dollars?|euros?|pounds?|cents?|元|美元|欧元)\b|\bfree\b|\bno (?:cost|charge)\b|免费|元/giu,
    required: true,
  },
  {
    asks: /\bhow (?:much|many) (?:\p{L}+ )?(?:memory|ram|disk|storage|space|[kmgt]i?b|(?:[kmgt]i?|mega|giga)?bytes)\b|多少(?:[\p{Script=Han}]{0,2})(?:内存|磁盘|存储|空间)/iu,
    has: /\d\s*(?:[KMGTkmgt]i?[Bb]\b|[KMGT]i\b|(?:[Kk]ilo|[Mm]ega|[Gg]iga|[Tt]era)?[Bb]ytes?\b|字节)/gu,
    required: true,
  },
  {
    asks: /\b(?:what|which) (?:\p{L}+ ){0,3}ports?\b(?! of\b)|(?:哪个|什么|哪些)端口|端口(?:号)?是/iu,
    has: /(?<![\d.])\d{2,5}(?![\d.]*\.\d)/gu,
    required: true,
  },
  {
    asks: /\b(?:what|which|from what|since which) (?:\p{L}[\p{L}.]* ){0,4}versions?\b|哪个版本|什么版本/iu,
    has: /\bv?\d+(?:\.\d+)*\b/giu,
    required: true,
  },
  {
    asks: /\bhow (?:many|much|old|far|tall|large|big|high|deep|wide|fast|hot|cold|heavy|often|long(?! (?:as|ago)\b))\b|\bwhat (?:percentage|percent|portion|share|number)\b|\bwhat(?:'s|’s| is| are) the (?:\p{L}+ )?(?:max(?:imum)?|min(?:imum)?|upper limit|limit|longest|largest|highest|smallest)\b|(?:最大|最小|上限|最多|最长)[^?？]{0,20}(?:是|为|多少|几)|多少|几[个次年天种人岁]|多[长久大远高]/iu,
    has: number,
    required: true,
  },
  {
    asks: /\bwhen (?:was|were|did|is|are|has|had|will)\b|\b(?:what|which) (?:year|date|day|month|century|centuries|decade|era|season)s?\b|何时|什么时候|哪一?[年天]|哪个?时期/iu,
    has: time,
  },
  {
    asks: /^(?:\p{L}+ )?(?:who|whose|whom|where)\b|\b(?:what|which) (?:city|country|state|town|continent|river|region|county)\b|谁/iu,
    has: name,
  },
  { asks: /\benv(?:ironment)? ?var(?:iable)?s?\b|环境变量/iu, has: /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/gu },
  {
    asks: /\bdefaults?\b|默认|缺省/iu,
    has: /\bdefaults?\b[^.]*(?:\d|`|"|')|(?:\d|`|"|')[^.]*\bdefaults?\b|\b(?:dis|en)abled by default\b|默认|缺省/giu,
  },
  {
    asks: /\bcommand\b|\binstall\b|命令|安装/iu,
    has: /^[ \t]*`?(?:[$>] )?(?:sudo )?(?:npm|npx|yarn|pnpm|pip3?|python3?|go|docker|kubectl|helm|apt|apt-get|yum|dnf|rpm|dpkg|brew|cargo|dotnet|composer|gem|bundle|curl|wget|git|mix|choco|winget|\w+(?: \w+){0,3} --?\w)/gmu,
  },
  {
    asks: /\bwhat (?:will |would )?happens? (?:when|if|once|after)\b|会怎么?样|会发生什么/iu,
    has: /\b(?:if|when|whenever|once)\b|如果|若|当|一旦/giu,
  },
];

/** The kind that a question asks for; `undefined` for any. */
export function kindAsked(question: string): AskedKind | undefined {
  const own = new Set(terms(question));
  const isNew = (found: string) => {
    const words = terms(found);
    return words.length === 0 || words.some((term) => !own.has(term));
  };
  const kind = kinds.find(({ asks }) => asks.test(question));
  return (
    kind && {
      named: (kind.asks.exec(question)?.[0] ?? "").toLowerCase(),
      required: kind.required ?? false,
      isIn: (text) => (text.match(kind.has) ?? []).some(isNew),
    }
  );
}

/** Whether a question asks how to do something, or for several things, so that all of a passage answers rather than one sentence. */
export function asksForWhole(question: string): boolean {
  return /\b(?:code|command|run|install|example|snippet|how (?:do|can|to|should))\b|\bdiffer|\bversus\b|\b(?:what|which) (?:are|\p{L}+(?: \p{L}+)? (?:are|do|does|has|have|can))\b|\bwhat (?:do|does) .*\b(?:include|contain|consist of|comprise|manage|support)\b|\b(?:values|options|types|kinds|methods|ways|reasons|advantages|disadvantages|benefits|goals|modes|features|steps)\b|命令|代码|安装|示例|如何|怎么|怎样|区别|差[别异]|哪些|哪几|有几/iu.test(
    question,
  );
}
