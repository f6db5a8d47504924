import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseQuery } from "../../../src/text/words/query-syntax.js";

describe("parseQuery", () => {
  test.each<[string, string, readonly string[], readonly string[]]>([
    ['trace "parent based" sampler', "trace parent based sampler", ["parent based"], []],
    ["trace -sampler", "trace", [], ["sampler"]],
    ['trace -"parent based" head', "trace head", [], ["parent based"]],
    ["“curly quotes” and „low ones“", "curly quotes and low ones", ["curly quotes", "low ones"], []],
    ["什么是“向量数据库”？ -图", "什么是 向量数据库 ？", ["向量数据库"], ["图"]],
    ["「檢索增強」 －「生成」", "檢索增強", ["檢索增強"], ["生成"]],
    ["key -one,two. three", "key . three", [], ["one,two"]],
    ["a -b -c d", "a d", [], ["b", "c"]],
    ['a -"b"c', "a c", [], ["b"]],
    ["-only -exclusions", "", [], ["only", "exclusions"]],
    ["－「生成」 …", "", [], ["生成"]],
  ])("%s", (text, plain, phrases, not) => {
    expect(parseQuery(text)).toEqual({ plain, phrases, not });
  });

  test.each([
    "well-known state-of-the-art",
    "set --verbose to 2",
    "at -5 degrees",
    "this - or that",
    'a 5" disk and a 3" one',
    'an "open quote',
    '"" and “ ”',
    "-",
    '"',
    "",
  ])("%s has no sign", (text) => {
    expect(parseQuery(text)).toEqual({ plain: text, phrases: [], not: [] });
  });

  test("any input is parsed, and has words to search for unless it is blank or only excludes", () => {
    const piece = fc.constantFrom(
      '"',
      "-",
      "－",
      " ",
      "“",
      "”",
      "「",
      "」",
      "a",
      "bc",
      "检",
      "索",
      "\ud83d",
      "5",
      "\n",
      "'",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(piece).map((pieces) => pieces.join("")),
        ),
        (text) => {
          const { plain, phrases, not } = parseQuery(text);
          if (phrases.length === 0 && not.length === 0) expect(plain).toBe(text);
          else if (plain === "") expect(phrases).toEqual([]);
          else expect(plain).toMatch(/[\p{L}\p{N}]/u);
          for (const each of [...phrases, ...not]) expect(text).toContain(each);
          for (const phrase of phrases) expect(plain).toContain(phrase.replace(/\s+/gu, " "));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("a quote has at most 999 characters, wherever it stands", () => {
    const before = "word ".repeat(500);
    expect(parseQuery(`${before}"${"x".repeat(999)}"`).phrases).toEqual(["x".repeat(999)]);
    expect(parseQuery(`${before}"${"x".repeat(1000)}"`).phrases).toEqual([]);
  });

  test("a query of nothing but opening quotes comes back unchanged", () => {
    const text = "「-“".repeat(5000);
    expect(parseQuery(text).plain).toBe(text);
  });
});
