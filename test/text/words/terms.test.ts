import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eachTerm, NumberedTerms, queryTerms, subjectTerms, termCounts, terms } from "../../../src/text/words/terms.js";
import { simplified } from "../../../src/text/words/simplified-forms.js";
import { wordTerms } from "../../../src/text/words/word-terms.js";
import { hostileText } from "../hostile-text.js";

const unspaced =
  String.raw`[[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}` +
  String.raw`\p{Script=Khmer}\p{Script=Myanmar}\u30fc\uff70\uff9e\uff9f]&&[\p{L}\p{M}]]`;
const letter = String.raw`[[\p{L}\p{N}\p{M}_\u00ad\u200c\u200d\u2060]--${unspaced}]`;
const runs = new RegExp(
  String.raw`(?<pairs>${unspaced}+)|(?<word>(?![\u{10000}-\u{10ffff}])${letter}(?:\+\+|#)(?!${letter})|(?:${letter}|(?<=${letter})[.'’](?=${letter})|(?<=[0-9]),(?=[0-9]))+)`,
  "gv",
);

/** The same terms by regular expressions, one slice at a time. */
function slowTerms(text: string): string[] {
  return [...text.matchAll(runs)].flatMap(({ groups = {} }) => {
    const { pairs, word } = groups;
    if (pairs === undefined) return wordTerms(word!);
    const written = /[\uff66-\uff9f]/.test(pairs) ? pairs.normalize("NFKC") : pairs;
    const characters = Array.from(written).map((character, at, all) => character + (all[at + 1] ?? ""));
    return (characters.length > 1 ? characters.slice(0, -1) : characters).map((term) =>
      simplified(term.normalize("NFKC")),
    );
  });
}

describe("terms", () => {
  test("in English are lower-case stems without stop words", () => {
    expect(terms("The Foxes were jumping over the lazy dogs")).toEqual(["fox", "were", "jump", "over", "lazi", "dog"]);
  });

  test("of an identifier are itself and its parts", () => {
    expect(terms("OTEL_TRACES_SAMPLER")).toEqual(["otel_traces_sampler", "otel", "trace", "sampler"]);
    expect(terms("parentbased_traceidratio")).toEqual(["parentbased_traceidratio", "parentbas", "traceidratio"]);
    expect(terms("server.listenPort")).toEqual(["server.listenport", "server", "listenport", "listen", "port"]);
    expect(terms("HTTPServer")).toEqual(["httpserver", "http", "server"]);
  });

  test("of a word with digits are itself, and of a version also its number", () => {
    expect(terms("b2b W4ax Base64 v12 V2 v2x va2")).toEqual("b2b w4ax base64 v12 12 v2 2 v2x va2".split(" "));
  });

  test("of an identifier match its parts and itself in any case", () => {
    expect(terms("otel_traces_sampler")).toEqual(terms("OTEL_TRACES_SAMPLER"));
    expect(terms("OTEL_TRACES_SAMPLER")).toEqual(expect.arrayContaining(terms("traces sampler")));
  });

  test("keep a word with inner capitals whole if a part would not be a word", () => {
    expect(terms("mRNA RNAs iOS")).toEqual(["mrna", "rna", "io"]);
  });

  test("in prose are one a word, with any hyphens, emphasis or punctuation", () => {
    expect(terms("_Fast_, state-of-the-art search. It's the dog's own!")).toEqual([
      "fast",
      "state",
      "art",
      "search",
      "dog",
      "own",
    ]);
  });

  test("keep numbers and versions", () => {
    expect(terms("a1,x x,1b")).toEqual(["a1", "x", "x", "1b"]);
    expect(terms("10,000 rows, 3.14, v1.2.3, 404 and 1,2")).toEqual([
      "10000",
      "row",
      "3.14",
      "v1.2.3",
      "1.2.3",
      "404",
      "1,2",
    ]);
  });

  test("keep the signs of one-letter names", () => {
    expect(terms("C++ and C# or F#.")).toEqual(["c++", "c#", "f#"]);
    expect(terms("a #tag")).toEqual(["tag"]);
  });

  test("in Chinese are those of simplified characters, whatever a text is written in", () => {
    expect(terms("語義約定")).toEqual(["语义", "义约", "约定"]);
    expect(terms("語義約定")).toEqual(terms("语义约定"));
    expect([...queryTerms("語義約定是什麼？")]).toEqual([...queryTerms("语义约定是什么？")]);
    expect(subjectTerms("請問遙測怎麼設置")).toEqual(subjectTerms("请问遥测怎么设置"));
    expect(terms("髮 龍")).toEqual(["发", "龙"]);
  });

  test("in Japanese are pairs of kana and of kanji in their usual width, and words of other letters", () => {
    expect(terms("データ")).toEqual(["デー", "ータ"]);
    expect(terms("ﾃﾞｰﾀ")).toEqual(terms("データ"));
    expect(terms("ﾊﾟｽﾜｰﾄﾞの変更")).toEqual(terms("パスワードの変更"));
    expect(terms("ＡＰＩキーの期限")).toEqual(["api", "キー", "ーの", "の期", "期限"]);
    expect(terms("東京で")).toEqual(["东京", "京で"]);
    expect(terms("ｶ")).toEqual(["カ"]);
  });

  test("in Chinese are overlapping pairs, and characters that stand alone", () => {
    expect(terms("使用OTLP导出器。年")).toEqual(["使用", "otlp", "导出", "出器", "年"]);
    expect(terms("𠀀𠀁𠀂")).toEqual(["𠀀𠀁", "𠀁𠀂"]);
  });

  test("do not depend on how a character was typed", () => {
    expect(terms("ＡＢＣ e\u0301te\u0301 don’t re\u00adtry")).toEqual(terms("abc été don't retry"));
  });

  test("do not exist for stop words and punctuation", () => {
    expect(terms("to be or not to be")).toEqual([]);
    expect(terms("❤️ --- ___ \ud800 👩‍👩‍👧")).toEqual([]);
  });

  test("stay short, whatever the text", () => {
    const text = `${"x".repeat(100_000)} ${"a.".repeat(100_000)} ${"_".repeat(100_000)} ${"aB".repeat(50_000)}`;
    expect(Math.max(...terms(text).map(({ length }) => length))).toBeLessThanOrEqual(128);
  });

  test("of compatibility letters are their ordinary forms, beside ordinary ones too", () => {
    for (const text of ["ぁㄱ", "ㄱぁ", "ゟ", "漢ヿ"]) expect(terms(text)).toEqual(slowTerms(text));
    expect(terms("ぁㄱ")).toEqual(["ぁ\u1100"]);
  });

  test("of plain letters, which take a short way, are those that the long way finds", () => {
    const plainWord = fc.oneof(
      fc.constantFrom("the", "The", "a", "running", "V"),
      fc.stringMatching(/^[A-Za-z][a-z]*$/),
    );
    fc.assert(
      fc.property(plainWord, (word) => {
        // A possessive has the terms of its word.
        expect(wordTerms(word)).toEqual(wordTerms(`${word}'s`));
      }),
    );
  });

  test("are those that regular expressions find", () => {
    fc.assert(
      fc.property(hostileText(), (text) => {
        expect(terms(text)).toEqual(slowTerms(text));
      }),
    );
  });
});

test("numbered terms are the same terms, for repeated words too", () => {
  const known: string[] = [];
  const words = new NumberedTerms((term) => (known.includes(term) ? known.indexOf(term) : known.push(term) - 1));
  const piece = fc.oneof(
    fc.constantFrom(
      "OTEL_TRACES_SAMPLER",
      "server.listenPort",
      "the",
      "running",
      "10,000",
      "v1.2",
      "检索增强生成",
      "C++",
      "_",
    ),
    fc.string({ maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join(" ");
      const told: number[] = [];
      words.each(text, (number) => {
        told.push(number);
      });
      expect(told.map((number) => known[number])).toEqual(terms(text));
    }),
  );
});

describe("queryTerms", () => {
  /** The terms that count in full. */
  const full = (question: string) => [...queryTerms(question)].flatMap(([term, weight]) => (weight >= 1 ? [term] : []));

  test.each([
    ["什么是 span？", "span"],
    ["跨度是什么？", "跨度"],
    ["请问如何配置采样器呢？", "配置采样器"],
    ["为什么队列满了？", "队列满"],
    ["能否关闭日志吗", "关闭日志"],
    ["队列的长度", "队列 长度"],
    ["What is a span, and how does it end?", "span end"],
    ["which of these should I cache", "cache"],
    ["吗啡与呢绒价格", "吗啡 呢绒价格"],
  ])("%s asks for its subject, and for its other words less", (question, subject) => {
    expect(full(question)).toEqual(terms(subject));
    const all = queryTerms(question);
    for (const term of terms(question)) expect(all.get(term)).toBeGreaterThan(0);
    for (const [term, weight] of all) if (!terms(subject).includes(term)) expect(weight).toBeLessThan(1);
  });

  test("a word that stands there twice counts twice", () => {
    expect([...queryTerms("cache the cache of caches when when")]).toEqual([
      ["cach", 3],
      ["when", 0.5],
    ]);
  });

  test.each(["何を検索しますか、誰が", ""])("%s counts every term in full", (text) => {
    expect(queryTerms(text)).toEqual(termCounts(text));
  });

  test("no character is paired across a question word as a word of the subject", () => {
    expect(full("检索是什么原理")).toEqual(terms("检索 原理"));
  });
});

test.each([
  ["what causes the lag of a queue", ["caus", "lag", "queue"]],
  ["这个队列为什么满了", ["个队", "队列"]],
  ["who is who", ["who", "who"]],
  ["how to search", ["how", "search"]],
])("%s has these terms in a row", (question, expected) => {
  expect(subjectTerms(question)).toEqual(expected);
});

test("a visitor may read the terms of another text meanwhile", () => {
  const text = "Spans are exported in batches, 批量导出跨度, by the collector. ".repeat(20);
  const found: string[] = [];
  eachTerm(text, (term) => {
    found.push(term);
    terms("something else that is longer than what is left of the text ".repeat(40));
  });
  expect(found).toEqual(terms(text));
});
