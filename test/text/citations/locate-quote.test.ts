import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quoteLocator } from "../../../src/text/citations/locate-quote.js";
import { printedText } from "../../../src/text/citations/printed-tokens.js";

const text = `# Keys

An **API key** expires after 90 days. It can’t be renewed — create a
new one under [Settings](https://example.org/settings) and store it safely.

密钥在创建后
九十天内有效，不能续期。The café’s price is 1,500 € per year.`;

/** How a text has the words of a claim, and its own words there. */
function found(claim: string, whole = text) {
  const at = quoteLocator(whole)(claim);
  return at && [at.support, whole.slice(at.start, at.end)];
}

describe("a quote", () => {
  test.each([
    ["An **API key** expires", "exact", "An **API key** expires"],
    ["an API key expires after 90 days", "normalised", "An **API key** expires after 90 days"],
    ["It can't be renewed - create a new one", "normalised", "It can’t be renewed — create a\nnew one"],
    ["under Settings and store it", "normalised", "under [Settings](https://example.org/settings) and store it"],
    ["under  [Settings](https://example.org/settings)", "normalised", "under [Settings](https://example.org/settings)"],
    ["密钥在创建后九十天内有效,不能续期", "normalised", "密钥在创建后\n九十天内有效，不能续期"],
    ["The cafe\u0301's price is 1,500 €", "normalised", "The café’s price is 1,500 €"],
    ["# Keys", "exact", "# Keys"],
    ["# KEYS", "normalised", "Keys"],
    ["… an API key expires after 90 days...", "normalised", "An **API key** expires after 90 days"],
    ["create a new one [...] store it safely", "normalised", text.slice(68, 151)],
  ])("%j is found: %s", (claim, support, own) => {
    expect(found(claim)).toEqual([support, own]);
  });

  test("is found whole that begins with a sign which is no markup there", () => {
    const whole = "Few know it. #P is a class of counting problems. C#7 is older than F#4.";
    expect(found("#P is a class of counting problems", whole)).toEqual(["exact", "#P is a class of counting problems"]);
    expect(found("#P is a  class of counting problems", whole)?.[0]).toBe("normalised");
    expect(found("#p is a class of counting problems", whole)?.[0]).not.toBe("normalised");
  });

  test.each([
    ["An API key expires after 30 days. It can't be renewed", "another number"],
    ["密钥在创建后九十天内有效，能续期", "a dropped negation"],
    ["An API key expires after 90 days. It can be renewed", "a dropped negation"],
    ["An API key expires … It … be renewed", "an ellipsis in place of a negation"],
    ["An API key … can't be renewed", "an ellipsis over the end of a sentence"],
    ["An API key … be renewed", "an ellipsis in place of a negation"],
    ["The cafe's price is 1,500 €", "a dropped accent"],
    ["under [Settings](https://evil.example) and store it", "another link target"],
    ["expires after ninety-odd 90 days it can't be renewed", "words between"],
    ["days expire key API an after 90", "another order"],
    ["# An API key expires after 90 days", "a heading that is none"],
    ["An API key expires after 90 days … It can't be renewed", "an ellipsis over nothing but the end of a sentence"],
    ["be renewed", "a beginning behind its denial"],
    ["续期。The café", "a beginning behind 不能"],
  ])("%j is at most near: %s", (claim) => {
    expect(["near", undefined]).toContain(found(claim)?.[0]);
  });

  test.each([
    ["Keys are renewed by the administrator every month", "other words"],
    ["pire", "part of a word"],
    ["", "nothing"],
    ['… " !', "punctuation alone"],
  ])("%j is not found: %s", (claim) => {
    expect(found(claim)).toBeUndefined();
  });
});

describe("words that change the sense are never supported", () => {
  test.each([
    ["Employees get 27 days in year 12", "Employees get 12 days in year 27", "numbers are swapped"],
    ["The first month of leave is paid in full", "The first month of leave is unpaid in full", "unpaid for paid"],
    [
      "The licence grants all use by any third party",
      "The licence forbids all use by any third party",
      "forbids for grants",
    ],
    ["You may cancel the plan within a year", "You may cancel the plan within a month", "a month for a year"],
    ["The tank holds 40 litres of fuel at most", "The tank holds 40 gallons of fuel at most", "another unit"],
    ["密钥在一年后失效，需要重新申请", "密钥在一个月后失效，需要重新申请", "一个月 for 一年"],
    ["本产品没有保修服务，请注意", "本产品有保修服务，请注意", "没有 lost"],
    ["会员可以转让密钥给其他人", "会员不可以转让密钥给其他人", "不 added"],
    ["每位员工有27天年假，满12年后增加", "每位员工有12天年假，满27年后增加", "numbers swapped in Chinese"],
    ["The area is 10² metres", "The area is 102 metres", "a power"],
    ["Wait 2½ hours before use", "Wait 21⁄2 hours before use", "a fraction"],
    ["It holds where x ≠ 5 in all cases", "It holds where x = 5 in all cases", "a struck sign"],
    ["Store it at -5 degrees or less", "Store it at 5 degrees or less", "a lost minus"],
    ["from 7 - 5 of them", "from 7 5 of them", "a lost minus between numbers"],
    ["The rows |5|0| are equal", "The rows 50 are equal", "cells of a table"],
    ["multiply 2*3 and add", "multiply 23 and add", "a product"],
    ["It is a ?? b by default", "It is a ? b by default", "another operator"],
    ["You must never share keys", "share keys", "a beginning behind never"],
    ["Rauchen ist hier nicht erlaubt", "erlaubt", "a beginning behind nicht"],
    ["申请不得晚于五月十日提交", "晚于五月十日提交", "a beginning behind 不得"],
    ["严禁携带食品入内", "携带食品入内", "a beginning behind 严禁"],
    ["It is 5′ long", "It is 5″ long", "feet and inches"],
    ["Он мой друг", "Он мои друг", "another letter in Cyrillic"],
    ["が好きです", "か好きです", "a voiced sound"],
    ["เขาไม่ไป", "เขาไมไป", "a tone mark"],
  ])("%j does not support %j: %s", (whole, claim) => {
    expect(found(whole, whole)?.[0]).toBe("exact");
    expect(["near", undefined]).toContain(found(claim, whole)?.[0]);
  });

  test.each([
    ["500 euros", "It costs 1,500 euros"],
    ["500 euros", "It costs 1 500 euros"],
    ["5 percent", "It costs 1.5 percent"],
    ["5 degrees", "at -5 degrees"],
    ["12 days", "10-12 days"],
    ["a rate of 5", "a rate of 5% a year"],
    ["2 hours", "2½ hours"],
    ["It can", "It can't be renewed"],
    ["written in C", "written in C++ and Go"],
    ["smokers may enter", "Only non-smokers may enter"],
    ["pay the cat", "Members pay the category fee."],
    ["PAY the cat", "Members pay the category fee."],
    ["ate the fee", "They debate the fee."],
    ["the 90", "the 900 days"],
    ["the cat.", "the category"],
    ["pay the café", "pay the caféteria"],
    ["the \u{1d400}", "the \u{1d400}\u{1d401}"],
  ])("%j is cut out of a longer word or number in %j", (claim, whole) => {
    expect(["near", undefined]).toContain(found(claim, whole)?.[0]);
  });
});

test("words are found where they stand whole behind a place where they do not", () => {
  const locate = quoteLocator("Members pay the category fee, guests pay the cat.");
  expect(locate("pay the cat")).toEqual({ start: 37, end: 48, support: "exact" });
  expect(locate("Pay the cat")).toEqual({ start: 37, end: 48, support: "normalised" });
  expect(quoteLocator("Pay the CAT, pay the cat.")("pay the cat")).toEqual({ start: 13, end: 24, support: "exact" });
});

test.each([
  ["the cat", "the cat's tail", "the cat"],
  ["密钥", "新密钥有效", "密钥"],
  ["90天", "有效期为９０天。", "９０天"],
  ["5 kg of rice", "It takes 5kg of rice.", "5kg of rice"],
  ["5kg of rice", "It takes 5 ㎏ of rice.", "5 ㎏ of rice"],
  ["unpaid leave", "All **un**paid leave", "un**paid leave"],
  ["straße und stra\u00adße", "STRASSE UND STRASSE", "STRASSE UND STRASSE"],
  ["the file ﬁts", "The file fits", "The file fits"],
  ["max_tokens is 5", "`max\\_tokens` is 5", "`max\\_tokens` is 5"],
  ["2019–2020", "in 2019 - 2020 they", "2019 - 2020"],
  ["first second", "> first\n> second", "first\n> second"],
  ["ガス", "ｶﾞｽを使う", "ｶﾞｽ"],
])("%j is typographically the same as words of %j", (claim, whole, own) => {
  expect(found(claim, whole)?.[1]).toBe(own);
});

describe("an ellipsis", () => {
  const about = (words: string) => `The keys of the house, which ${words}, belong to the owner`;
  const quote = "The keys of the house … belong to the owner";

  test.each([
    ["The keys in the vault belong to the owner", "The keys … belong to the owner"],
    ["Create a new one under Settings and store it safely", "Create a new one [...] store it safely"],
    [about("stand in the book"), quote],
    ["The clerk (a cousin of the king) has the key and the lock", "The clerk (…) has the key"],
    ["本公司，包括分公司，承担责任", "本公司……承担责任"],
  ])("in %j may leave out a phrase of place, or a remark that is set off: %j", (whole, claim) => {
    expect(found(claim, whole)?.[0]).toBe("normalised");
  });

  test("stands for at most 40 words", () => {
    const long = (count: number) => about("sit on the red ".repeat(20).split(" ").slice(0, count).join(" "));
    expect(found(quote, long(39))?.[0]).toBe("normalised");
    expect(found(quote, long(40))?.[0]).not.toBe("normalised");
  });

  test.each([
    "not",
    "never",
    "without",
    "isn’t",
    "refuse to",
    "rarely",
    "if",
    "only",
    "may",
    "most",
    "two",
    "5",
    "disable",
  ])("never stands for %j", (turning) => {
    expect(found(quote, about(`${turning} stand there`))?.[0]).not.toBe("normalised");
    const whole = `The leave of the staff is ${turning} paid in full`;
    expect(found("The leave of the staff is … paid in full", whole)?.[0]).not.toBe("normalised");
  });

  test.each([
    ["本公司，包括拒绝付款的分公司，承担责任", "本公司……承担责任", "拒绝"],
    ["本公司，经股东同意，承担责任", "本公司……承担责任", "a condition"],
    [
      "The council approves the budgets and the mayor signs the contracts",
      "The council … signs the contracts",
      "a subject",
    ],
    ["The old dog chased the black cat", "The old … black cat", "a verb of no list"],
    ["The bank gleeps to pay the claim and the rest", "The bank … pay the claim", "a verb that nobody knows"],
    ["Der Mieter in der Wohnung zahlt die Miete", "Der Mieter … zahlt die Miete", "anything in an unknown language"],
    [
      "Le locataire, qui habite la maison, paie le loyer",
      "Le locataire … paie le loyer",
      "anything in an unknown language",
    ],
    [
      "The keys of the house stand. In the vault of the owner it is dark",
      "The keys of the house … of the owner",
      "the end of a sentence",
    ],
    [
      "- The keys of the house\n- In the vault of the owner",
      "The keys of the house … of the owner",
      "the end of an item",
    ],
  ])("of %j does not make %j: it leaves out %s", (whole, claim) => {
    expect(["near", undefined]).toContain(found(claim, whole)?.[0]);
  });

  test("has at least two words on either side, in order, and at most eight parts", () => {
    const whole = "Keys in the vault belong to the owner";
    expect(found("Keys … belong to the owner", whole)?.[0]).not.toBe("normalised");
    expect(found("belong to the owner … Keys in the vault", whole)?.[0]).not.toBe("normalised");
    const parts = (count: number) => Array.from({ length: count }, (_, at) => `a${at}x b${at}y`);
    expect(found(parts(8).join(" … "), parts(8).join(" "))?.[0]).toBe("normalised");
    expect(found(parts(9).join(" … "), parts(9).join(" "))?.[0]).not.toBe("normalised");
  });

  test("goes on from the last place where the words before it stand", () => {
    const whole = `the key is not here. the key in the vault is the owner's`;
    expect(found("the key … is the owner's", whole)).toEqual(["normalised", "the key in the vault is the owner's"]);
  });
});

describe("near", () => {
  test.each([
    ["Your API key expires 90 days after that.", "An **API key** expires after 90 days."],
    ["密钥创建后九十天内有效。", "密钥在创建后\n九十天内有效，不能续期。"],
    ["An API key never expires after 90 days.", "An **API key** expires after 90 days."],
  ])("%j is near the sentence with most of its words", (claim, sentence) => {
    expect(found(claim)).toEqual(["near", sentence]);
  });

  test.each(["The office opens at nine in the morning.", "Yes."])("%j is near nothing", (claim) => {
    expect(found(claim)).toBeUndefined();
  });

  const letter = (at: number) => String.fromCharCode(97 + at);
  const numbered = (count: number, other = 0) =>
    Array.from({ length: count }, (_, at) =>
      at % 2 === 1 && at < 2 * other ? `other${letter(at)}` : `word${letter(at)}`,
    );

  test.each([
    [5, 2, "near"],
    [10, 4, "near"],
    [15, 6, "near"],
    [4, 2, undefined],
    [10, 5, undefined],
    [7, 3, undefined],
    [12, 5, undefined],
  ])("of %i words, %i are others (at most two fifths may be): %s", (count, other, support) => {
    const whole = `Before it. ${numbered(count).join(" ")}. Behind it.`;
    expect(found(numbered(count, other).join(" "), whole)?.[0]).toBe(support);
  });

  test.each([
    ["The red key soon expires, it opens a door", "The red key expires soon. It opens the blue door."],
    ["Fee of it yearly, the: 1,500 euros", "The yearly fee of it is 1,500 euros."],
  ])("%j is near the whole sentences that have its words, and no others", (claim, sentences) => {
    expect(found(claim, `密钥在创建后有效。${sentences} 续期要申请。`)).toEqual(["near", sentences]);
  });

  test("three words in another order are too few to be near anything, four are enough", () => {
    expect(found("wordb worda wordc", "worda wordb so wordc wordd.")).toBeUndefined();
    expect(found("wordb worda wordd wordc", "worda wordb so wordc wordd.")?.[0]).toBe("near");
  });
});

const words = fc.array(
  fc.constantFrom("key", "Key", "café", "ﬁle", "90", "“so”", "—", "密", "钥", "**x**", "İ", "🙂"),
  {
    minLength: 1,
    maxLength: 25,
  },
);
const spaces = fc.constantFrom(" ", "\n", "  ");

test("any run of whole words is found where a plain search finds it", () => {
  fc.assert(
    fc.property(words, spaces, fc.nat(24), fc.nat(24), (all, space, from, count) => {
      const start = from % all.length;
      const run = all.slice(start, start + 1 + count).join(space);
      fc.pre(/[\p{L}\p{N}]/u.test(run));
      const whole = all.join(space);
      const at = quoteLocator(whole)(run);
      expect(at?.support).toBe("exact");
      expect(whole.slice(at?.start, at?.end)).toBe(run);
    }),
  );
});

const vocabulary = [
  [
    "the",
    "fee",
    "is",
    "paid",
    "unpaid",
    "not",
    "never",
    "grants",
    "forbids",
    "month",
    "year",
    "euros",
    "dollars",
    "may",
  ],
  ["12", "27", "1,500", "3.5", "-5", "20%", "$9", "café", "can't", "can", "no", "all", "schön", "schon", "Σίσυφος"],
  ["不", "没有", "一个月", "一年", "密钥", "有效", "十二", "二十七", "可以", "ガス"],
].flat();
const sentence = fc.array(fc.constantFrom(...vocabulary), { minLength: 5, maxLength: 14 });

test("a quote in which one word is replaced, dropped, added or swapped is never supported", () => {
  const change = fc.constantFrom("replace", "drop", "add", "swap");
  fc.assert(
    fc.property(sentence, change, fc.nat(20), fc.constantFrom(...vocabulary), (own, kind, place, other) => {
      // Within the quote: at its ends a dropped word leaves a shorter quote that is there.
      const at = 1 + (place % (own.length - 2));
      const claim = [...own];
      if (kind === "replace") claim[at] = other;
      else if (kind === "drop") claim.splice(at, 1);
      else if (kind === "add") claim.splice(at, 0, other);
      else [claim[at], claim[0]] = [own[0]!, own[at]!];
      const whole = own.join(" ");
      const bare = (list: readonly string[]) => list.join(" ").replace(/(\p{Script=Han}) (?=\p{Script=Han})/gu, "$1");
      fc.pre(!` ${bare(own)} `.includes(` ${bare(claim)} `) && !bare(own).includes(bare(claim)));
      expect(["near", undefined]).toContain(quoteLocator(`So: ${whole}.`)(claim.join(" "))?.support);
    }),
    { numRuns: 3000 },
  );
});

test("a quote in which only white space, quotation marks, markup or typography differs stays supported", () => {
  const joiner = fc.constantFrom(" ", "  ", " \n", " “", "” ", "\u00a0");
  const variant = fc.constantFrom<(word: string) => string>(
    (word) => word,
    (word) => word.normalize("NFD"),
    (word) => word.replace("'", "’"),
    (word) => word.replace("-", "−"),
    (word) => word.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
    (word) => word.replace(/(?<=[a-z])[a-z]/, (letter) => `\u00ad${letter}`),
    (word) => `**${word}**`,
  );
  fc.assert(
    fc.property(
      sentence,
      fc.array(joiner, { minLength: 14 }),
      fc.array(variant, { minLength: 14 }),
      (own, joiners, variants) => {
        const whole = `So: ${own.join(" ")}.`;
        const claim = own.map((word, at) => variants[at]!(word) + (at < own.length - 1 ? joiners[at]! : "")).join("");
        const at = quoteLocator(whole)(claim);
        expect(["exact", "normalised"]).toContain(at?.support);
        const forms = (part: string) => printedText(part, { cut: true }).tokens.map(({ form }) => form);
        expect(forms(whole.slice(at?.start, at?.end))).toEqual(forms(claim));
      },
    ),
    { numRuns: 3000 },
  );
});

test("every word leads back to its place in the text, whatever the text", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        words.map((all) => all.join(" ")),
        fc.string({ unit: "binary" }),
      ),
      (original) => {
        let end = 0;
        for (const word of printedText(original).tokens) {
          expect(word.end).toBeGreaterThan(word.start);
          expect(word.start >= end || word.joined).toBe(true);
          expect(printedText(original.slice(word.start, word.end)).tokens.map(({ form }) => form)).toContain(word.form);
          ({ end } = word);
        }
      },
    ),
  );
});

const few = fc.array(fc.constantFrom<string[]>("a", "b", "c", "d"), { maxLength: 9 });

test("words are found wherever trying every place finds them", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 6 }), few, (wanted, all) => {
      const places = all.map((_, at) => at).filter((at) => wanted.every((word, index) => all[at + index] === word));
      const at = quoteLocator(all.join(" "))(wanted.join(" "));
      const start = at?.support === "exact" ? at.start : undefined;
      expect(start).toBe(places[0] === undefined ? undefined : 2 * places[0]);
    }),
  );
});

test.each([
  [
    "See the [help desk](https://example.org/desk) for keys.",
    "help desk for keys",
    "[help desk](https://example.org/desk) for keys",
  ],
  ["Set `idle_time` and wait here.", "idle_time and wait here", "`idle_time` and wait here"],
  [
    "Wait here for the [help desk](https://example.org).",
    "here  for the help desk",
    "here for the [help desk](https://example.org)",
  ],
])("the span of words in %s takes a link or code whole", (whole, claim, quote) => {
  const { start, end, support } = quoteLocator(whole)(claim)!;
  expect(support).toBe("normalised");
  expect(whole.slice(start, end)).toBe(quote);
});
