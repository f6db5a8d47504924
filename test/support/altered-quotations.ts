import { sentences } from "../../src/text/blocks/sentences.js";
import { quotableTexts, type QuotableText } from "./quotable-texts.js";
import { seededRandom } from "./seeded-random.js";

/** A quotation that says something else than its text. */
export interface AlteredQuotation extends QuotableText {
  readonly kind: string;
  readonly quote: string;
}

/** A quotation that says what its text says, in other typography, markup and white space. */
export interface TrueQuotation extends QuotableText {
  readonly quote: string;
}

type Alter = (
  sentence: string,
  next: string | undefined,
  pick: <Item>(of: readonly Item[]) => Item,
) => readonly string[];

/** A word that no list can hold. */
const invented = ["gleeped", "vorned", "snaft", "quibbles", "drunts", "mavers"];

const turns: readonly (readonly [RegExp, string])[] = [
  [/ not /gu, " "],
  [/ (?:never|hardly ever|only) /gu, " "],
  [/n['’]t /gu, " "],
  [/\bcannot\b/gu, "can"],
  [/\bnon-/giu, ""],
  [/\bunsafe\b/gu, "safe"],
  [/\bNo(?:body)? /gu, "Some "],
  [/(?:不得|不可以|不能|无法)/gu, "可以"],
  [/[不未非无没](?=[\p{Script=Han}])/gu, ""],
  [/(?:禁止|拒绝)/gu, "允许"],
  [/ (?:nicht|mitnichten|nur) /gu, " "],
  [/ (?:pas|jamais) /gu, " "],
  [/n'(?=[a-zé])/gu, ""],
  [/ no /gu, " "],
  [/δεν /gu, ""],
  [/ (?:asla|ποτέ) /gu, " "],
  [/できません/gu, "できます"],
  [/行わない/gu, "行う"],
];

const others: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\bmust not\b|\bmay\b|\bshould\b|\bshall\b/gu, ["must", "might", "need not"]],
  [/\b(?:all|every|each|most)\b/giu, ["some", "no"]],
  [/\b(?:fewer|more|less)\b/giu, ["about", "exactly"]],
  [/\b(?:under|below)\b/gu, ["over", "above"]],
  [/\b(?:before|after)\b/gu, ["during"]],
  [/\bunless\b|\bexcept\b|\bprovided that\b/gu, ["if", "even if"]],
  [/\b(?:allowed|free)\b/gu, ["forbidden", "billed"]],
  [/\bforbidden\b|\bprohibited\b|\brefused\b|\bdenies\b/gu, ["allowed", "granted", "accepts"]],
  [/应当|必须|须/gu, ["可以", "无需"]],
  [/每位|每月|均/gu, ["有些", "偶尔"]],
  [/超过/gu, ["低于"]],
  [/可以/gu, ["必须"]],
  [/verboten|interdits|prohibidas|yasaktır|Απαγορεύονται/gu, ["erlaubt", "permis", "permitidas", "serbesttir"]],
  [/拒否/gu, ["承諾"]],
];

/** All results of replacing one match of a pattern. */
function replacing(text: string, pattern: RegExp, by: string | ((found: string) => string)): string[] {
  return [...text.matchAll(pattern)].map(
    ({ 0: found, index }) =>
      text.slice(0, index) + (typeof by === "string" ? by : by(found)) + text.slice(index + found.length),
  );
}

const digits = /(?<![\p{L}\d])\d[\d.,]*/gu;

const kinds: Readonly<Record<string, Alter>> = {
  "another number": (sentence) =>
    replacing(sentence, digits, (found) => found.replace(/\d/u, (digit) => `${(Number(digit) + 3) % 9 || 1}`)),
  "a number cut at its start": (sentence) =>
    [
      ...sentence.matchAll(
        /\d(?=[\d.,]*\d)[.,]?|[−-](?=\d)|\$(?=\d)|[一二三四五六七八九]?十(?=[一二三四五六七八九])|百分之|零下|[二三]百|百分の|(?<!\p{L})(?:hundred and|vingt et|ciento|treinta y|εκατόν|yüz|on(?= yedi)) (?=\p{L})|two and (?=a half)|1 (?=1\/2)/gu,
      ),
    ].map(({ 0: found, index }) => sentence.slice(index + found.length)),
  "a number cut at its end": (sentence) =>
    [
      ...sentence.matchAll(
        /\d(?=[.,]?\d)|\d(?= ?[%°])|[十百](?=[一二三四五六七八九十])|hundred(?= and)|two(?= and a half)|vingt(?= et)|ciento(?= c)|εκατόν(?= π)|yüz(?= b)/gu,
      ),
    ].map(({ 0: found, index }) => sentence.slice(0, index + found.length)),
  "a sign": (sentence) => [
    ...replacing(sentence, /!==?/gu, "="),
    ...replacing(
      sentence,
      /(?<= |\(|`)!(?=\w)|(?<= |`)--?(?=\w)|[−±](?=\d)|(?<=[AB])[-+]|(?<=\d ?)[%°]|[$*](?=\w)|(?<= )\.(?=env)|\*\* ?|[⁻³]/gu,
      "",
    ),
    ...replacing(sentence, />/gu, "<"),
    ...replacing(sentence, /\+=/gu, "-="),
    ...replacing(sentence, /e-3/gu, "e3"),
  ],
  "the case of a unit, acronym or name": (sentence) => [
    ...replacing(sentence, /(?<=\d ?)mW/gu, "MW"),
    ...replacing(sentence, /(?<=\d ?)(?:MB|GB)/gu, (unit) => `${unit[0]}b`),
    ...replacing(sentence, /(?<=\d ?)(?:mg|km|V|W|m)(?![\p{L}])/gu, (unit) =>
      /[a-z]/u.test(unit[0]!) ? unit[0]!.toUpperCase() + unit.slice(1) : unit.toLowerCase(),
    ),
    ...replacing(sentence, /(?<= )(?:US|IT|EU)(?= )/gu, (name) => name.toLowerCase()),
    ...replacing(sentence, /max_tokens/gu, "MAX_TOKENS"),
    ...replacing(sentence, /(?<=[a-z] )(?:we|it|us)(?= )/gu, (word) => word.toUpperCase()),
  ],
  "a negation left out": (sentence) => turns.flatMap(([pattern, by]) => replacing(sentence, pattern, by)),
  "a negation put in": (sentence) => [
    ...replacing(sentence, / (?:is|are|may|was|can|pays?|gets?) /gu, (word) => `${word}not `),
    ...replacing(sentence, /可以|应当|享有|支持/gu, (word) => `不${word}`),
    ...replacing(sentence, / (?:darf|peut|puede|είναι) /gu, (word) => `${word}nicht `),
  ],
  "another modal, quantifier or condition": (sentence, _next, pick) =>
    others.flatMap(([pattern, by]) => replacing(sentence, pattern, () => pick(by))),
  "words left out without a mark": (sentence, _next, pick) => {
    const words = sentence.split(" ");
    if (words.length >= 5) {
      const at = 1 + pick([...words.slice(2).keys()]);
      return [words.toSpliced(at, 1).join(" ")];
    }
    const at = 3 + pick([0, 1, 2, 3]);
    return sentence.length > 12 && /\p{Script=Han}/u.test(sentence)
      ? [sentence.slice(0, at) + sentence.slice(at + 2)]
      : [];
  },
  "words that turn left out with a mark": (sentence) => [
    ...[
      ...sentence.matchAll(
        / (?:(?:is|are|was|may|must|should|can|does|do|at|in|for|the|of) )?(?:not|never|only|hardly ever|refused|failed to|denies|unless|except|provided that|rejected|prohibited|forbidden|at least|more than|without|most|between|but|none) (?:\w+ )?/gu,
      ),
    ].map(({ 0: found, index }) => `${sentence.slice(0, index)} … ${sentence.slice(index + found.length)}`),
    ...replacing(sentence, /(?:不得|不可以|禁止|拒绝|未经|应当|没有|无权|只有|不超过|须)/gu, "……"),
    ...replacing(
      sentence,
      / (?:mitnichten|nicht mehr als|nur|n'a pas|refusé de|sauf accord|no puede|se negó a|δεν|αρνήθηκε να|ποτέ δεν|asla|kabul etmedi|ohne Grund|darf|peut|puede) ?/gu,
      " … ",
    ),
    ...replacing(sentence, /拒否し|できませ|行わない/gu, "…"),
  ],
  "a verb of no list left out with a mark": (sentence, _next, pick) => {
    const places = [...sentence.matchAll(/(?<=\p{L}{3}) (?=\p{Ll}{3})/gu)];
    if (places.length < 4) return [];
    const at = pick(places.slice(1, -2)).index;
    return [`${sentence.slice(0, at)} … ${sentence.slice(at + 1)}`].map((quote) => `${quote}\u0000${pick(invented)}`);
  },
  "two sentences joined": (sentence, next) =>
    next === undefined || !/[.。]$/u.test(sentence)
      ? []
      : [
          `${sentence.slice(0, -1)} ${next}`,
          `${sentence.slice(0, -1)}, ${next[0]!.toLowerCase()}${next.slice(1)}`,
          `${sentence.slice(0, -1)} and ${next}`,
        ],
  "two sentences spliced with a mark": (sentence, next) => {
    if (next === undefined) return [];
    if (!sentence.includes(" ")) return [`${sentence.slice(0, 6)}……${next.slice(-7)}`];
    const [start, end] = [sentence.split(" ").slice(0, 3), next.split(" ").slice(-3)];
    return [`${start.join(" ")} … ${end.join(" ")}`, `${start.join(" ")} [...] ${end.join(" ")}`];
  },
  "an end put in": (sentence) =>
    [...sentence.matchAll(/(?<=\p{L}{3}),? (?=\p{Ll}{2})|，/gu)]
      .slice(0, 3)
      .map(({ index }) => `${sentence.slice(0, index)}${/\p{Script=Han}/u.test(sentence) ? "。" : "."}`),
  "a statement made a question": (sentence) => (/[.。]$/u.test(sentence) ? [`${sentence.slice(0, -1)}?`] : []),
  "words in another order": (sentence, _next, pick) => {
    const words = sentence.split(" ");
    if (words.length < 6) return [];
    const at = pick([...words.slice(3).keys()]);
    if (words[at] === words[at + 2]) return [];
    return [
      words
        .with(at, words[at + 2]!)
        .with(at + 2, words[at]!)
        .join(" "),
    ];
  },
  "a word cut": (sentence) =>
    [...sentence.matchAll(/\b[Nn]on-(?=\p{L})|part-(?=time)|n['’](?=a pas|est)|[未非不无](?=[成会可得权能支])/gu)].map(
      ({ 0: found, index }) => sentence.slice(index + found.length),
    ),
  "struck-out words": (sentence) =>
    [...sentence.matchAll(/~~(.+?)~~/gu)].flatMap(({ 0: found, 1: struck, index }) => [
      struck!,
      `${sentence.slice(0, index)}${struck!}${sentence.slice(index + found.length).replace(/^ ?\p{L}+|^ ?\d+/u, "")}`,
      sentence.replaceAll("~~", ""),
    ]),
};

/** Every alteration of every kind that the texts admit, each once. */
export function alteredQuotations(seed: number): AlteredQuotation[] {
  const random = seededRandom(seed);
  const pick = <Item>(of: readonly Item[]) => of[Math.floor(random() * of.length)]!;
  const found = new Map<string, AlteredQuotation>();
  for (const { language, text } of quotableTexts) {
    const spans = sentences(text);
    for (const [index, { start, end }] of spans.entries()) {
      const sentence = text.slice(start, end).replace(/^(?:#+|-) /u, "");
      const following = spans[index + 1];
      const next =
        following && !/\n/u.test(text.slice(end, following.start))
          ? text.slice(following.start, following.end)
          : undefined;
      for (const [kind, alter] of Object.entries(kinds)) {
        for (const altered of alter(sentence, next, pick)) {
          const [quote, verb] = altered.split("\u0000") as [string, string?];
          // A verb that no list holds is put into the text where the quote leaves words out.
          const own = verb === undefined ? text : text.replace(sentence, quote.replace("…", `${verb} to`));
          if (
            quote.trim() === sentence.trim() ||
            (kind !== "struck-out words" && !/cut/u.test(kind) && own.includes(quote))
          )
            continue;
          // Shorter ones, and those that merely end early, stand there.
          if (!/[\p{L}\p{N}]/u.test(quote) || /^\P{L}*\p{L}+\.$|… ?\.?$|^\|/u.test(quote)) continue;
          found.set(`${kind} ${quote}`, { language, text: own, kind, quote: quote.trim() });
        }
      }
    }
  }
  return [...found.values()];
}

const typography: readonly ((quote: string, random: () => number) => string)[] = [
  (quote) => quote,
  (quote) => quote.replace(/ /gu, () => "\u00a0"),
  (quote) => quote.replace(/ (?=\p{L})/gu, "\n"),
  (quote) => quote.replace(/ (?=\p{L})/gu, "  "),
  (quote) => quote.replace(/[’]/gu, "'").replace(/[“”]/gu, '"'),
  (quote) => quote.replace(/(?<=\p{L})'(?=\p{L})/gu, "’"),
  (quote) => quote.replace(/ — /gu, " – "),
  (quote) => quote.replace(/ — /gu, "—"),
  (quote) => quote.replace(/−/gu, "-"),
  (quote) => quote.replace(/(?<=\p{L})-(?=\p{L})/gu, "\u2011"),
  (quote) => quote.normalize("NFD"),
  (quote) => quote.replace(/fi/gu, "ﬁ"),
  (quote) => quote.replace(/(?<=\p{Ll}{3})(?=\p{Ll}{3})/u, "\u00ad"),
  (quote) =>
    quote.replace(/(?<![\d\p{L}])\d+(?![\d\p{L}])/u, (number) =>
      number.replace(/\d/gu, (digit) => String.fromCodePoint(digit.codePointAt(0)! + 0xfee0)),
    ),
  (quote) => quote.replace(/，/gu, ",").replace(/。/gu, "."),
  (quote) => quote.replace(/(?<=\p{Script=Han})，/gu, "， "),
  (quote) => quote.replace(/(?<=[\p{Script=Han}])(?=[\p{Script=Han}])/u, "\n"),
  (quote) => quote.replaceAll("`", "").replaceAll("**", ""),
  (quote) => quote.replace(/(?<![\p{L}\d_`*])\p{L}{4,}(?![\p{L}\d_`*/])/u, (word) => `**${word}**`),
  (quote) => quote.replace(/(?<![\p{L}\d_`*'’-])\p{L}{4,}(?![\p{L}\d_`*'’/-])/u, (word) => `*${word}*`),
  (quote) => quote.replace(/^\p{L}(?=\p{Ll})/u, (letter) => letter.toLowerCase()),
  (quote) => quote.replace(/^\p{Ll}(?=\p{Ll})/u, (letter) => letter.toUpperCase()),
  (quote) => `“${quote}”`,
  (quote) => quote.replace(/[.。]$/u, ""),
  (quote) => `… ${quote} …`,
];

/** Quotations of whole sentences, neighbours and parts of sentences, evened out or dressed up in up to three ways. */
export function trueQuotations(seed: number, count: number): TrueQuotation[] {
  const random = seededRandom(seed);
  const pick = <Item>(of: readonly Item[]) => of[Math.floor(random() * of.length)]!;
  const made: TrueQuotation[] = [];
  while (made.length < count) {
    const { language, text } = pick(quotableTexts);
    const spans = sentences(text);
    const index = Math.floor(random() * spans.length);
    const { start, end } = spans[index]!;
    const neighbour = spans[index + 1];
    const isPair = random() < 0.2 && neighbour && !text.slice(end, neighbour.start).includes("\n");
    const whole = text.slice(start, isPair ? neighbour.end : end);
    const quote = random() < 0.5 ? whole : partOf(whole, pick);
    if (/~~|```/u.test(quote) || /^js$/u.test(quote) || !/\p{L}{2}/u.test(quote)) continue;
    const changes = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(typography));
    made.push({ language, text, quote: changes.reduce((changed, change) => change(changed, random), quote) });
  }
  return made;
}

/** A part of a sentence from the border of a word to another, where no number or sign is near. */
function partOf(sentence: string, pick: <Item>(of: readonly Item[]) => Item): string {
  const borders = [...sentence.matchAll(/(?<=\p{L}{2}),? (?=\p{L}{2})|[，；]/gu)]
    .filter(
      ({ index }) =>
        !/\d|and|half|hundred|yüz|on|et|ciento|treinta|vingt|εκατόν/u.test(
          sentence.slice(Math.max(0, index - 6), index + 5),
        ),
    )
    .map(({ 0: found, index }) => [index, index + found.length] as const);
  if (borders.length < 2) return sentence;
  const first = pick(borders.slice(0, -1));
  const last = pick(borders.filter(([index]) => index > first[1]));
  return sentence.slice(pick([0, first[1]]), last[0]);
}
